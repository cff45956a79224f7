// The loop on a machine that stands still, or falls over.
#include "shell/retry_loop.hpp"
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::retry_loop_host_test {
namespace {

using namespace std::chrono_literals;

error say(const char* what)
{
    return error{make_error_code(boost::system::errc::interrupted), what};
}

/// Fails at once, and wants to try again after 50 ms.
struct patient {
    using value_type = int;

    runtime::awaitable<result<int>> attempt()
    {
        ++*attempts;
        co_return say("failed");
    }
    shell::settled_step decide_retry(error, time_point) { return shell::try_again{50ms}; }
    std::optional<error> woke(time_point) { return std::nullopt; }
    error timed_out(time_point) { return say("timed out"); }
    error cancelled(const error*, time_point) { return say("cancelled"); }

    int* attempts;
};

class retry_loop_host : public ::testing::Test {
protected:
    runtime::awaitable<void> call(duration timeout)
    {
        const patient protocol{&attempts};
        runtime::world& here = client.world();
        const core::deadline until{here.steady_now() + timeout};
        const auto got = co_await shell::retry_loop(here, protocol, until);
        outcome = got ? "succeeded" : got.error().message();
        ended = net.now();
    }

    sim::simulation net{1};
    sim::host& client = net.add_host("client");
    time_point began = net.now();
    int attempts = 0;
    std::string outcome;
    time_point ended{};
};

TEST_F(retry_loop_host, host_that_wakes_after_the_deadline_sends_nothing)
{
    client.start(call(120ms));
    net.run_for(60ms);
    ASSERT_EQ(attempts, 2);
    client.freeze();  // in a wait that would end at 100 ms
    net.run_for(200ms);
    client.thaw();
    net.run();
    EXPECT_EQ(outcome, "timed out");
    EXPECT_EQ(ended - began, 260ms);
    EXPECT_EQ(attempts, 2);
    EXPECT_EQ(net.left(), sim::leftovers{});
}

TEST_F(retry_loop_host, host_that_wakes_late_but_in_time_retries)
{
    client.start(call(120ms));
    net.run_for(60ms);
    client.freeze();
    net.run_for(50ms);
    client.thaw();
    net.run();
    EXPECT_EQ(outcome, "timed out");
    EXPECT_EQ(ended - began, 120ms);
    EXPECT_EQ(attempts, 3);
}

TEST_F(retry_loop_host, host_that_crashes_destroys_the_operation)
{
    client.start(call(120ms));
    net.run_for(60ms);
    client.crash();
    net.run();
    EXPECT_EQ(outcome, "");
    EXPECT_EQ(attempts, 2);
    EXPECT_EQ(net.left(), sim::leftovers{});
}

}  // namespace
}  // namespace holdfast::retry_loop_host_test
