#include "core/mongo/retry/decide.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo {
namespace {

using namespace std::chrono_literals;

constexpr time_point now{1h};

TEST(retry_decision, checks_run_in_the_order_of_the_specification)
{
    VERIFIES("BP-035");
    const failed_attempt overloaded{.origin = failure_origin::server,
                                    .labels = {.system_overloaded = true, .retryable = true}};
    const failed_attempt final{.origin = failure_origin::server, .code = 11000};
    retry_policy policy{.kind = retry_kind::write, .repeatable = true};
    policy.adaptive = true;
    policy.until = deadline{now + 10ms};
    const token_bucket one{tokens::whole(1), tokens::whole(1000)};
    const token_bucket none{tokens{}, tokens::whole(1000)};

    // The deposit comes first, also when the error is final; nothing is counted or avoided then.
    const auto ended = decide(policy, {.retries = 1}, final, none, now, 0.5);
    EXPECT_EQ(ended.tokens, one);
    EXPECT_EQ(ended.progress.retries, 1u);
    EXPECT_FALSE(ended.avoids_server);
    // The limit is looked at before the wait, the wait before the token.
    EXPECT_EQ(decide(policy, {.retries = 5}, overloaded, none, now, 0.9).outcome,
              retry_outcome::limit_reached);
    const auto late = decide(policy, {}, overloaded, one, now, 0.9);
    EXPECT_EQ(late.outcome, retry_outcome::wait_too_long);
    EXPECT_EQ(late.tokens, one);
    EXPECT_EQ(decide(policy, {}, overloaded, none, now, 0.01).outcome,
              retry_outcome::budget_used_up);
    EXPECT_EQ(decide(policy, {}, overloaded, one, now, 0.01).tokens, none);
}

TEST(retry_decision, unacknowledged_write_is_never_retried)
{
    VERIFIES("RW-030");
    const write_command command{.name = "insert", .acknowledged = false};
    const retry_policy policy{.kind = retry_kind::write,
                              .repeatable = takes_transaction_number(command, 27)};
    const failed_attempt lost{.origin = failure_origin::network};
    EXPECT_EQ(decide(policy, {}, lost, token_bucket{}, now, 0.5).outcome,
              retry_outcome::not_repeatable);
}

}  // namespace
}  // namespace holdfast::core::mongo
