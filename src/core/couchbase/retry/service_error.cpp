#include "core/couchbase/retry/service_error.hpp"

#include "core/couchbase/retry/json_text.hpp"
#include "core/couchbase/retry/text_match.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <span>

namespace holdfast::core::couchbase {

namespace {

/// A plan can stand beside the errors, and is nested deeply.
json_limits reply_limits()
{
    return {.max_depth = 100};
}

struct code_range {
    std::int64_t first, last;
    errc code;
};

/// The first that fits counts.
constexpr code_range query_errors[] = {
    {1065, 1065, errc::invalid_argument},
    {1191, 1194, errc::rate_limited},
    {2120, 2120, errc::authentication_failure},
    {3000, 3999, errc::parsing_failure},
    {4040, 4040, errc::prepared_statement_failure},
    {4050, 4050, errc::prepared_statement_failure},
    {4060, 4060, errc::prepared_statement_failure},
    {4070, 4070, errc::prepared_statement_failure},
    {4080, 4080, errc::prepared_statement_failure},
    {4090, 4090, errc::prepared_statement_failure},
    {4300, 4300, errc::index_exists},
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
    {20000, 20999, errc::authentication_failure},
    {23000, 23000, errc::temporary_failure},
    {23003, 23003, errc::temporary_failure},
    {23007, 23007, errc::job_queue_full},
    {24000, 24000, errc::parsing_failure},
    {24006, 24006, errc::link_not_found},
    {24025, 24025, errc::dataset_not_found},
    {24034, 24034, errc::dataverse_not_found},
    {24039, 24039, errc::dataverse_exists},
    {24040, 24040, errc::dataset_exists},
    {24044, 24045, errc::dataset_not_found},
    {24047, 24047, errc::index_not_found},
    {24048, 24048, errc::index_exists},
    {24055, 24055, errc::link_exists},
    {24001, 24999, errc::compilation_failure},
    {25000, 25999, errc::internal_server_failure},
};

constexpr std::int64_t query_timeout = 1080;
constexpr std::int64_t analytics_timeout = 21002;
constexpr std::int64_t unknown_parameter = 1065;
constexpr std::int64_t dml_error = 12009;

errc error_in(std::span<const code_range> ranges, std::int64_t code)
{
    const auto row = std::ranges::find_if(
        ranges, [&](const code_range& range) { return code >= range.first && code <= range.last; });
    return row == ranges.end() ? errc::generic_failure : row->code;
}

constexpr errc timeout_of(bool idempotent)
{
    return idempotent ? errc::unambiguous_timeout : errc::ambiguous_timeout;
}

bool has(const service_error& found, std::string_view lower_case_text)
{
    return contains_ignoring_case(found.message, lower_case_text);
}

/// Index services report through one code.
errc internal_error_of(const service_error& found)
{
    if (has(found, "limit for number of indexes that can be created per scope"))
        return errc::quota_limited;
    if (has(found, "index") && has(found, "already exist"))
        return errc::index_exists;
    if (has(found, "index") && has(found, "not found"))
        return errc::index_not_found;
    return errc::internal_server_failure;
}

/// A change by a statement that failed as the change of a document does. Servers before 7.1 have no
/// code for the cause.
errc dml_error_of(const service_error& found)
{
    if (found.reason == 12033)
        return errc::cas_mismatch;
    if (found.reason == 17012)
        return errc::document_exists;
    if (found.reason == 17014)
        return errc::document_not_found;
    return has(found, "cas mismatch") ? errc::cas_mismatch : errc::dml_failure;
}

/// Of the parameters that are ours, older servers do not know all.
errc unknown_parameter_error_of(const service_error& found)
{
    for (const std::string_view newer : {"query_context", "preserve_expiry", "use_replica"})
        if (has(found, newer))
            return errc::feature_not_available;
    return errc::invalid_argument;
}

}  // namespace

result<service_error> first_service_error(std::string_view body)
{
    auto parsed = parse_json(body, reply_limits());
    if (!parsed)
        return std::move(parsed).error();
    const boost::json::array* const errors = find_array(*parsed, "errors");
    if (!errors || errors->empty())
        return error{errc::decoding_failure, "an answer without errors"};
    const boost::json::value& first = errors->front();
    const std::int64_t* const code = find_integer(first, "code");
    if (!code)
        return error{errc::decoding_failure, "an error without a code"};
    service_error found{*code};
    if (const boost::json::string* const text = find_string(first, "msg"))
        found.message.assign(text->data(), text->size());
    if (const bool* const retry = find_bool(first, "retry"))
        found.retry = *retry;
    const boost::json::object* const object = first.if_object();
    if (const boost::json::value* const reason = object->if_contains("reason"))
        if (const std::int64_t* const cause = find_integer(*reason, "code"))
            found.reason = *cause;
    return found;
}

errc query_error_of(const service_error& found, bool idempotent)
{
    if (found.code == query_timeout)
        return timeout_of(idempotent);
    if (found.code == unknown_parameter)
        return unknown_parameter_error_of(found);
    if (found.code == 5000)
        return internal_error_of(found);
    if (found.code == dml_error)
        return dml_error_of(found);
    return is_missing_keyspace(found) ? errc::planning_failure : error_in(query_errors, found.code);
}

errc analytics_error_of(const service_error& found, bool idempotent)
{
    return found.code == analytics_timeout ? timeout_of(idempotent)
                                           : error_in(analytics_errors, found.code);
}

bool is_missing_keyspace(const service_error& found)
{
    return found.code == 4040 && has(found, "keyspace") && !has(found, "prepared");
}

}  // namespace holdfast::core::couchbase
