#include "core/observe/request_report.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::core::request_report_test {
namespace {

using namespace std::chrono_literals;

reported_request took(duration total)
{
    reported_request made;
    made.total = total;
    return made;
}

void add(request_report& to, std::string_view service, duration total)
{
    to.add(service, total, [total] { return took(total); });
}

TEST(request_report, request_has_the_fields_of_the_rfc_in_microseconds)
{
    reported_request one;
    one.total = 1'200us + 999ns;
    one.encode = 100us;
    one.last_dispatch = 40us;
    one.total_dispatch = 75us;
    one.last_server = 2us;
    one.total_server = 5us;
    one.operation = "upsert";
    one.local_id = "66388CF5BFCF7522/18CC8791579B567C";
    one.operation_id = "0x23";
    one.local_socket = "10.211.55.3:52450";
    one.remote_socket = "10.112.180.101:11210";
    one.timeout = 2'500ms;
    request_report report{10};
    report.add("kv", one.total, [&] { return one; });
    EXPECT_EQ(report.to_json(),
              R"({"kv":{"total_count":1,"top_requests":[{"total_duration_us":1200,)"
              R"("encode_duration_us":100,"last_dispatch_duration_us":40,)"
              R"("total_dispatch_duration_us":75,"last_server_duration_us":2,)"
              R"("total_server_duration_us":5,"operation_name":"upsert",)"
              R"("last_local_id":"66388CF5BFCF7522/18CC8791579B567C","operation_id":"0x23",)"
              R"("last_local_socket":"10.211.55.3:52450",)"
              R"("last_remote_socket":"10.112.180.101:11210","timeout_ms":2500}]}})");
}

TEST(request_report, what_is_not_known_is_left_out)
{
    reported_request one = took(7us);
    one.operation = "get";
    one.reason = "timed_out";
    request_report report{10};
    report.add("kv", one.total, [&] { return one; });
    EXPECT_EQ(report.to_json(), R"({"kv":{"total_count":1,"top_requests":[{"total_duration_us":7,)"
                                R"("operation_name":"get","reason":"timed_out"}]}})");
}

TEST(request_report, each_service_has_its_count_and_its_longest_requests_first)
{
    request_report report{2};
    for (const duration one : {3us, 9us, 5us, 9us, 1us})
        add(report, "query", one);
    add(report, "kv", 4us);
    EXPECT_EQ(report.to_json(),
              R"({"kv":{"total_count":1,"top_requests":[{"total_duration_us":4}]},)"
              R"("query":{"total_count":5,"top_requests":[{"total_duration_us":9},)"
              R"({"total_duration_us":9}]}})");
}

TEST(request_report, only_requests_of_the_sample_are_described)
{
    request_report report{2};
    int described = 0;
    for (const duration one : {5us, 4us, 3us, 4us, 6us}) {
        report.add("kv", one, [&] {
            ++described;
            return took(one);
        });
    }
    EXPECT_EQ(described, 3) << "one that is as long as the last of the sample does not replace it";
}

TEST(request_report, sample_of_a_thousand_requests_keeps_the_longest)
{
    request_report report{10};
    for (int n = 0; n != 1'000; ++n)
        add(report, "kv", std::chrono::microseconds{n * 7919 % 1'000});
    std::string expected = R"({"kv":{"total_count":1000,"top_requests":[)";
    for (int n = 999; n != 989; --n)
        expected += (n == 999 ? "" : ",") + (R"({"total_duration_us":)" + std::to_string(n) + "}");
    EXPECT_EQ(report.to_json(), expected + "]}}");
}

TEST(request_report, new_one_is_empty)
{
    request_report report{10};
    EXPECT_TRUE(report.empty());
    EXPECT_EQ(report.to_json(), "{}");
    add(report, "kv", 1us);
    EXPECT_FALSE(report.empty());
}

TEST(request_report, text_that_a_server_chose_is_escaped_or_not_shown)
{
    reported_request one = took(1us);
    one.operation = "\"\n";
    one.local_id = "\xff";
    one.remote_socket = std::string(257, 'a');
    one.local_socket = std::string(3, 'b');
    request_report report{1};
    report.add("kv", one.total, [&] { return one; });
    EXPECT_EQ(report.to_json(),
              R"({"kv":{"total_count":1,"top_requests":[{"total_duration_us":1,)"
              R"("operation_name":"\"\n","last_local_id":"not shown","last_local_socket":"bbb",)"
              R"("last_remote_socket":"not shown"}]}})");
}

}  // namespace
}  // namespace holdfast::core::request_report_test
