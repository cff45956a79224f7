#include "core/mongo/retry/rescue.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::rescue_test {
namespace {

using namespace std::chrono_literals;

constexpr time_point now{1h};

struct row {
    const char* what;
    retry_policy policy;
    retry_progress progress;
    bool leaves;
};

const retry_policy write{.kind = retry_kind::write, .repeatable = true};
const retry_policy read{.kind = retry_kind::read, .repeatable = true};

retry_policy with_deadline(retry_policy policy, duration left = 1min)
{
    policy.until = deadline::after(now, left);
    return policy;
}

retry_policy switched_off(retry_kind kind)
{
    return {.kind = kind, .repeatable = true, .retry_reads = false, .retry_writes = false};
}

const row table[] = {
    {"a write with a txnNumber", write, {}, true},
    {"a retryable read", read, {}, true},
    {"update_many, w: 0", {.kind = retry_kind::write}, {}, false},
    {"getMore", {.kind = retry_kind::read}, {}, false},
    {"runCommand", {.kind = retry_kind::generic}, {}, false},
    {"retryWrites=false", switched_off(retry_kind::write), {}, false},
    {"retryReads=false", switched_off(retry_kind::read), {}, false},
    {"retried once", write, {.retries = 1, .failed_before = true}, false},
    {"a read retried once", read, {.retries = 1, .failed_before = true}, false},
    {"with a deadline", with_deadline(write), {}, true},
    {"retried once, with a deadline",
     with_deadline(write),
     {.retries = 1, .failed_before = true},
     true},
    {"a read retried once, with a deadline",
     with_deadline(read),
     {.retries = 1, .failed_before = true},
     true},
    {"retried once, with a deadline that is too near for the wait",
     with_deadline(write, 20ms),
     {.retries = 1, .failed_before = true},
     false},
    {"a deadline that has passed", with_deadline(write, -1s), {}, false},
    {"retried after overload", write, {1, true, true}, true},
    {"no retry left after overload", write, {5, true, true}, false},
    {"the same with a deadline", with_deadline(write), {5, true, true}, false},
};

TEST(rescue, only_what_may_be_repeated_leaves_a_deposed_primary)
{
    for (const row& r : table)
        EXPECT_EQ(leaves_deposed_primary(r.policy, r.progress, now), r.leaves) << r.what;
}

TEST(rescue, short_cut_for_first_attempts_agrees_with_the_retry_decision)
{
    for (const retry_kind kind : {retry_kind::read, retry_kind::write})
        for (int bits = 0; bits < 32; ++bits) {
            retry_policy policy{.kind = kind,
                                .repeatable = (bits & 1) != 0,
                                .retry_reads = (bits & 2) != 0,
                                .retry_writes = (bits & 4) != 0,
                                .adaptive = (bits & 8) != 0};
            if ((bits & 16) != 0)
                policy = with_deadline(policy);
            EXPECT_EQ(leaves_deposed_primary(policy, {}, now), would_be_repeated(policy, {}, now))
                << (kind == retry_kind::write ? "write " : "read ") << bits;
        }
}

TEST(rescue, command_that_leaves_a_deposed_primary_is_repeated)
{
    for (const row& r : table) {
        if (!r.leaves)
            continue;
        const failed_attempt lost{.origin = failure_origin::network};
        const retry_decision d = decide(r.policy, r.progress, lost, token_bucket{}, now, 0.5);
        const bool by_deadline = r.policy.until.is_set() && r.progress.retries > 0;
        EXPECT_EQ(d.outcome,
                  by_deadline ? retry_outcome::after_deadline_backoff : retry_outcome::at_once)
            << r.what;
        EXPECT_EQ(d.progress.retries, r.progress.retries + 1) << r.what << ": it counts as a retry";
    }
}

}  // namespace
}  // namespace holdfast::core::mongo::rescue_test
