#include "core/couchbase/service/query.hpp"

#include "core/couchbase/retry/classify_http.hpp"
#include "core/couchbase/service/body_members.hpp"
#include "core/couchbase/service/escape.hpp"
#include "core/couchbase/service/member_reader.hpp"
#include "core/couchbase/service/statement_members.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <cassert>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::errc;
using holdfast::couchbase::profile_mode;
using holdfast::couchbase::query_options;
using holdfast::couchbase::scan_consistency;

void add_consistency(body_members& body, const query_options& options)
{
    if (options.consistent_with && !options.consistent_with->empty()) {
        body.add("scan_consistency", "at_plus");
        body.add_json("scan_vectors", scan_vectors_of(*options.consistent_with));
    } else if (options.scan_consistency == scan_consistency::request_plus) {
        body.add("scan_consistency", "request_plus");
    }
    body.add_time("scan_wait", options.scan_wait);
}

void add_tuning(body_members& body, const query_options& options)
{
    if (options.profile != profile_mode::off)
        body.add("profile", options.profile == profile_mode::phases ? "phases" : "timings");
    if (!options.metrics)
        body.add("metrics", false);
    if (options.use_replica)
        body.add("use_replica", *options.use_replica ? "on" : "off");
    body.add_flag("use_fts", options.flex_index);
    body.add_flag("preserve_expiry", options.preserve_expiry);
    body.add_text_of("scan_cap", options.scan_cap);
    body.add_text_of("pipeline_batch", options.pipeline_batch);
    body.add_text_of("pipeline_cap", options.pipeline_cap);
    body.add_text_of("max_parallelism", options.max_parallelism);
}

/// What each form of the query sets for itself.
std::optional<error> refused_raw_option(const body_members& body)
{
    for (const std::string_view name : {"statement", "prepared", "encoded_plan", "auto_execute"})
        if (body.is_raw(name))
            return error{errc::invalid_argument,
                         "the raw option \"" + std::string{name} +
                             "\" is set by the call: leave it out, or use the option `prepared`"}
                .with_context("option", std::string{name});
    return std::nullopt;
}

/// A text as JSON, which needs no check: it came from a server, or from json_text_of().
std::string member(std::string_view name, std::string_view json)
{
    return '"' + std::string{name} + "\":" + std::string{json};
}

std::string text_member(std::string_view name, std::string_view text)
{
    return member(name, json_text_of(name, text).value_or("\"\""));
}

}  // namespace

result<query_order> make_query(std::string_view statement, const query_options& options,
                               const statement_target& target)
{
    query_order made{.statement = std::string{statement},
                     .query_context = query_context_of(target.bucket, target.scope),
                     .prepared = options.prepared,
                     .readonly = options.readonly};
    auto text = statement_json_of(statement);
    if (!text)
        return std::move(text).error();
    made.statement_json = *std::move(text);
    made.client_context_id = options.client_context_id.empty() ? target.client_context_id
                                                               : options.client_context_id;
    body_members body{options.raw};
    if (auto problem = refused_raw_option(body))
        return *std::move(problem);
    made.own_timeout = !body.is_raw("timeout");
    if (!made.client_context_id.empty())
        body.add("client_context_id", made.client_context_id);
    if (!made.query_context.empty())
        body.add("query_context", made.query_context);
    body.add_flag("readonly", options.readonly);
    body.add_parameters(options.parameters.get());
    add_consistency(body, options);
    add_tuning(body, options);
    auto members = std::move(body).finish();
    if (!members)
        return std::move(members).error();
    made.members = *std::move(members);
    return made;
}

service_request query_order::request(query_form form, const prepared_plan* plan,
                                     std::chrono::milliseconds time_left) const
{
    assert((form == query_form::execute) == (plan != nullptr));
    std::string what = member("statement", statement_json);
    if (form == query_form::prepare || form == query_form::prepare_and_execute)
        what.insert(std::string_view{"\"statement\":\""}.size(), "PREPARE ");
    std::string extra;
    if (form == query_form::prepare_and_execute)
        extra = member("auto_execute", "true");
    if (form == query_form::execute) {
        what = text_member("prepared", plan->name);
        if (!plan->encoded_plan.empty())
            extra = text_member("encoded_plan", plan->encoded_plan);
    }
    const std::string timeout = own_timeout ? timeout_member(time_left) : std::string{};
    return {.service = service_type::query,
            .method = http_method::post,
            .path = "/query/service",
            .content_type = json_content,
            .body = object_of({what, extra, timeout, members}),
            .idempotent = is_idempotent(query_request{.readonly = readonly}),
            .operation = "query"};
}

query_form query_run::next(const prepared_plan* cached) const noexcept
{
    if (!prepared_ || failures_ > max_prepared_failures)
        return query_form::plain;
    if (cached)
        return query_form::execute;
    return enhanced_ ? query_form::prepare_and_execute : query_form::prepare;
}

std::optional<prepared_plan> plan_in_metadata(std::string_view metadata)
{
    prepared_plan found;
    member_reader members{metadata};
    while (members.next())
        if (members.is("prepared"))
            members.read(found.name);
    return found.name.empty() ? std::nullopt : std::optional{std::move(found)};
}

result<prepared_plan> plan_in_row(std::string_view row)
{
    prepared_plan found;
    member_reader members{row};
    while (members.next()) {
        if (members.is("name"))
            members.read(found.name);
        else if (members.is("encoded_plan"))
            members.read(found.encoded_plan);
    }
    if (found.name.empty())
        return error{errc::decoding_failure,
                     "the reply to PREPARE has no plan: its row has no name"};
    return found;
}

}  // namespace holdfast::core::couchbase
