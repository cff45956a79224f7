#include "lab/couchbase/query/query_reply.hpp"

#include "lab/couchbase/n1ql/query_error.hpp"
#include "lab/couchbase/query/query_request.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

namespace json = n1ql::json;
using n1ql::query_code;

std::string draw_request_id(runtime::world& in)
{
    std::array<std::uint8_t, 16> drawn{};
    in.random(drawn);
    drawn[6] = static_cast<std::uint8_t>((drawn[6] & 0x0f) | 0x40);
    drawn[8] = static_cast<std::uint8_t>((drawn[8] & 0x3f) | 0x80);
    std::string made;
    for (std::size_t n = 0; n != drawn.size(); ++n) {
        char digits[4];
        std::snprintf(digits, sizeof digits, "%02x", drawn[n]);
        made += digits;
        if (n == 3 || n == 5 || n == 7 || n == 9)
            made += '-';
    }
    return made;
}

std::string in_quotes(std::string_view text)
{
    return n1ql::json_text(n1ql::text(text));
}

int query_status(std::int32_t code)
{
    switch (static_cast<query_code>(code)) {
    case query_code::read_only: return 403;
    case query_code::unsupported_method: return 405;
    case query_code::unrecognized_value:
    case query_code::bad_value:
    case query_code::missing_value:
    case query_code::multiple_values:
    case query_code::unrecognized_parameter:
    case query_code::type_mismatch:
    case query_code::client_id:
    case query_code::bad_scan_vector:
    case query_code::syntax: return 400;
    case query_code::no_index:
    case query_code::no_such_prepared: return 404;
    case query_code::index_exists: return 409;
    case query_code::namespace_not_found:
    case query_code::keyspace_not_found:
    case query_code::bucket_not_found: return 424;
    case query_code::wrong_login:
    case query_code::no_credentials: return 401;
    case query_code::timeout: return 200;
    case query_code::internal: return 500;
    default: return 0;
    }
}

shown_error show_query_error(const error& of)
{
    shown_error made{n1ql::code_of(of), of.message(), {}, 0};
    if (n1ql::is_worth_a_retry(made.code))
        made.retry = true;
    made.reason = static_cast<std::int32_t>(n1ql::reason_of(of));
    if (made.reason != 0)
        made.retry = false;
    return made;
}

std::string_view usual_query_text(std::int32_t code)
{
    switch (code) {
    case 4040: return "No such prepared statement: unknown, context: unset";
    case 4041: return "Prepared statement is not valid any more";
    case 4050: return "Unrecognizable prepared statement";
    case 4060: return "Unable to add name";
    case 4070: return "Unable to decode prepared statement";
    case 4080: return "Encoded plan parameter does not match encoded plan";
    case 4090: return "Mismatching name in encoded plan";
    case 5000: return "Internal error";
    case 12009: return "DML Error, possible causes include concurrent modification.";
    case 12016: return "Index Not Found";
    default: return "The lab was asked to answer so";
    }
}

std::string error_list(const std::vector<shown_error>& errors)
{
    std::string made;
    for (const shown_error& one : errors) {
        json::object entry;
        if (one.reason != 0)
            entry["reason"] = json::object{{"code", one.reason}, {"message", n1ql::text(one.text)}};
        entry["code"] = one.code;
        entry["msg"] = n1ql::text(one.text);
        if (one.retry)
            entry["retry"] = *one.retry;
        made += (made.empty() ? "" : ",") + n1ql::json_text(entry);
    }
    return made;
}

}  // namespace

const reply_style query_style{show_query_error, query_status,
                              usual_query_text, static_cast<std::int32_t>(query_code::timeout),
                              "timeout",        false};

query_reply::query_reply(const reply_style& style, reply_facts facts, runtime::world& in)
    : style_{style},
      facts_{std::move(facts)},
      world_{in},
      began_{in.steady_now()},
      id_{draw_request_id(in)}
{
}

std::string query_reply::begin() const
{
    std::string made = "{\n\"requestID\": \"" + id_ + "\"";
    if (!facts_.client_context_id.empty())
        made += ",\n\"clientContextID\": " + in_quotes(facts_.client_context_id);
    return made;
}

std::string query_reply::head(const json::value& signature) const
{
    std::string made = begin();
    if (!facts_.prepared.empty())
        made += ",\n\"prepared\": " + in_quotes(facts_.prepared);
    if (facts_.signature)
        made += ",\n\"signature\": " + n1ql::json_text(signature);
    return made + ",\n\"results\": [";
}

void query_reply::count_row(std::size_t bytes) noexcept
{
    ++rows_;
    bytes_ += bytes;
}

std::string query_reply::tail(std::string_view state, const std::vector<shown_error>& errors,
                              const n1ql::run_counts& counts) const
{
    return "\n]" + end(state, errors, counts);
}

std::string query_reply::refusal(const shown_error& reason) const
{
    return begin() + end("fatal", {reason}, {});
}

std::string query_reply::metrics(std::size_t errors, const n1ql::run_counts& counts) const
{
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(world_.steady_now() -
                                                                           began_);
    const std::string time = in_quotes(duration_text(took));
    std::string made = "\"elapsedTime\": " + time + ",\"executionTime\": " + time +
                       ",\"resultCount\": " + std::to_string(rows_) +
                       ",\"resultSize\": " + std::to_string(bytes_);
    if (style_.is_analytics)
        made += ",\"processedObjects\": " + std::to_string(rows_);
    else
        made += ",\"serviceLoad\": 1";
    if (counts.mutations != 0)
        made += ",\"mutationCount\": " + std::to_string(counts.mutations);
    if (counts.sorted != 0)
        made += ",\"sortCount\": " + std::to_string(counts.sorted);
    if (errors != 0)
        made += ",\"errorCount\": " + std::to_string(errors);
    return "{" + made + "}";
}

std::string query_reply::end(std::string_view state, const std::vector<shown_error>& errors,
                             const n1ql::run_counts& counts) const
{
    std::string made;
    if (!errors.empty())
        made += ",\n\"errors\": [" + error_list(errors) + "]";
    if (style_.is_analytics)
        made += ",\n\"plans\": {}";
    made += ",\n\"status\": " + in_quotes(state);
    if (facts_.metrics)
        made += ",\n\"metrics\": " + metrics(errors.size(), counts);
    if (!facts_.profile.empty()) {
        json::object profile{{"phaseTimes", json::object{{"run", "1ms"}}},
                             {"phaseOperators", json::object{{"project", 1}}}};
        if (facts_.profile == "timings")
            profile["executionTimings"] = json::object{{"#operator", "Sequence"}};
        made += ",\n\"profile\": " + n1ql::json_text(profile);
    }
    return made + "\n}\n";
}

http_reply refused_query(const reply_style& style, reply_facts facts, runtime::world& in,
                         const shown_error& reason)
{
    http_reply made;
    const int status = style.status(reason.code);
    made.status = status == 0 ? 500 : status;
    made.body = query_reply{style, std::move(facts), in}.refusal(reason);
    return made;
}

}  // namespace holdfast::lab::couchbase
