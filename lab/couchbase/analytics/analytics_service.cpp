#include "lab/couchbase/analytics/analytics_service.hpp"

#include "lab/couchbase/analytics/analytics_store.hpp"
#include "lab/couchbase/cluster/node_service.hpp"
#include "lab/couchbase/http/reply_text.hpp"
#include "lab/couchbase/n1ql/parser.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/query/query_run.hpp"

#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using n1ql::query_code;

bool is_between(std::int32_t code, std::int32_t first, std::int32_t last) noexcept
{
    return code >= first && code <= last;
}

/// The number that the analytics service has for an error of the language or of the data.
analytics_code analytics_code_of(std::int32_t code)
{
    if (is_between(code, 20000, 25999))
        return static_cast<analytics_code>(code);
    switch (static_cast<query_code>(code)) {
    case query_code::timeout: return analytics_code::timeout;
    case query_code::wrong_login:
    case query_code::no_credentials: return analytics_code::wrong_login;
    case query_code::bulk_get: return analytics_code::unavailable;
    case query_code::namespace_not_found:
    case query_code::keyspace_not_found:
    case query_code::scope_not_found:
    case query_code::bucket_not_found: return analytics_code::dataset_not_found;
    default: break;
    }
    if (is_between(code, 1000, 1999))
        return analytics_code::invalid_parameter;
    return is_between(code, 3000, 4999) ? analytics_code::syntax : analytics_code::internal;
}

shown_error show_analytics_error(const error& of)
{
    return {static_cast<std::int32_t>(analytics_code_of(n1ql::code_of(of))), of.message()};
}

int analytics_status(std::int32_t code)
{
    if (is_between(code, 20000, 20999))
        return 401;
    if (is_between(code, 23000, 23999))
        return 503;
    if (is_between(code, 24000, 24999) ||
        code == static_cast<std::int32_t>(analytics_code::invalid_parameter))
        return 400;
    return code == static_cast<std::int32_t>(analytics_code::timeout) ? 200 : 500;
}

std::string_view usual_analytics_text(std::int32_t code)
{
    switch (code) {
    case 21002: return "Request timed out and will be cancelled";
    case 23000: return "Analytics Service is temporarily unavailable";
    case 23003: return "Operation cannot be performed during rebalance";
    case 23007: return "Job queue is full with [4] jobs";
    default: return "The lab was asked to answer so";
    }
}

constexpr reply_style analytics_style{show_analytics_error,
                                      analytics_status,
                                      usual_analytics_text,
                                      static_cast<std::int32_t>(analytics_code::timeout),
                                      "timeout",
                                      true};

/// What can be run here: queries, and definitions of datasets.
bool is_for_analytics(const n1ql::statement& what)
{
    return std::holds_alternative<n1ql::select_statement>(what.is) ||
           std::holds_alternative<n1ql::explain_statement>(what.is) ||
           std::holds_alternative<n1ql::dataset_statement>(what.is);
}

class analytics_service final : public node_service {
public:
    analytics_service(cluster& of, std::size_t number, runtime::world& in)
        : node_service{of, number, "cbas", in}, index_{of, number, in}
    {
    }

    http_reply answer(const http_request& what) override { return answer_under(what, {}); }
    http_reply answer_under(const http_request& what, const http_fault& hit) override;

private:
    http_reply run(const http_request& what, const std::string& user, const http_fault& hit);
    http_reply refused(const http_request& what, const error& reason)
    {
        return refused_query(analytics_style, {client_context_id_of(what)}, world_,
                             analytics_style.show(reason));
    }

    node_index index_;
};

http_reply analytics_service::answer_under(const http_request& what, const http_fault& hit)
{
    http_reply made;
    made.body = "{}";
    if (what.path == "/admin/ping")
        return made;
    const auto user = user_of(what);
    if (!user) {
        made = refused(what, refuse(analytics_code::wrong_login, "Unauthorized user."));
        made.headers = ask_for_login().headers;
        return made;
    }
    if (what.path == "/analytics/node/agg/stats/remaining")
        return made;  // nothing is ever pending
    if (what.path != "/query/service" && what.path != "/analytics/service")
        return refuse(404, "Object Not Found");
    if (what.method != "POST" && what.method != "GET")
        return refuse(405, "Method Not Allowed");
    return run(what, *user, hit);
}

http_reply analytics_service::run(const http_request& what, const std::string& user,
                                  const http_fault& hit)
{
    auto asked = read_query_request(what);
    if (!asked)
        return refused(what, asked.error());
    auto parsed = n1ql::parse(asked->statement, n1ql::dialect::analytics);
    if (!parsed)
        return refused(what, parsed.error());
    const n1ql::statement& found = **parsed;
    if (!is_for_analytics(found))
        return refused(what, refuse(analytics_code::syntax,
                                    "Syntax error: the analytics service runs queries only"));
    const bool reads = !std::holds_alternative<n1ql::dataset_statement>(found.is);
    if (asked->readonly && !reads)
        return refused(what, refuse(analytics_code::invalid_parameter,
                                    "a read-only request cannot change definitions"));
    auto store = std::make_unique<analytics_store>(
        store_access{on_, number_, world_, index_, user, asked->context});
    reply_facts facts{asked->client_context_id, {}, asked->metrics, asked->signature, {}};
    return run_query({analytics_style,
                      *std::move(asked),
                      std::move(facts),
                      *std::move(parsed),
                      std::move(store),
                      index_,
                      world_,
                      hit.rows,
                      query_definitions_of(on_).counter(number_),
                      {}});
}

}  // namespace

std::unique_ptr<http_service> make_analytics_service(cluster& of, std::size_t number,
                                                     runtime::world& in)
{
    return std::make_unique<analytics_service>(of, number, in);
}

}  // namespace holdfast::lab::couchbase
