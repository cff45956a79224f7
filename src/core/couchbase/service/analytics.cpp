#include "core/couchbase/service/analytics.hpp"

#include "core/couchbase/service/body_members.hpp"
#include "core/couchbase/service/escape.hpp"
#include "core/couchbase/service/statement_members.hpp"

namespace holdfast::core::couchbase {

using holdfast::couchbase::analytics_options;
using holdfast::couchbase::scan_consistency;

result<analytics_order> make_analytics(std::string_view statement, const analytics_options& options,
                                       const statement_target& target)
{
    const auto text = statement_json_of(statement);
    if (!text)
        return text.error();
    analytics_order made{.client_context_id = std::string{options.client_context_id.empty()
                                                              ? target.client_context_id
                                                              : options.client_context_id},
                         .readonly = options.readonly,
                         .has_priority = options.priority};
    body_members body{options.raw};
    made.own_timeout = !body.is_raw("timeout");
    body.add_json("statement", *text);
    if (!made.client_context_id.empty())
        body.add("client_context_id", made.client_context_id);
    if (const std::string context = query_context_of(target.bucket, target.scope); !context.empty())
        body.add("query_context", context);
    body.add_flag("readonly", options.readonly);
    if (options.scan_consistency == scan_consistency::request_plus)
        body.add("scan_consistency", "request_plus");
    body.add_parameters(options.parameters.get());
    auto members = std::move(body).finish();
    if (!members)
        return std::move(members).error();
    made.members = *std::move(members);
    return made;
}

service_request analytics_order::request(std::chrono::milliseconds time_left) const
{
    service_request made{
        .service = service_type::analytics,
        .method = http_method::post,
        .path = "/query/service",
        .content_type = json_content,
        .body = object_of({members, own_timeout ? timeout_member(time_left) : std::string{}}),
        .idempotent = is_idempotent(analytics_request{.readonly = readonly}),
        .operation = "analytics"};
    if (has_priority)
        made.headers.push_back({"Analytics-Priority", "-1"});
    return made;
}

}  // namespace holdfast::core::couchbase
