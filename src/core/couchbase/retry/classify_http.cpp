#include "core/couchbase/retry/classify_http.hpp"

#include "core/couchbase/retry/json_text.hpp"
#include "core/couchbase/retry/text_match.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <iterator>
#include <span>

namespace holdfast::core::couchbase {

namespace {

/// The first entry of "errors" in the body of query and analytics.
struct service_error {
    std::int64_t code = 0;
    std::string message = {};
};

result<service_error> first_error(std::string_view body)
{
    auto parsed = parse_json(body);
    if (!parsed)
        return std::move(parsed).error();
    const boost::json::array* const errors = find_array(*parsed, "errors");
    if (!errors || errors->empty())
        return error{errc::decoding_failure, "an answer without errors"};
    const std::int64_t* const code = find_integer(errors->front(), "code");
    if (!code)
        return error{errc::decoding_failure, "an error without a code"};
    service_error found{*code};
    if (const boost::json::string* const text = find_string(errors->front(), "msg"))
        found.message.assign(text->data(), text->size());
    return found;
}

struct code_range {
    std::int64_t first, last;
    errc code;
};

/// The first that fits counts.
constexpr code_range query_errors[] = {
    {1191, 1194, errc::rate_limited},
    {3000, 3999, errc::parsing_failure},
    {4040, 4040, errc::prepared_statement_failure},
    {4050, 4050, errc::prepared_statement_failure},
    {4060, 4060, errc::prepared_statement_failure},
    {4070, 4070, errc::prepared_statement_failure},
    {4080, 4080, errc::prepared_statement_failure},
    {4090, 4090, errc::prepared_statement_failure},
    {4000, 4999, errc::planning_failure},
    {5000, 5999, errc::internal_server_failure},
    {10000, 10999, errc::authentication_failure},
    {12004, 12004, errc::index_not_found},
    {12009, 12009, errc::dml_failure},
    {12016, 12016, errc::index_not_found},
    {12000, 12999, errc::index_failure},
    {13014, 13014, errc::authentication_failure},
    {14000, 14999, errc::index_failure},
};

constexpr code_range analytics_errors[] = {
    {20000, 20999, errc::authentication_failure},  {23000, 23000, errc::temporary_failure},
    {23003, 23003, errc::temporary_failure},       {23007, 23007, errc::job_queue_full},
    {24000, 24000, errc::parsing_failure},         {24001, 24999, errc::compilation_failure},
    {25000, 25999, errc::internal_server_failure},
};

classification named(const service_error& found, std::span<const code_range> names)
{
    const auto row = std::ranges::find_if(names, [&](const code_range& range) {
        return found.code >= range.first && found.code <= range.last;
    });
    return {{},
            row == names.end() ? errc::generic_failure : row->code,
            "code " + std::to_string(found.code) + ": " + found.message};
}

std::optional<retry_reason> reason_for(std::int64_t code, std::span<const code_rule> rules)
{
    const auto rule = std::ranges::find(rules, code, &code_rule::code);
    return rule == rules.end() ? std::nullopt : std::optional{rule->reason};
}

classification undecodable(const error& why)
{
    return {{}, why.code(), why.message()};
}

/// 4040 is also sent for a keyspace that does not exist, and no new plan will make it exist.
bool is_missing_keyspace(const service_error& found)
{
    return found.code == 4040 && contains_ignoring_case(found.message, "keyspace") &&
           !contains_ignoring_case(found.message, "prepared");
}

classification by_status(int status, std::string_view what)
{
    errc code = errc::generic_failure;
    if (status == 401 || status == 403)
        code = errc::authentication_failure;
    else if (status >= 500)
        code = errc::internal_server_failure;
    else if (status == 429)
        code = errc::rate_limited;
    return {{}, code, "HTTP status " + std::to_string(status) + std::string{what}};
}

/// The text of a search error. The body also repeats the user's request, which may say anything.
std::string search_error_text(std::string_view body)
{
    const auto parsed = parse_json(body);
    const boost::json::string* const text = parsed ? find_string(*parsed, "error") : nullptr;
    return text ? std::string{text->data(), text->size()} : std::string{};
}

constexpr std::string_view search_rate_limits[] = {"num_concurrent_requests", "num_queries_per_min",
                                                   "ingress_mib_per_min", "egress_mib_per_min"};

}  // namespace

classification classify_query(std::string_view body, std::uint32_t prepared_failures)
{
    const auto found = first_error(body);
    if (!found)
        return undecodable(found.error());
    classification meant = named(*found, query_errors);
    if (is_missing_keyspace(*found)) {
        meant.code = errc::planning_failure;
        return meant;
    }
    if (found->code == query_internal_error &&
        found->message.find(query_index_not_found_text) != std::string::npos) {
        meant.code = errc::index_not_found;
        meant.reason = retry_reason::query_index_not_found;
        return meant;
    }
    if (prepared_failures <= max_preparations)
        meant.reason = reason_for(found->code, query_retry_rules);
    return meant;
}

classification classify_analytics(std::string_view body)
{
    const auto found = first_error(body);
    if (!found)
        return undecodable(found.error());
    classification meant = named(*found, analytics_errors);
    meant.reason = reason_for(found->code, analytics_retry_rules);
    return meant;
}

classification classify_search(int status, std::string_view body)
{
    const std::string text = search_error_text(body);
    const auto says = [&](std::string_view token) { return text.find(token) != text.npos; };
    classification meant = by_status(status, text.empty() ? "" : ": " + text);
    if (status == search_too_many_requests && !std::ranges::any_of(search_rate_limits, says)) {
        meant.code = errc::request_canceled;
        meant.reason = retry_reason::search_too_many_requests;
    } else if (status == 400 && says("num_fts_indexes")) {
        meant.code = errc::quota_limited;
    } else if (status == 400 && says("index not found")) {
        meant.code = errc::index_not_found;
    }
    return meant;
}

classification classify_view(int status, std::string_view body)
{
    classification meant = by_status(status, "");
    if (status == 404)
        meant.code = errc::view_not_found;
    if (status == views_no_active_partition)
        meant.reason = retry_reason::views_no_active_partition;
    else if (std::ranges::find(views_temporary_failures, status) !=
                 std::end(views_temporary_failures) ||
             (status == 404 && says_missing(body)) || (status == 500 && !says_hopeless(body)))
        meant.reason = retry_reason::views_temporary_failure;
    return meant;
}

classification classify_management(int status, std::string_view body)
{
    // The body is for people; a prefix of it is enough for them.
    return by_status(status, body.empty() ? "" : ": " + std::string{body.substr(0, 200)});
}

}  // namespace holdfast::core::couchbase
