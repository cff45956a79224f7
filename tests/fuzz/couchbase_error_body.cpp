// Any text taken for the body of a failed HTTP answer: the first two bytes are the status.
#include "core/couchbase/retry/classify_http.hpp"
#include "require.hpp"

using namespace holdfast::core::couchbase;

namespace {

/// A service raises its own reasons only, and a request that is not retried has an error.
void check_outcome(const classification& meant, retry_reason one, retry_reason other)
{
    REQUIRE(!meant.reason || *meant.reason == one || *meant.reason == other);
    REQUIRE(meant.code.failed());
    REQUIRE(!meant.message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2)
        return 0;
    const int status = (data[0] * 256 + data[1]) % 700;
    const std::string_view body{reinterpret_cast<const char*>(data) + 2, size - 2};
    using enum retry_reason;
    check_outcome(classify_query(body), query_prepared_statement_failure, query_index_not_found);
    check_outcome(classify_query(body, 9), query_index_not_found, query_index_not_found);
    check_outcome(classify_analytics(body), analytics_temporary_failure,
                  analytics_temporary_failure);
    check_outcome(classify_search(status, body), search_too_many_requests,
                  search_too_many_requests);
    check_outcome(classify_view(status, body), views_temporary_failure, views_no_active_partition);
    REQUIRE(!classify_management(status, body).reason);
    REQUIRE(classify_view(404, body).reason.has_value() <= (body.find("\"missing\"") != body.npos));
    return 0;
}
