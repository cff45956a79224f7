// Users' strategies at work, on a virtual clock: slow ones, hanging ones, and such that throw.
#include "core/couchbase/retry/strategy.hpp"
#include "support/verifies.hpp"
#include "unit/core/couchbase/retry/virtual_shell.hpp"

#include <stdexcept>

namespace holdfast::core::couchbase::strategy_scenario_test {
namespace {

using namespace std::chrono_literals;
using namespace testing;

TEST(strategy_scenario, asynchronous_answer_after_200_ms_is_followed)
{
    VERIFIES("CR-017");
    virtual_clock clock;
    const auto slow = strategy([&](const retry_request&, retry_reason) {
        return retry_answer::later([&](retry_reply reply) {
            const auto kept = std::make_shared<retry_reply>(std::move(reply));
            clock.after(200ms, [kept] { (*kept)(retry_action::with_duration(5ms)); });
        });
    });
    virtual_request request{clock, upsert(slow), failing(1, failed_by(retry_reason::kv_locked))};
    virtual_request other{clock, get(best_effort()),
                          failing(3, failed_by(retry_reason::kv_locked))};
    request.start();
    other.start();
    clock.run();
    EXPECT_TRUE(request.succeeded());
    EXPECT_EQ(request.ended, 205ms);
    EXPECT_TRUE(other.succeeded());
    EXPECT_EQ(other.ended, 7ms);  // as if it were alone
}

TEST(strategy_scenario, strategy_that_never_answers_ends_at_the_deadline)
{
    VERIFIES("CR-017");
    std::vector<retry_reply> never;
    auto of = upsert(strategy([&](const retry_request&, retry_reason) {
        return retry_answer::later([&](retry_reply reply) { never.push_back(std::move(reply)); });
    }));
    virtual_clock clock;
    of.deadline = clock.now() + 2500ms;
    virtual_request request{clock, of, always_failing(failed_by(retry_reason::kv_locked))};
    request.start();
    clock.run();
    EXPECT_EQ(request.completions, 1);
    EXPECT_EQ(request.ended, 2500ms);
    EXPECT_EQ(request.error().code(), errc::unambiguous_timeout);
    ASSERT_EQ(request.error().history().size(), 1u);
    EXPECT_EQ(request.error().history()[0].decision, "timed out before the strategy had answered");
    never[0](retry_action::with_duration(1ms));  // the request has ended already
    clock.run();
    EXPECT_EQ(request.completions, 1);
    EXPECT_EQ(request.dispatched.size(), 1u);
}

TEST(strategy_scenario, throwing_strategy_fails_the_request_with_its_error)
{
    VERIFIES("CR-015");
    virtual_clock clock;
    const auto broken = strategy([](const retry_request&, retry_reason) -> retry_answer {
        throw std::runtime_error{"no idea"};
    });
    virtual_request request{clock, upsert(broken),
                            always_failing(failed_by(retry_reason::kv_locked))};
    request.start();
    clock.run();
    EXPECT_EQ(request.ended, 0ms);
    EXPECT_EQ(request.error().code(), errc::retry_strategy_failure);
    EXPECT_NE(request.error().message().find("no idea"), std::string::npos);
    EXPECT_EQ(request.error().history()[0].cause, errc::document_locked);

    const auto chooser = strategy([](const retry_request&, retry_reason) {
        return retry_action::fail_with(error{errc::quota_limited, "mine"});
    });
    virtual_request chosen{clock, upsert(chooser),
                           always_failing(failed_by(retry_reason::kv_locked))};
    chosen.start();
    clock.run();
    EXPECT_EQ(chosen.error().code(), errc::quota_limited);
    EXPECT_EQ(chosen.error().history()[0].decision, "not retried: the strategy chose to fail");
}

}  // namespace
}  // namespace holdfast::core::couchbase::strategy_scenario_test
