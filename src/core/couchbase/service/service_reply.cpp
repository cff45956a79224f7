#include "core/couchbase/service/service_reply.hpp"

#include "core/couchbase/service/member_reader.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <string>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::query_status;

classification classified(const service_reply& reply, const failed_statement& of)
{
    switch (reply.service) {
    case service_type::query: return classify_query(reply.body, of);
    case service_type::analytics: return classify_analytics(reply.body, of);
    case service_type::search: return classify_search(reply.status, reply.body);
    case service_type::views: return classify_view(reply.status, reply.body);
    case service_type::key_value:
    case service_type::management: break;
    }
    return classify_management(reply.status, reply.body);
}

bool is_list_with_entries(const member_reader& member)
{
    return member.kind() == json::kind::array && element_reader{member.value()}.next();
}

/// How a statement ended that has no errors: a server that stops may find no time for any.
std::optional<classification> ended_badly(query_status status, const failed_statement& of)
{
    classification meant{{}, errc::generic_failure, {}};
    switch (status) {
    case query_status::unknown:
    case query_status::running:
    case query_status::success:
    case query_status::completed: return std::nullopt;
    case query_status::timeout:
        meant.code = of.idempotent ? errc::unambiguous_timeout : errc::ambiguous_timeout;
        break;
    case query_status::errors:
    case query_status::stopped:
    case query_status::closed:
    case query_status::fatal:
    case query_status::aborted: break;
    }
    meant.message = "the statement ended with the status \"" + std::string{name_of(status)} +
                    "\", and without an error";
    return meant;
}

std::optional<classification> failed_statement_in(const service_reply& reply,
                                                  const failed_statement& of)
{
    member_reader member{reply.body};
    while (member.next())
        if (member.is("errors") && is_list_with_entries(member))
            return classified(reply, of);
    return ended_badly(read_query_metadata(reply.body).status, of);
}

/// An answer of search that failed as a whole can have the status of a success.
std::optional<classification> failed_search_in(const service_reply& reply)
{
    member_reader member{reply.body};
    while (member.next())
        if (member.is("error") && member.kind() == json::kind::string)
            return classified(reply, {});
    return std::nullopt;
}

std::optional<classification> failure_among_rows(const service_reply& reply,
                                                 const failed_statement& of)
{
    switch (reply.service) {
    case service_type::query:
    case service_type::analytics: return failed_statement_in(reply, of);
    case service_type::search: return failed_search_in(reply);
    case service_type::views:
    case service_type::key_value:
    case service_type::management: break;
    }
    return std::nullopt;
}

bool is_success(int status)
{
    return status >= 200 && status < 300;
}

}  // namespace

std::string_view rows_array_of(service_type service) noexcept
{
    switch (service) {
    case service_type::query:
    case service_type::analytics: return "results";
    case service_type::search: return "hits";
    case service_type::views: return "rows";
    case service_type::key_value:
    case service_type::management: break;
    }
    return {};
}

std::optional<classification> failure_in(const service_reply& reply, const failed_statement& of)
{
    std::optional<classification> meant;
    if (is_success(reply.status))
        meant = failure_among_rows(reply, of);
    else
        meant = classified(reply, of);
    if (!meant)
        return std::nullopt;
    // What stands before a service, or the service before it can work, answers by a status alone.
    if (meant->code == errc::decoding_failure && !is_success(reply.status))
        meant = classify_management(reply.status, reply.body);
    meant->context.push_back({"http_status", std::to_string(reply.status)});
    return meant;
}

}  // namespace holdfast::core::couchbase
