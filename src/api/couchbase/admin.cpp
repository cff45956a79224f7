// Buckets, scopes, collections and users: the management service.
#include "holdfast/couchbase/admin.hpp"

#include "api/couchbase/access.hpp"
#include "api/couchbase/start_admin.hpp"
#include "core/couchbase/admin/buckets.hpp"
#include "core/couchbase/admin/collections.hpp"
#include "core/couchbase/admin/users.hpp"

#include <utility>

namespace holdfast::couchbase {

asio::awaitable<result<shell::couchbase::whole_reply>> send_whole(std::shared_ptr<cluster_impl> in,
                                                                  whole_request request,
                                                                  admin_terms terms)
{
    in->nodes().start();
    shell::couchbase::service_call call;
    call.target.service = request.what.service;
    call.target.operation = request.what.operation;
    call.target.idempotent = request.what.idempotent;
    call.began = in->world->steady_now();
    call.until = core::deadline::after(call.began, terms.timeout.value_or(request.timeout));
    call.strategy = std::move(terms.strategy);
    call.context = std::move(terms.context);
    call.operation = std::make_unique<whole_operation>(std::move(request.what), request.refused,
                                                       std::move(request.content_type));
    auto reply = co_await shell::couchbase::execute_http(in->state, std::move(call));
    co_return reply;
}

asio::any_io_executor details::executor_of(const cluster_impl& of) noexcept
{
    return of.world->executor();
}

bucket_admin cluster::buckets() const
{
    return access::make_admin<bucket_admin>(impl_);
}

user_admin cluster::users() const
{
    return access::make_admin<user_admin>(impl_);
}

query_index_admin cluster::query_indexes() const
{
    return access::make_admin<query_index_admin>(impl_);
}

collection_admin bucket::collections() const
{
    return access::make_collection_admin(cluster_, name_);
}

namespace calls {

namespace {

namespace core_cb = core::couchbase;

/// What an order may be: one that is always made, or a result.
template <class T>
result<core_cb::admin_order<T>> as_result(core_cb::admin_order<T> order)
{
    return order;
}
template <class T>
result<core_cb::admin_order<T>> as_result(result<core_cb::admin_order<T>> order)
{
    return order;
}

auto build(const create_bucket& call) { return core_cb::create_bucket(call.name, call.settings); }
auto build(const update_bucket& call) { return core_cb::update_bucket(call.name, call.settings); }
auto build(const drop_bucket& call) { return core_cb::drop_bucket(call.name); }
auto build(const flush_bucket& call) { return core_cb::flush_bucket(call.name); }
auto build(const get_bucket& call) { return core_cb::get_bucket(call.name); }
auto build(const get_all_buckets&) { return core_cb::get_all_buckets(); }

auto build(const create_scope& call)
{
    return core_cb::create_scope({call.bucket, call.name, {}});
}
auto build(const drop_scope& call) { return core_cb::drop_scope({call.bucket, call.name, {}}); }
auto build(const get_all_scopes& call) { return core_cb::get_all_scopes(call.bucket); }
auto build(const create_collection& call)
{
    return core_cb::create_collection({call.bucket, call.scope, call.name}, call.settings);
}
auto build(const update_collection& call)
{
    return core_cb::update_collection({call.bucket, call.scope, call.name}, call.settings);
}
auto build(const drop_collection& call)
{
    return core_cb::drop_collection({call.bucket, call.scope, call.name});
}

auto build(const upsert_user& call) { return core_cb::upsert_user(call.name, call.settings); }
auto build(const drop_user& call) { return core_cb::drop_user(call.name); }
auto build(const get_user& call) { return core_cb::get_user(call.name); }
auto build(const get_all_users&) { return core_cb::get_all_users(); }
auto build(const get_roles&) { return core_cb::get_roles(); }
auto build(const change_password& call) { return core_cb::change_password(call.password); }

}  // namespace

template <class Call>
asio::awaitable<result<typename Call::value_type>> begin(const std::shared_ptr<cluster_impl>& in,
                                                         const Call& call)
{
    return details::start_order<typename Call::value_type>(in, as_result(build(call)),
                                                           call.options);
}

}  // namespace calls

namespace details {

template struct admin_starter<calls::create_bucket>;
template struct admin_starter<calls::update_bucket>;
template struct admin_starter<calls::drop_bucket>;
template struct admin_starter<calls::flush_bucket>;
template struct admin_starter<calls::get_bucket>;
template struct admin_starter<calls::get_all_buckets>;
template struct admin_starter<calls::create_scope>;
template struct admin_starter<calls::drop_scope>;
template struct admin_starter<calls::get_all_scopes>;
template struct admin_starter<calls::create_collection>;
template struct admin_starter<calls::update_collection>;
template struct admin_starter<calls::drop_collection>;
template struct admin_starter<calls::upsert_user>;
template struct admin_starter<calls::drop_user>;
template struct admin_starter<calls::get_user>;
template struct admin_starter<calls::get_all_users>;
template struct admin_starter<calls::get_roles>;
template struct admin_starter<calls::change_password>;

}  // namespace details

}  // namespace holdfast::couchbase
