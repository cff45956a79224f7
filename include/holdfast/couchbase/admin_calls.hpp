#pragma once
#include "holdfast/completion.hpp"
#include "holdfast/couchbase/admin_options.hpp"
#include "holdfast/couchbase/service_options.hpp"
#include "holdfast/couchbase/service_results.hpp"
#include "holdfast/error.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::couchbase {

struct access;
struct cluster_impl;

/// The calls of the administration as values: see calls.hpp.
namespace calls {

struct http {
    using value_type = http_reply;
    service_type service;
    http_method method;
    std::string_view path;
    http_options options;
};

struct create_bucket {
    using value_type = void;
    std::string_view name;
    bucket_settings settings;
    admin_options options;
};
struct update_bucket {
    using value_type = void;
    std::string_view name;
    bucket_settings settings;
    admin_options options;
};
struct drop_bucket {
    using value_type = void;
    std::string_view name;
    admin_options options;
};
struct flush_bucket {
    using value_type = void;
    std::string_view name;
    admin_options options;
};
struct get_bucket {
    using value_type = bucket_info;
    std::string_view name;
    admin_options options;
};
struct get_all_buckets {
    using value_type = std::vector<bucket_info>;
    admin_options options;
};

struct create_scope {
    using value_type = void;
    std::string_view bucket;
    std::string_view name;
    admin_options options;
};
struct drop_scope {
    using value_type = void;
    std::string_view bucket;
    std::string_view name;
    admin_options options;
};
struct get_all_scopes {
    using value_type = std::vector<scope_info>;
    std::string_view bucket;
    admin_options options;
};
struct create_collection {
    using value_type = void;
    std::string_view bucket;
    std::string_view scope;
    std::string_view name;
    collection_settings settings;
    admin_options options;
};
struct update_collection {
    using value_type = void;
    std::string_view bucket;
    std::string_view scope;
    std::string_view name;
    collection_settings settings;
    admin_options options;
};
struct drop_collection {
    using value_type = void;
    std::string_view bucket;
    std::string_view scope;
    std::string_view name;
    admin_options options;
};

struct upsert_user {
    using value_type = void;
    std::string_view name;
    user_settings settings;
    admin_options options;
};
struct drop_user {
    using value_type = void;
    std::string_view name;
    admin_options options;
};
struct get_user {
    using value_type = user_info;
    std::string_view name;
    admin_options options;
};
struct get_all_users {
    using value_type = std::vector<user_info>;
    admin_options options;
};
struct get_roles {
    using value_type = std::vector<role_info>;
    admin_options options;
};
struct change_password {
    using value_type = void;
    std::string_view password;
    admin_options options;
};

struct create_index {
    using value_type = void;
    index_keyspace in;
    std::string_view name;
    std::span<const std::string_view> keys;
    index_settings settings;
    admin_options options;
};
struct create_primary_index {
    using value_type = void;
    index_keyspace in;
    index_settings settings;
    admin_options options;
};
struct drop_index {
    using value_type = void;
    index_keyspace in;
    std::string_view name;
    drop_index_settings settings;
    admin_options options;
};
struct drop_primary_index {
    using value_type = void;
    index_keyspace in;
    drop_index_settings settings;
    admin_options options;
};
struct get_all_indexes {
    using value_type = std::vector<query_index>;
    index_keyspace in;
    admin_options options;
};
struct build_deferred_indexes {
    using value_type = std::vector<std::string>;
    index_keyspace in;
    admin_options options;
};
struct watch_indexes {
    using value_type = void;
    index_keyspace in;
    std::span<const std::string_view> names;
    admin_options options;
};

}  // namespace calls

namespace details {

/// Starts a call of the administration, and copies all of its arguments. The bodies are in
/// src/api/couchbase/start_admin.hpp, instantiated in the library for each call.
template <class Call>
struct admin_starter {
    using value_type = typename Call::value_type;

    /// Throws `failure` when it is awaited.
    static asio::awaitable<value_type> start(const std::shared_ptr<cluster_impl>& in,
                                             const Call& call);
    static asio::awaitable<result<value_type>> try_start(const std::shared_ptr<cluster_impl>& in,
                                                         const Call& call);
};

asio::any_io_executor executor_of(const cluster_impl& of) noexcept;

/// Where a call of the administration meets its completion token.
template <class Call, class Token>
auto run_admin(const std::shared_ptr<cluster_impl>& in, const Call& call, Token&& token)
{
    if constexpr (completion_details::throws_on_error<Token>)
        return admin_starter<Call>::start(in, call);
    else
        return initiate(executor_of(*in), admin_starter<Call>::try_start(in, call),
                        std::forward<Token>(token));
}

}  // namespace details

}  // namespace holdfast::couchbase
