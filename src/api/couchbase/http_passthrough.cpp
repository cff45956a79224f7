#include "api/couchbase/start_admin.hpp"

#include <utility>

namespace holdfast::couchbase {

namespace calls {

namespace {

std::chrono::milliseconds timeout_of(service_type service,
                                     const core::couchbase::timeout_settings& all)
{
    switch (service) {
    case service_type::key_value:
    case service_type::management:
        return all.management;
    case service_type::query:
        return all.query;
    case service_type::analytics:
        return all.analytics;
    case service_type::search:
        return all.search;
    case service_type::views:
        return all.view;
    }
    return all.management;
}

/// Only what can do no harm when it is done twice is sent again once it is on its way.
bool is_idempotent(const http& call)
{
    return core::couchbase::is_idempotent(core::couchbase::management_request{call.method});
}

result<whole_request> build(const http& call, const core::couchbase::timeout_settings& all)
{
    if (call.service == service_type::key_value)
        return error{errc::invalid_argument, "the key-value service does not speak HTTP"};
    if (call.path.empty() || call.path.front() != '/')
        return error{errc::invalid_argument, "the path of a request begins with \"/\""};
    whole_request made;
    made.what.service = call.service;
    made.what.method = call.method;
    made.what.path = call.path;
    made.what.body = call.options.body;
    for (const http_header& one : call.options.headers)
        made.what.headers.push_back({std::string{one.name}, std::string{one.value}});
    made.what.idempotent = is_idempotent(call);
    made.what.operation = "http";
    made.content_type = call.options.content_type;
    made.timeout = timeout_of(call.service, all);
    return made;
}

asio::awaitable<result<http_reply>> run(std::shared_ptr<cluster_impl> in, whole_request what,
                                        admin_terms terms)
{
    auto reply = co_await send_whole(std::move(in), std::move(what), std::move(terms));
    if (!reply)
        co_return std::move(reply).error();
    http_reply made;
    made.status = reply->status;
    made.content_type = std::move(reply->content_type);
    made.body = std::move(reply->body);
    co_return made;
}

}  // namespace

asio::awaitable<result<http_reply>> begin(const std::shared_ptr<cluster_impl>& in, const http& call)
{
    auto what = build(call, in->settings.timeouts);
    if (!what)
        return details::not_begun<http_reply>(std::move(what).error());
    return run(in, *std::move(what), admin_terms{call.options});
}

}  // namespace calls

template struct details::admin_starter<calls::http>;

}  // namespace holdfast::couchbase
