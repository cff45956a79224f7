// Any text taken for the body of a failed HTTP answer: the first two bytes are the status.
#include "core/couchbase/retry/classify_http.hpp"
#include "core/couchbase/service/query.hpp"
#include "core/couchbase/service/service_reply.hpp"
#include "require.hpp"

#include <algorithm>
#include <initializer_list>

using namespace holdfast::core::couchbase;

namespace {

/// A service raises its own reasons only, and a decision to give up has an error.
void check_outcome(const classification& meant, std::initializer_list<retry_reason> own)
{
    REQUIRE(!meant.reason || std::ranges::find(own, *meant.reason) != own.end());
    REQUIRE(meant.code.failed());
    REQUIRE(!meant.message.empty());
}

/// Whatever a service sends, its reply is a success or a failure with its status, and its metadata
/// can be read.
void check_replies(int status, std::string_view body)
{
    using enum service_type;
    for (const service_type service : {query, analytics, search, views, management}) {
        const auto failed = failure_in({service, status, body});
        REQUIRE(failed.has_value() || (status >= 200 && status < 300));
        if (failed)
            REQUIRE(failed->code.failed() && !failed->as_error().context("http_status").empty());
        (void)failure_in({service, 200, body});
    }
    REQUIRE(read_query_metadata(body).warnings.size() <= max_metadata_entries);
    REQUIRE(read_search_metadata(body).errors.size() <= max_metadata_entries);
    REQUIRE(read_view_metadata(body).errors.size() <= max_metadata_entries);
    const auto plan = plan_in_row(body);
    REQUIRE(plan ? !plan->name.empty() : plan.error().code() == errc::decoding_failure);
    REQUIRE(!plan_in_metadata(body) || !plan_in_metadata(body)->name.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2)
        return 0;
    const int status = (data[0] * 256 + data[1]) % 700;
    const std::string_view body{reinterpret_cast<const char*>(data) + 2, size - 2};
    using enum retry_reason;
    check_outcome(classify_query(body), {query_prepared_statement_failure, query_index_not_found,
                                         service_response_code_indicated});
    check_outcome(classify_query(body, {.prepared_failures = 9}),
                  {query_index_not_found, service_response_code_indicated});
    check_outcome(classify_analytics(body), {analytics_temporary_failure});
    check_outcome(classify_search(status, body), {search_too_many_requests});
    check_outcome(classify_view(status, body),
                  {views_temporary_failure, views_no_active_partition});
    REQUIRE(!classify_management(status, body).reason);
    REQUIRE(classify_view(404, body).reason.has_value() <= (body.find("\"missing\"") != body.npos));
    check_replies(status, body);
    return 0;
}
