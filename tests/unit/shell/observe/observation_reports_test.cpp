// The reports on slow requests and late replies: when they are made, and what is in them.
#include "shell/observe/operation_watch.hpp"
#include "support/virtual_world.hpp"
#include "unit/shell/observe/observe_support.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::shell::observation_reports_test {
namespace {

using namespace std::chrono_literals;
using proof::connection_to;

class observation_reports : public ::testing::Test {
protected:
    struct made {
        request_report_kind kind;
        std::string json;
        duration at;
    };

    std::shared_ptr<observation> observe()
    {
        observation_options what;
        what.thresholds = {{"kv", 500ms}, {"query", 1s}};
        what.reports_orphans = true;
        what.sample = 2;
        what.report = [this](request_report_kind kind, const std::string& json) {
            reports.push_back({kind, json, world.steady_now() - began});
        };
        return observation::make(world, std::move(what));
    }
    void operation(observation& by, std::string_view service, duration took)
    {
        observed::operation facts = proof::operation_called("get", world.steady_now());
        facts.service = service;
        operation_watch watch{by, facts, {}};
        watch.ended(facts.began + took, nullptr, 0);
    }

    proof::virtual_world world;
    const time_point began = world.steady_now();
    std::vector<made> reports;
};

TEST_F(observation_reports, slow_requests_are_reported_when_the_interval_ends)
{
    const auto by = observe();
    operation(*by, "kv", 501ms);
    operation(*by, "kv", 700ms);
    operation(*by, "kv", 600ms);
    operation(*by, "query", 1001ms);
    world.run();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].kind, request_report_kind::over_threshold);
    EXPECT_EQ(reports[0].at, 10s);
    EXPECT_EQ(reports[0].json, R"({"kv":{"total_count":3,"top_requests":[)"
                               R"({"total_duration_us":700000,"operation_name":"get"},)"
                               R"({"total_duration_us":600000,"operation_name":"get"}]},)"
                               R"("query":{"total_count":1,"top_requests":[)"
                               R"({"total_duration_us":1001000,"operation_name":"get"}]}})");
}

TEST_F(observation_reports, each_interval_counts_anew)
{
    const auto by = observe();
    for (int n = 1; n != 3; ++n) {
        operation(*by, "kv", 500ms + n * 1ms);
        world.run();
    }
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_EQ(reports[1].at, 20s);
    EXPECT_EQ(reports[1].json, R"({"kv":{"total_count":1,"top_requests":[)"
                               R"({"total_duration_us":502000,"operation_name":"get"}]}})");
}

TEST_F(observation_reports, nothing_runs_while_no_request_is_slow)
{
    const auto by = observe();
    operation(*by, "kv", 500ms);
    operation(*by, "query", 1s);
    operation(*by, "views", 1h);  // a service without a threshold
    EXPECT_FALSE(world.step());
    EXPECT_TRUE(reports.empty());
}

TEST_F(observation_reports, request_has_the_sums_of_all_attempts)
{
    const auto by = observe();
    observed::operation facts = proof::operation_called("upsert", began);
    facts.timeout = 2500ms;
    operation_watch watch{*by, facts, {}};
    watch.encoded(began + 1ms);
    watch.attempt_began(connection_to("a:1"), "0x400", began + 2ms);
    watch.attempt_ended(began + 5ms, {dispatch_phase::answered, 7us, {}, {}});
    watch.attempt_began(connection_to("b:1"), "0x801", began + 600ms);
    watch.attempt_ended(began + 610ms, {dispatch_phase::answered, 9us, {}, {}});
    watch.ended(began + 611ms, nullptr, 1);
    world.run();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].json,
              R"({"kv":{"total_count":1,"top_requests":[{"total_duration_us":611000,)"
              R"("encode_duration_us":1000,"last_dispatch_duration_us":10000,)"
              R"("total_dispatch_duration_us":13000,"last_server_duration_us":9,)"
              R"("total_server_duration_us":16,"operation_name":"upsert","last_local_id":"AA/01",)"
              R"("operation_id":"0x801","last_local_socket":"here:1","last_remote_socket":"b:1",)"
              R"("timeout_ms":2500}]}})");
}

observer_records::reply_orphaned late_reply(observed::orphan_cause cause)
{
    observer_records::reply_orphaned late;
    late.service = "kv";
    late.name = "get";
    late.over = connection_to("a:1");
    late.request = "0x400";
    late.cause = cause;
    late.total = 30ms;
    late.since_dispatch = 29ms;
    late.server_duration = 28ms;
    return late;
}

TEST_F(observation_reports, late_replies_have_a_report_of_their_own_with_the_reason)
{
    const auto by = observe();
    by->reply_orphaned(late_reply(observed::orphan_cause::timed_out), 20ms);
    world.run();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].kind, request_report_kind::orphaned);
    EXPECT_EQ(reports[0].at, 10s);
    EXPECT_EQ(reports[0].json,
              R"({"kv":{"total_count":1,"top_requests":[{"total_duration_us":30000,)"
              R"("last_dispatch_duration_us":29000,"last_server_duration_us":28000,)"
              R"("total_server_duration_us":28000,"operation_name":"get","last_local_id":"AA/01",)"
              R"("operation_id":"0x400","last_local_socket":"here:1","last_remote_socket":"a:1",)"
              R"("timeout_ms":20,"reason":"timed_out"}]}})");
}

TEST_F(observation_reports, client_that_closes_reports_at_once)
{
    const auto by = observe();
    operation(*by, "kv", 501ms);
    by->reply_orphaned(late_reply(observed::orphan_cause::cancelled), 0ms);
    boost::asio::co_spawn(world.executor(), by->close(), boost::asio::detached);
    world.run();
    EXPECT_EQ(reports.size(), 2u);
    EXPECT_EQ(world.steady_now(), began);
}

TEST_F(observation_reports, client_that_has_gone_reports_nothing)
{
    const auto by = observe();
    operation(*by, "kv", 501ms);
    by->abandon();
    operation(*by, "kv", 501ms);
    world.run();
    EXPECT_TRUE(reports.empty());
}

TEST_F(observation_reports, close_waits_for_observers_but_not_longer_than_a_second)
{
    const auto seen = std::make_shared<proof::written_observer>();
    const proof::manual_place place;
    observation_options what;
    what.observers = {seen};
    what.deliver = place.runner();
    const auto by = observation::make(world, std::move(what));
    operation(*by, "kv", 1ms);
    boost::asio::co_spawn(world.executor(), by->close(), boost::asio::detached);
    world.run();
    EXPECT_EQ(world.steady_now() - began, 1s);
    place.run();
    EXPECT_TRUE(seen->lines.empty()) << "the client is closed";
}

}  // namespace
}  // namespace holdfast::shell::observation_reports_test
