#include "core/mongo/retry/decide.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::core::mongo::order_test {
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

/// The last decision about an operation that fails in these ways.
retry_decision after(const retry_policy& policy, const std::vector<failed_attempt>& failures,
                     token_bucket bucket = token_bucket{})
{
    retry_decision last;
    for (const failed_attempt& one : failures) {
        last = decide(policy, last.progress, one, bucket, now, 0.5);
        bucket = last.tokens;
    }
    return last;
}

const failed_attempt lost{.origin = failure_origin::network};
const failed_attempt overload{.origin = failure_origin::server,
                              .labels = {.system_overloaded = true, .retryable = true}};

TEST(retry_decision, network_and_state_change_errors_take_no_token)
{
    VERIFIES("BP-029");
    const failed_attempt stepped_down{.origin = failure_origin::server,
                                      .labels = {.retryable_write = true},
                                      .code = 10107,
                                      .max_wire_version = 27};
    const retry_policy policy{.kind = retry_kind::write, .repeatable = true, .adaptive = true};
    const token_bucket two{tokens::whole(2), tokens::whole(1000)};
    for (const failed_attempt& one : {lost, stepped_down}) {
        const retry_decision d = after(policy, {one}, two);
        EXPECT_TRUE(d.retries());
        EXPECT_EQ(d.tokens, two);
    }
}

TEST(retry_decision, overload_limit_of_five_holds_with_a_deadline)
{
    VERIFIES("BP-031");
    retry_policy policy{.kind = retry_kind::write, .repeatable = true};
    policy.until = deadline{now + 1h};
    EXPECT_TRUE(after(policy, {overload, lost, lost, lost, lost}).retries());
    EXPECT_EQ(after(policy, {overload, lost, lost, lost, lost, lost}).outcome,
              retry_outcome::limit_reached);
    EXPECT_EQ(after(policy, {lost, lost, lost, lost, lost, overload}).outcome,
              retry_outcome::limit_reached);
}

TEST(retry_decision, unacknowledged_write_is_never_retried)
{
    VERIFIES("RW-030");
    const write_command command{.name = "insert", .acknowledged = false};
    const retry_policy policy{.kind = retry_kind::write,
                              .repeatable = takes_transaction_number(command, 27)};
    EXPECT_EQ(decide(policy, {}, lost, token_bucket{}, now, 0.5).outcome,
              retry_outcome::not_repeatable);
}

}  // namespace
}  // namespace holdfast::core::mongo::order_test
