#pragma once
#include "holdfast/completion.hpp"
#include "holdfast/couchbase/admin_calls.hpp"
#include "holdfast/couchbase/admin_options.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// The administration of a cluster. Handles, cheap to copy, for any number of threads. A change is
/// made when the call returns, but may reach other nodes, and this client, a little later.
namespace holdfast::couchbase {

/// The buckets of a cluster.
class bucket_admin {
public:
    /// errc::bucket_exists if there is one.
    template <class Token = throw_on_error>
    auto create(std::string_view name, bucket_settings settings = {}, admin_options options = {},
                Token&& token = {}) const
    {
        return run(calls::create_bucket{name, settings, options}, std::forward<Token>(token));
    }

    /// What is unset stays as it is. errc::bucket_not_found if there is none, as below.
    template <class Token = throw_on_error>
    auto update(std::string_view name, bucket_settings settings, admin_options options = {},
                Token&& token = {}) const
    {
        return run(calls::update_bucket{name, settings, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto drop(std::string_view name, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::drop_bucket{name, options}, std::forward<Token>(token));
    }

    /// Removes all documents. errc::bucket_not_flushable unless its settings allow it.
    template <class Token = throw_on_error>
    auto flush(std::string_view name, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::flush_bucket{name, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto get(std::string_view name, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::get_bucket{name, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto get_all(admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::get_all_buckets{options}, std::forward<Token>(token));
    }

private:
    friend struct access;

    explicit bucket_admin(std::shared_ptr<cluster_impl> in) noexcept : cluster_{std::move(in)} {}

    template <class Call, class Token>
    auto run(const Call& call, Token&& token) const
    {
        return details::run_admin(cluster_, call, std::forward<Token>(token));
    }

    std::shared_ptr<cluster_impl> cluster_;
};

/// The scopes and collections of a bucket. errc::scope_exists, scope_not_found, collection_exists
/// and collection_not_found say what is the matter.
class collection_admin {
public:
    template <class Token = throw_on_error>
    auto create_scope(std::string_view name, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::create_scope{bucket_, name, options}, std::forward<Token>(token));
    }

    /// With all its collections and their documents.
    template <class Token = throw_on_error>
    auto drop_scope(std::string_view name, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::drop_scope{bucket_, name, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto get_all_scopes(admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::get_all_scopes{bucket_, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto create_collection(std::string_view scope, std::string_view name,
                           collection_settings settings = {}, admin_options options = {},
                           Token&& token = {}) const
    {
        return run(calls::create_collection{bucket_, scope, name, settings, options},
                   std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto update_collection(std::string_view scope, std::string_view name,
                           collection_settings settings, admin_options options = {},
                           Token&& token = {}) const
    {
        return run(calls::update_collection{bucket_, scope, name, settings, options},
                   std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto drop_collection(std::string_view scope, std::string_view name, admin_options options = {},
                         Token&& token = {}) const
    {
        return run(calls::drop_collection{bucket_, scope, name, options},
                   std::forward<Token>(token));
    }

private:
    friend struct access;

    collection_admin(std::shared_ptr<cluster_impl> in, std::string bucket) noexcept
        : cluster_{std::move(in)}, bucket_{std::move(bucket)}
    {
    }

    template <class Call, class Token>
    auto run(const Call& call, Token&& token) const
    {
        return details::run_admin(cluster_, call, std::forward<Token>(token));
    }

    std::shared_ptr<cluster_impl> cluster_;
    std::string bucket_;
};

/// The users that the cluster itself keeps. errc::user_not_found if there is none of the name.
class user_admin {
public:
    /// Makes a user, or changes one: roles and groups are replaced, a password that is empty stays.
    template <class Token = throw_on_error>
    auto upsert(std::string_view name, user_settings settings, admin_options options = {},
                Token&& token = {}) const
    {
        return run(calls::upsert_user{name, settings, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto drop(std::string_view name, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::drop_user{name, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto get(std::string_view name, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::get_user{name, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto get_all(admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::get_all_users{options}, std::forward<Token>(token));
    }

    /// All roles that can be granted.
    template <class Token = throw_on_error>
    auto get_roles(admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::get_roles{options}, std::forward<Token>(token));
    }

    /// Of the user that this client is. It needs the new one for its next connections: see
    /// cluster::set_authenticator.
    template <class Token = throw_on_error>
    auto change_password(std::string_view password, admin_options options = {},
                         Token&& token = {}) const
    {
        return run(calls::change_password{password, options}, std::forward<Token>(token));
    }

private:
    friend struct access;

    explicit user_admin(std::shared_ptr<cluster_impl> in) noexcept : cluster_{std::move(in)} {}

    template <class Call, class Token>
    auto run(const Call& call, Token&& token) const
    {
        return details::run_admin(cluster_, call, std::forward<Token>(token));
    }

    std::shared_ptr<cluster_impl> cluster_;
};

/// The indexes of the query service. errc::index_exists and index_not_found say what is the matter.
class query_index_admin {
public:
    /// Keys are expressions: "country", "address.city DESC".
    template <class Token = throw_on_error>
    auto create(index_keyspace in, std::string_view name, std::span<const std::string_view> keys,
                index_settings settings = {}, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::create_index{in, name, keys, settings, options},
                   std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto create_primary(index_keyspace in, index_settings settings = {}, admin_options options = {},
                        Token&& token = {}) const
    {
        return run(calls::create_primary_index{in, settings, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto drop(index_keyspace in, std::string_view name, drop_index_settings settings = {},
              admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::drop_index{in, name, settings, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto drop_primary(index_keyspace in, drop_index_settings settings = {},
                      admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::drop_primary_index{in, settings, options}, std::forward<Token>(token));
    }

    /// Those of a collection, or with a bucket alone those of all its collections.
    template <class Token = throw_on_error>
    auto get_all(index_keyspace in, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::get_all_indexes{in, options}, std::forward<Token>(token));
    }

    /// Starts to build all that were deferred, and gives their names.
    template <class Token = throw_on_error>
    auto build_deferred(index_keyspace in, admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::build_deferred_indexes{in, options}, std::forward<Token>(token));
    }

    /// Waits until all of these are online; "#primary" is the primary one.
    template <class Token = throw_on_error>
    auto watch(index_keyspace in, std::span<const std::string_view> names,
               admin_options options = {}, Token&& token = {}) const
    {
        return run(calls::watch_indexes{in, names, options}, std::forward<Token>(token));
    }

private:
    friend struct access;

    explicit query_index_admin(std::shared_ptr<cluster_impl> in) noexcept : cluster_{std::move(in)}
    {
    }

    template <class Call, class Token>
    auto run(const Call& call, Token&& token) const
    {
        return details::run_admin(cluster_, call, std::forward<Token>(token));
    }

    std::shared_ptr<cluster_impl> cluster_;
};

}  // namespace holdfast::couchbase
