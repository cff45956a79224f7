#pragma once
#include "api/couchbase/cluster_impl.hpp"
#include "api/couchbase/service_operations.hpp"
#include "core/couchbase/admin/admin_order.hpp"
#include "holdfast/couchbase/admin_calls.hpp"
#include "shell/couchbase/execute/execute_http.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

/// The bodies of details::admin_starter. A source file that has `build(call)`, which makes an
/// admin_order of a call, and says `template struct details::admin_starter<X>;`, makes both forms
/// of the call X, the one that throws and the one that gives a result.
namespace holdfast::couchbase {

/// What any call of the administration is given, copied.
struct admin_terms {
    template <class Options>
    explicit admin_terms(const Options& from) : timeout{from.timeout}
    {
        if (from.strategy != nullptr)
            strategy = *from.strategy;
        if (from.context != nullptr)
            context = std::make_shared<const client_context>(*from.context);
    }

    std::optional<std::chrono::milliseconds> timeout = {};
    retry_strategy_ptr strategy = {};
    std::shared_ptr<const client_context> context = {};
};

/// Of a request whose reply is wanted as a whole.
class whole_operation final : public shell::couchbase::service_operation {
public:
    using refusal = core::couchbase::classification (*)(int status, std::string_view body);

    /// Without `refused` every reply is an answer for the caller. The content type is the caller's
    /// own if it is not empty.
    whole_operation(core::couchbase::service_request what, refusal refused,
                    std::string content_type = {})
        : request_{std::move(what)}, refused_{refused}, content_type_{std::move(content_type)}
    {
        if (!content_type_.empty())
            request_.content_type = content_type_;
    }

    result<core::couchbase::service_request> request(const shell::couchbase::attempt_view&) override
    {
        return request_;
    }
    std::optional<core::couchbase::classification> classify(
        const shell::couchbase::service_reply_view& reply) override
    {
        if (refused_ == nullptr || core::couchbase::is_success(reply.status))
            return std::nullopt;
        return refused_(reply.status, reply.body);
    }

private:
    core::couchbase::service_request request_;
    const refusal refused_;
    const std::string content_type_;  // what that of the request may be a view of
};

/// A request that is ready to be sent, with all retries it is entitled to.
struct whole_request {
    core::couchbase::service_request what = {};
    whole_operation::refusal refused = nullptr;
    std::string content_type = {};
    std::chrono::milliseconds timeout{};  // if the terms have none
};
asio::awaitable<result<shell::couchbase::whole_reply>> send_whole(std::shared_ptr<cluster_impl> in,
                                                                  whole_request request,
                                                                  admin_terms terms);

namespace details {

template <class T>
asio::awaitable<result<T>> run_order(std::shared_ptr<cluster_impl> in,
                                     core::couchbase::admin_order<T> what, admin_terms terms)
{
    const auto read = what.read;
    whole_request request;
    request.timeout = in->settings.timeouts.management;
    request.what = std::move(what.request);
    request.refused = what.refused;
    auto reply = co_await send_whole(std::move(in), std::move(request), std::move(terms));
    if (!reply)
        co_return std::move(reply).error();
    auto outcome = read(reply->body);
    if (!outcome)
        co_return std::move(outcome).error().with_context("server", reply->server.value());
    co_return std::move(outcome);
}

template <class T>
asio::awaitable<result<T>> not_begun(error why)
{
    co_return result<T>{std::move(why)};
}

template <class T>
asio::awaitable<T> or_throw(asio::awaitable<result<T>> what)
{
    auto outcome = co_await std::move(what);
    co_return std::move(outcome).value();
}

template <class T>
asio::awaitable<result<T>> start_order(const std::shared_ptr<cluster_impl>& in,
                                       result<core::couchbase::admin_order<T>> what,
                                       const admin_options& options)
{
    if (!what)
        return not_begun<T>(std::move(what).error());
    return run_order<T>(in, *std::move(what), admin_terms{options});
}

template <class Call>
auto admin_starter<Call>::try_start(const std::shared_ptr<cluster_impl>& in, const Call& call)
    -> asio::awaitable<result<value_type>>
{
    return begin(in, call);
}

template <class Call>
auto admin_starter<Call>::start(const std::shared_ptr<cluster_impl>& in, const Call& call)
    -> asio::awaitable<value_type>
{
    return or_throw<value_type>(begin(in, call));
}

}  // namespace details

}  // namespace holdfast::couchbase
