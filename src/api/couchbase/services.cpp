// Requests with rows: from the caller's options to an order that is not sent yet.
#include "api/couchbase/access.hpp"
#include "api/couchbase/service_operations.hpp"
#include "api/couchbase/service_rows.hpp"
#include "core/couchbase/service/analytics.hpp"
#include "core/couchbase/service/query.hpp"
#include "core/couchbase/service/search.hpp"
#include "core/couchbase/service/view.hpp"

#include <array>
#include <string>
#include <utility>

namespace holdfast::couchbase {

namespace {

namespace core_cb = core::couchbase;

/// Statements are part of errors, but not all of a long one.
constexpr std::size_t longest_shown_statement = 1'024;

std::string shown(std::string_view statement)
{
    if (statement.size() <= longest_shown_statement)
        return std::string{statement};
    return std::string{statement.substr(0, longest_shown_statement)} + "...";
}

/// The caller's, or a random UUID.
std::string context_id(runtime::world& in, std::string_view given)
{
    if (!given.empty())
        return std::string{given};
    constexpr char digits[] = "0123456789abcdef";
    std::array<std::uint8_t, 16> drawn{};
    in.random(drawn);
    drawn[6] = static_cast<std::uint8_t>(0x40 | (drawn[6] & 0x0f));
    drawn[8] = static_cast<std::uint8_t>(0x80 | (drawn[8] & 0x3f));
    std::string made;
    for (std::size_t n = 0; n != drawn.size(); ++n) {
        if (n == 4 || n == 6 || n == 8 || n == 10)
            made += '-';
        made += digits[drawn[n] >> 4];
        made += digits[drawn[n] & 0x0f];
    }
    return made;
}

/// What all orders have in common.
template <class Options>
row_order begin_order(service_type service, const Options& options,
                      std::chrono::milliseconds default_timeout, std::string operation)
{
    row_order made;
    made.target.service = service;
    made.target.operation = std::move(operation);
    made.timeout = options.timeout.value_or(default_timeout);
    if (options.strategy != nullptr)
        made.strategy = *options.strategy;
    if (options.context != nullptr)
        made.context = std::make_shared<const client_context>(*options.context);
    return made;
}

/// Of a scope; both names empty: of the cluster.
struct place {
    std::string_view bucket = {};
    std::string_view scope = {};
};

void locate(row_order& order, const place& at)
{
    order.target.bucket = at.bucket;
    order.target.scope = at.scope;
}

result<row_order> query_order_of(cluster_impl& in, std::string_view statement,
                                 const query_options& options, const place& at)
{
    const std::string id = context_id(*in.world, options.client_context_id);
    auto what = core_cb::make_query(statement, options, {at.bucket, at.scope, id});
    if (!what)
        return std::move(what).error().with_context("statement", shown(statement));
    row_order made = begin_order(service_type::query, options, in.settings.timeouts.query, "query");
    made.target.idempotent = core_cb::is_idempotent(core_cb::query_request{options.readonly});
    locate(made, at);
    made.facts = {{"statement", shown(statement)}, {"client_context_id", id}};
    made.operation = std::make_unique<query_operation>(*std::move(what), in.plans);
    return made;
}

result<row_order> analytics_order_of(cluster_impl& in, std::string_view statement,
                                     const analytics_options& options, const place& at)
{
    const std::string id = context_id(*in.world, options.client_context_id);
    auto what = core_cb::make_analytics(statement, options, {at.bucket, at.scope, id});
    if (!what)
        return std::move(what).error().with_context("statement", shown(statement));
    row_order made = begin_order(service_type::analytics, options, in.settings.timeouts.analytics,
                                 "analytics");
    made.target.idempotent = core_cb::is_idempotent(core_cb::analytics_request{options.readonly});
    locate(made, at);
    made.facts = {{"statement", shown(statement)}, {"client_context_id", id}};
    made.operation = std::make_unique<plain_operation<core_cb::analytics_order>>(
        service_type::analytics, *std::move(what));
    return made;
}

result<row_order> search_order_of(cluster_impl& in, std::string_view index,
                                  std::string_view request, const search_options& options,
                                  const place& at)
{
    auto what = core_cb::make_search({index, at.bucket, at.scope}, request, options);
    if (!what)
        return std::move(what).error().with_context("index", std::string{index});
    row_order made = begin_order(service_type::search, options, in.settings.timeouts.search,
                                 "search");
    made.target.idempotent = core_cb::is_idempotent(core_cb::search_request{});
    locate(made, at);
    made.facts = {{"index", std::string{index}}};
    made.operation = std::make_unique<plain_operation<core_cb::search_order>>(service_type::search,
                                                                              *std::move(what));
    return made;
}

result<row_order> view_order_of(cluster_impl& in, std::string_view bucket,
                                std::string_view design_document, std::string_view view,
                                const view_options& options)
{
    const std::string name = std::string{design_document} + '/' + std::string{view};
    auto what = core_cb::make_view({bucket, design_document, view}, options);
    if (!what)
        return std::move(what).error().with_context("view", name);
    row_order made = begin_order(service_type::views, options, in.settings.timeouts.view, "view");
    made.target.idempotent = core_cb::is_idempotent(core_cb::view_request{});
    locate(made, {bucket, {}});
    made.facts = {{"view", name}};
    made.operation = std::make_unique<plain_operation<core_cb::service_request>>(
        service_type::views, *std::move(what));
    return made;
}

template <class Metadata>
basic_rows<Metadata> rows_of(const std::shared_ptr<cluster_impl>& in, service_type service,
                             result<row_order> what)
{
    return access::rows_of<Metadata>(make_rows(in, service, std::move(what)));
}

}  // namespace

query_rows cluster::query(std::string_view statement, query_options options) const
{
    return rows_of<query_metadata>(impl_, service_type::query,
                                   query_order_of(*impl_, statement, options, {}));
}

query_rows scope::query(std::string_view statement, query_options options) const
{
    return rows_of<query_metadata>(cluster_, service_type::query,
                                   query_order_of(*cluster_, statement, options, {bucket_, name_}));
}

query_rows cluster::analytics(std::string_view statement, analytics_options options) const
{
    return rows_of<query_metadata>(impl_, service_type::analytics,
                                   analytics_order_of(*impl_, statement, options, {}));
}

query_rows scope::analytics(std::string_view statement, analytics_options options) const
{
    return rows_of<query_metadata>(
        cluster_, service_type::analytics,
        analytics_order_of(*cluster_, statement, options, {bucket_, name_}));
}

search_rows cluster::search(std::string_view index, std::string_view request,
                            search_options options) const
{
    return rows_of<search_metadata>(impl_, service_type::search,
                                    search_order_of(*impl_, index, request, options, {}));
}

search_rows scope::search(std::string_view index, std::string_view request,
                          search_options options) const
{
    return rows_of<search_metadata>(
        cluster_, service_type::search,
        search_order_of(*cluster_, index, request, options, {bucket_, name_}));
}

view_rows bucket::view_query(std::string_view design_document, std::string_view view,
                             view_options options) const
{
    return rows_of<view_metadata>(cluster_, service_type::views,
                                  view_order_of(*cluster_, name_, design_document, view, options));
}

}  // namespace holdfast::couchbase
