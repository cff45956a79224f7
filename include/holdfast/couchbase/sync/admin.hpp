#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/couchbase/admin.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The administration of a cluster, in calls that block: see holdfast/couchbase/admin.hpp, which
/// describes each one. All come in two forms: one throws `failure`, its twin gives a result.
namespace holdfast::couchbase::sync {

/// The buckets of a cluster.
class bucket_admin : blocking_handle<couchbase::bucket_admin> {
public:
    void create(std::string_view name, bucket_settings settings = {},
                admin_options options = {}) const
    {
        return try_create(name, settings, options).value();
    }
    result<void> try_create(std::string_view name, bucket_settings settings = {},
                            admin_options options = {}) const
    {
        return wait(inner_.create(name, settings, options, asio::use_awaitable));
    }

    void update(std::string_view name, bucket_settings settings, admin_options options = {}) const
    {
        return try_update(name, settings, options).value();
    }
    result<void> try_update(std::string_view name, bucket_settings settings,
                            admin_options options = {}) const
    {
        return wait(inner_.update(name, settings, options, asio::use_awaitable));
    }

    void drop(std::string_view name, admin_options options = {}) const
    {
        return try_drop(name, options).value();
    }
    result<void> try_drop(std::string_view name, admin_options options = {}) const
    {
        return wait(inner_.drop(name, options, asio::use_awaitable));
    }

    void flush(std::string_view name, admin_options options = {}) const
    {
        return try_flush(name, options).value();
    }
    result<void> try_flush(std::string_view name, admin_options options = {}) const
    {
        return wait(inner_.flush(name, options, asio::use_awaitable));
    }

    bucket_info get(std::string_view name, admin_options options = {}) const
    {
        return try_get(name, options).value();
    }
    result<bucket_info> try_get(std::string_view name, admin_options options = {}) const
    {
        return wait(inner_.get(name, options, asio::use_awaitable));
    }

    std::vector<bucket_info> get_all(admin_options options = {}) const
    {
        return try_get_all(options).value();
    }
    result<std::vector<bucket_info>> try_get_all(admin_options options = {}) const
    {
        return wait(inner_.get_all(options, asio::use_awaitable));
    }

private:
    friend class cluster;

    bucket_admin(std::shared_ptr<blocking_bridge> on, couchbase::bucket_admin inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

/// The scopes and collections of a bucket.
class collection_admin : blocking_handle<couchbase::collection_admin> {
public:
    void create_scope(std::string_view name, admin_options options = {}) const
    {
        return try_create_scope(name, options).value();
    }
    result<void> try_create_scope(std::string_view name, admin_options options = {}) const
    {
        return wait(inner_.create_scope(name, options, asio::use_awaitable));
    }

    void drop_scope(std::string_view name, admin_options options = {}) const
    {
        return try_drop_scope(name, options).value();
    }
    result<void> try_drop_scope(std::string_view name, admin_options options = {}) const
    {
        return wait(inner_.drop_scope(name, options, asio::use_awaitable));
    }

    std::vector<scope_info> get_all_scopes(admin_options options = {}) const
    {
        return try_get_all_scopes(options).value();
    }
    result<std::vector<scope_info>> try_get_all_scopes(admin_options options = {}) const
    {
        return wait(inner_.get_all_scopes(options, asio::use_awaitable));
    }

    void create_collection(std::string_view scope, std::string_view name,
                           collection_settings settings = {}, admin_options options = {}) const
    {
        return try_create_collection(scope, name, settings, options).value();
    }
    result<void> try_create_collection(std::string_view scope, std::string_view name,
                                       collection_settings settings = {},
                                       admin_options options = {}) const
    {
        return wait(inner_.create_collection(scope, name, settings, options, asio::use_awaitable));
    }

    void update_collection(std::string_view scope, std::string_view name,
                           collection_settings settings, admin_options options = {}) const
    {
        return try_update_collection(scope, name, settings, options).value();
    }
    result<void> try_update_collection(std::string_view scope, std::string_view name,
                                       collection_settings settings,
                                       admin_options options = {}) const
    {
        return wait(inner_.update_collection(scope, name, settings, options, asio::use_awaitable));
    }

    void drop_collection(std::string_view scope, std::string_view name,
                         admin_options options = {}) const
    {
        return try_drop_collection(scope, name, options).value();
    }
    result<void> try_drop_collection(std::string_view scope, std::string_view name,
                                     admin_options options = {}) const
    {
        return wait(inner_.drop_collection(scope, name, options, asio::use_awaitable));
    }

private:
    friend class bucket;

    collection_admin(std::shared_ptr<blocking_bridge> on, couchbase::collection_admin inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

/// The users that the cluster itself keeps.
class user_admin : blocking_handle<couchbase::user_admin> {
public:
    void upsert(std::string_view name, user_settings settings, admin_options options = {}) const
    {
        return try_upsert(name, settings, options).value();
    }
    result<void> try_upsert(std::string_view name, user_settings settings,
                            admin_options options = {}) const
    {
        return wait(inner_.upsert(name, settings, options, asio::use_awaitable));
    }

    void drop(std::string_view name, admin_options options = {}) const
    {
        return try_drop(name, options).value();
    }
    result<void> try_drop(std::string_view name, admin_options options = {}) const
    {
        return wait(inner_.drop(name, options, asio::use_awaitable));
    }

    user_info get(std::string_view name, admin_options options = {}) const
    {
        return try_get(name, options).value();
    }
    result<user_info> try_get(std::string_view name, admin_options options = {}) const
    {
        return wait(inner_.get(name, options, asio::use_awaitable));
    }

    std::vector<user_info> get_all(admin_options options = {}) const
    {
        return try_get_all(options).value();
    }
    result<std::vector<user_info>> try_get_all(admin_options options = {}) const
    {
        return wait(inner_.get_all(options, asio::use_awaitable));
    }

    std::vector<role_info> get_roles(admin_options options = {}) const
    {
        return try_get_roles(options).value();
    }
    result<std::vector<role_info>> try_get_roles(admin_options options = {}) const
    {
        return wait(inner_.get_roles(options, asio::use_awaitable));
    }

    void change_password(std::string_view password, admin_options options = {}) const
    {
        return try_change_password(password, options).value();
    }
    result<void> try_change_password(std::string_view password, admin_options options = {}) const
    {
        return wait(inner_.change_password(password, options, asio::use_awaitable));
    }

private:
    friend class cluster;

    user_admin(std::shared_ptr<blocking_bridge> on, couchbase::user_admin inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

/// The indexes of the query service.
class query_index_admin : blocking_handle<couchbase::query_index_admin> {
public:
    void create(index_keyspace in, std::string_view name, std::span<const std::string_view> keys,
                index_settings settings = {}, admin_options options = {}) const
    {
        return try_create(in, name, keys, settings, options).value();
    }
    result<void> try_create(index_keyspace in, std::string_view name,
                            std::span<const std::string_view> keys, index_settings settings = {},
                            admin_options options = {}) const
    {
        return wait(inner_.create(in, name, keys, settings, options, asio::use_awaitable));
    }

    void create_primary(index_keyspace in, index_settings settings = {},
                        admin_options options = {}) const
    {
        return try_create_primary(in, settings, options).value();
    }
    result<void> try_create_primary(index_keyspace in, index_settings settings = {},
                                    admin_options options = {}) const
    {
        return wait(inner_.create_primary(in, settings, options, asio::use_awaitable));
    }

    void drop(index_keyspace in, std::string_view name, drop_index_settings settings = {},
              admin_options options = {}) const
    {
        return try_drop(in, name, settings, options).value();
    }
    result<void> try_drop(index_keyspace in, std::string_view name,
                          drop_index_settings settings = {}, admin_options options = {}) const
    {
        return wait(inner_.drop(in, name, settings, options, asio::use_awaitable));
    }

    void drop_primary(index_keyspace in, drop_index_settings settings = {},
                      admin_options options = {}) const
    {
        return try_drop_primary(in, settings, options).value();
    }
    result<void> try_drop_primary(index_keyspace in, drop_index_settings settings = {},
                                  admin_options options = {}) const
    {
        return wait(inner_.drop_primary(in, settings, options, asio::use_awaitable));
    }

    std::vector<query_index> get_all(index_keyspace in, admin_options options = {}) const
    {
        return try_get_all(in, options).value();
    }
    result<std::vector<query_index>> try_get_all(index_keyspace in,
                                                 admin_options options = {}) const
    {
        return wait(inner_.get_all(in, options, asio::use_awaitable));
    }

    std::vector<std::string> build_deferred(index_keyspace in, admin_options options = {}) const
    {
        return try_build_deferred(in, options).value();
    }
    result<std::vector<std::string>> try_build_deferred(index_keyspace in,
                                                        admin_options options = {}) const
    {
        return wait(inner_.build_deferred(in, options, asio::use_awaitable));
    }

    void watch(index_keyspace in, std::span<const std::string_view> names,
               admin_options options = {}) const
    {
        return try_watch(in, names, options).value();
    }
    result<void> try_watch(index_keyspace in, std::span<const std::string_view> names,
                           admin_options options = {}) const
    {
        return wait(inner_.watch(in, names, options, asio::use_awaitable));
    }

private:
    friend class cluster;

    query_index_admin(std::shared_ptr<blocking_bridge> on, couchbase::query_index_admin inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::couchbase::sync
