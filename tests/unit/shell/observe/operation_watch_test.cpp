// One operation, from its beginning to its end, as observers are notified of it.
#include "shell/observe/operation_watch.hpp"

#include "support/virtual_world.hpp"
#include "unit/shell/observe/observe_support.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::shell::operation_watch_test {
namespace {

using namespace std::chrono_literals;
using proof::connection_to;
using proof::operation_called;
using lines = std::vector<std::string>;

const error refused{boost::asio::error::connection_refused, "refused"};

class operation_watching : public ::testing::Test {
protected:
    std::shared_ptr<observation> observe(std::size_t queue = 100)
    {
        observation_options what;
        what.observers = {seen};
        what.deliver = place.runner();
        what.queue = queue;
        return observation::make(world, std::move(what));
    }
    lines delivered()
    {
        place.run();
        return seen->take();
    }
    static time_point at(duration when) { return time_point{} + when; }

    proof::virtual_world world;
    proof::manual_place place;
    std::shared_ptr<proof::written_observer> seen = std::make_shared<proof::written_observer>();
};

TEST_F(operation_watching, events_come_in_order_and_not_within_the_calls)
{
    const auto by = observe();
    operation_watch watch{*by, operation_called("get"), {}};
    watch.attempt_began(connection_to("a:1"), "0x1", at(1ms));
    watch.attempt_ended(at(2ms), {dispatch_phase::answered, 3us, refused.code(), "KV_LOCKED"});
    watch.attempt_began(connection_to("a:1"), "0x2", at(3ms));
    watch.attempt_ended(at(4ms), {});
    watch.ended(at(5ms), nullptr, 1);
    EXPECT_TRUE(seen->lines.empty());
    EXPECT_EQ(delivered(), (lines{"began get 1", "attempt 1 0x1 get 1", "attempt 1 failed get 1",
                                  "attempt 2 0x2 get 1", "attempt 2 done get 1", "done get 1"}));
}

/// Keeps the numbers that written_observer does not show.
class figures final : public observer {
public:
    using observer::on;
    void on(const observed::attempt_ended& e) noexcept override
    {
        attempt = {e.which.began.time_since_epoch(), e.ended.time_since_epoch()};
        server = e.server_duration;
        reason = e.reason;
        phase = e.phase;
        over = e.which.over.server.value() + " " + e.which.over.local + " " + e.which.over.id;
    }
    void on(const observed::operation_ended& e) noexcept override
    {
        parent = e.of.parent;
        total = e.ended - e.of.began;
        encoding = e.encoding;
        attempts = e.attempts;
        retries = e.retries;
        message = e.why != nullptr ? e.why->message() : "";
        where = std::string{e.of.database} + "." + std::string{e.of.scope} + "." +
                std::string{e.of.collection};
    }
    std::pair<duration, duration> attempt;
    std::optional<std::chrono::microseconds> server;
    std::string reason, over, message, where;
    dispatch_phase phase = dispatch_phase::not_sent;
    trace_parent parent;
    duration total{}, encoding{};
    std::uint32_t attempts = 0, retries = 0;
};

TEST_F(operation_watching, events_have_the_times_names_and_the_parent_of_the_operation)
{
    const auto kept = std::make_shared<figures>();
    observation_options what;
    what.observers = {kept};
    what.deliver = place.runner();
    const auto by = observation::make(world, std::move(what));
    const auto span = std::make_shared<const int>(7);
    {
        // What the views refer to lives as long as the events need it.
        const auto names = std::make_shared<const std::string>("travel");
        observed::operation facts = operation_called("get", at(10ms));
        facts.database = *names;
        facts.scope = "inventory";
        facts.collection = "airline";
        facts.parent = span;
        operation_watch watch{*by, facts, names};
        watch.encoded(at(11ms));
        watch.attempt_began(connection_to("a:1"), "0x1", at(12ms));
        watch.attempt_ended(at(15ms),
                            {dispatch_phase::in_flight, 3us, refused.code(), "KV_LOCKED"});
        watch.ended(at(20ms), &refused, 4);
    }
    place.run();
    EXPECT_EQ(kept->attempt, std::pair(duration{12ms}, duration{15ms}));
    EXPECT_EQ(kept->server, 3us);
    EXPECT_EQ(kept->reason, "KV_LOCKED");
    EXPECT_EQ(kept->phase, dispatch_phase::in_flight);
    EXPECT_EQ(kept->over, "a:1 here:1 AA/01");
    EXPECT_EQ(kept->total, 10ms);
    EXPECT_EQ(kept->encoding, 1ms);
    EXPECT_EQ(kept->attempts, 1u);
    EXPECT_EQ(kept->retries, 4u);
    EXPECT_EQ(kept->message, "refused");
    EXPECT_EQ(kept->where, "travel.inventory.airline");
    EXPECT_EQ(kept->parent, span);
}

TEST_F(operation_watching, operation_that_is_destroyed_is_reported_to_end)
{
    const auto by = observe();
    {
        operation_watch watch{*by, operation_called("get"), {}};
        watch.attempt_began(connection_to("a:1"), "0x1", at(1ms));
    }
    EXPECT_EQ(delivered(), (lines{"began get 1", "attempt 1 0x1 get 1", "attempt 1 failed get 1",
                                  "failed get 1"}));
}

TEST_F(operation_watching, end_is_reported_once)
{
    const auto by = observe();
    {
        operation_watch watch{*by, operation_called("get"), {}};
        watch.ended(at(1ms), nullptr, 0);
        watch.ended(at(2ms), nullptr, 0);
    }
    EXPECT_EQ(delivered(), (lines{"began get 1", "done get 1"}));
}

TEST_F(operation_watching, full_queue_drops_whole_operations_and_counts_them)
{
    const auto by = observe(2);
    operation_watch first{*by, operation_called("get"), {}};
    operation_watch second{*by, operation_called("get"), {}};
    {
        operation_watch third{*by, operation_called("get"), {}};
        third.attempt_began(connection_to("a:1"), "0x1", at(1ms));
        operation_watch fourth{*by, operation_called("get"), {}};
    }
    first.attempt_began(connection_to("a:1"), "0x2", at(1ms));
    first.attempt_ended(at(1ms), {});
    first.ended(at(1ms), nullptr, 0);
    second.ended(at(1ms), nullptr, 0);
    // What has begun ends; an attempt that there was no room for has neither end.
    EXPECT_EQ(delivered(),
              (lines{"began get 1", "began get 2", "dropped 2+1", "done get 1", "done get 2"}));
    operation_watch{*by, operation_called("touch"), {}}.ended(at(2ms), nullptr, 0);
    EXPECT_EQ(delivered(), (lines{"began touch 5", "done touch 5"})) << "there is room again";
}

TEST_F(operation_watching, observers_that_never_run_cost_a_limited_queue)
{
    const auto by = observe(50);
    for (int n = 0; n != 10'000; ++n)
        operation_watch{*by, operation_called("get"), {}}.ended(at(1ms), nullptr, 0);
    EXPECT_EQ(place.jobs->size(), 1u) << "one call waits for them, whatever they are to hear";
    const lines all = delivered();
    EXPECT_EQ(all.size(), 51u);
    EXPECT_EQ(all.back(), "dropped 9975+0");
}

TEST_F(operation_watching, nothing_is_delivered_after_the_client_has_gone)
{
    const auto by = observe();
    operation_watch watch{*by, operation_called("get"), {}};
    by->abandon();
    watch.ended(at(1ms), nullptr, 0);
    EXPECT_EQ(delivered(), lines{});
}

TEST_F(operation_watching, each_of_several_observers_is_notified)
{
    const auto other = std::make_shared<proof::written_observer>();
    observation_options what;
    what.observers = {seen, other};
    what.deliver = place.runner();
    const auto by = observation::make(world, std::move(what));
    operation_watch{*by, operation_called("get"), {}}.ended(at(1ms), nullptr, 0);
    EXPECT_EQ(delivered(), (lines{"began get 1", "done get 1"}));
    EXPECT_EQ(other->take(), (lines{"began get 1", "done get 1"}));
}

TEST(observation, nothing_wanted_is_no_observation)
{
    proof::virtual_world world;
    EXPECT_EQ(observation::make(world, {}), nullptr);
    observation_options thresholds_without_a_log;
    thresholds_without_a_log.thresholds = {{"kv", 1ms}};
    thresholds_without_a_log.reports_orphans = true;
    EXPECT_EQ(observation::make(world, thresholds_without_a_log), nullptr);
    observation_options log_without_thresholds;
    log_without_thresholds.report = [](request_report_kind, const std::string&) {};
    EXPECT_EQ(observation::make(world, log_without_thresholds), nullptr);
}

}  // namespace
}  // namespace holdfast::shell::operation_watch_test
