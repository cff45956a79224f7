#include "core/couchbase/retry/classify_http.hpp"

#include "core/couchbase/retry/json_text.hpp"
#include "core/couchbase/retry/service_error.hpp"
#include "core/couchbase/retry/text_match.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace holdfast::core::couchbase {

namespace {

/// What a message quotes, and a context holds, of what a server says.
constexpr std::size_t most_text = 4096;

classification meaning_of(const service_error& found, errc code)
{
    const std::string number = std::to_string(found.code);
    std::string text = found.message.substr(0, most_text);
    classification meant{{}, code, "code " + number + ": " + text};
    meant.context = {{"service_code", number}, {"service_message", std::move(text)}};
    if (found.reason)
        meant.context.push_back({"service_reason", std::to_string(*found.reason)});
    return meant;
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

classification classify_query(std::string_view body, const failed_statement& of)
{
    const auto found = first_service_error(body);
    if (!found)
        return undecodable(found.error());
    classification meant = meaning_of(*found, query_error_of(*found, of.idempotent));
    if (found->code == query_internal_error &&
        found->message.find(query_index_not_found_text) != std::string::npos) {
        meant.code = errc::index_not_found;
        meant.reason = retry_reason::query_index_not_found;
    } else if (of.prepared_failures <= max_prepared_failures && !is_missing_keyspace(*found)) {
        meant.reason = reason_for(found->code, query_retry_rules);
    }
    if (!meant.reason && found->retry && found->code != query_retry_is_wrong)
        meant.reason = retry_reason::service_response_code_indicated;
    return meant;
}

classification classify_analytics(std::string_view body, const failed_statement& of)
{
    const auto found = first_service_error(body);
    if (!found)
        return undecodable(found.error());
    classification meant = meaning_of(*found, analytics_error_of(*found, of.idempotent));
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
    } else if (says("no planPIndexes for indexName")) {
        meant.code = errc::index_not_ready;
    } else if (says("pindex_consistency mismatched partition")) {
        meant.code = errc::consistency_mismatch;
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
