#include "core/mongo/retry/decide.hpp"

#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::core::mongo::decide_test {
namespace {

using namespace std::chrono_literals;
using enum retry_outcome;

constexpr time_point now{1h};
constexpr double nearly_one = 1 - 1e-12;
const token_bucket full{};

failed_attempt network()
{
    return {.origin = failure_origin::network};
}
failed_attempt overloaded()
{
    return {.origin = failure_origin::server,
            .labels = {.system_overloaded = true, .retryable = true},
            .code = 462,
            .max_wire_version = 27};
}
failed_attempt duplicate_key()
{
    return {.origin = failure_origin::server, .code = 11000, .max_wire_version = 27};
}
failed_attempt unsent(failed_attempt what)
{
    what.sent = false;
    return what;
}
failed_attempt our_own()
{
    return {.origin = failure_origin::client};
}

const retry_policy write{.kind = retry_kind::write, .repeatable = true};
const retry_policy read{.kind = retry_kind::read, .repeatable = true};
const retry_policy update_many{.kind = retry_kind::write, .repeatable = false};
const retry_policy run_command{.kind = retry_kind::generic, .repeatable = false};

/// The decision about the last of some failures.
retry_decision after(const retry_policy& policy, const std::vector<failed_attempt>& failures,
                     token_bucket bucket = full, double chance = 0.5, time_point when = now)
{
    retry_decision d;
    retry_progress progress;
    for (const failed_attempt& f : failures) {
        d = decide(policy, progress, f, bucket, when, chance);
        progress = d.progress;
        bucket = d.tokens;
    }
    return d;
}

/// How often an operation is tried that always fails in the same way.
int executions(const retry_policy& policy, const failed_attempt& always, int most = 50)
{
    std::vector<failed_attempt> failures;
    for (int n = 1; n <= most; ++n) {
        failures.push_back(always);
        if (!after(policy, failures).retries())
            return n;
    }
    return most;
}

TEST(retry_decision, one_retry_without_timeout_unlimited_with_timeout_ms)
{
    VERIFIES("RW-055");
    VERIFIES("BP-033");
    EXPECT_EQ(executions(write, network()), 2);
    EXPECT_EQ(executions(read, network()), 2);
    retry_policy with_timeout = write;
    with_timeout.until = deadline{now + 1h};
    EXPECT_EQ(executions(with_timeout, network()), 50);
}

TEST(retry_decision, retries_beyond_the_limit_wait_and_never_past_the_deadline)
{
    VERIFIES("BP-033");
    retry_policy policy = write;
    policy.until = deadline{now + 1h};
    EXPECT_EQ(after(policy, {network()}).wait, 0ms);
    std::vector<failed_attempt> failures{network()};
    for (const auto longest : {50ms, 100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
        failures.push_back(network());
        const retry_decision d = after(policy, failures, full, 0.0);
        EXPECT_EQ(d.outcome, after_deadline_backoff);
        EXPECT_EQ(d.wait, longest / 2);
        const duration most = after(policy, failures, full, nearly_one).wait;
        EXPECT_GT(most, longest - 1ms);
        EXPECT_LE(most, longest);
    }
    policy.until = deadline{now + 24ms};
    EXPECT_EQ(after(policy, {network(), network()}, full, 0.0).outcome, wait_too_long);
}

TEST(retry_decision, retries_after_overload_within_the_limit_are_not_delayed)
{
    VERIFIES("BP-030");
    VERIFIES("BP-035");
    retry_policy policy = write;
    policy.until = deadline{now + 1h};
    for (int lost = 1; lost <= 4; ++lost) {
        std::vector<failed_attempt> failures{overloaded()};
        failures.insert(failures.end(), static_cast<std::size_t>(lost), network());
        EXPECT_EQ(after(policy, failures).outcome, at_once) << lost;
        EXPECT_EQ(after(policy, failures).wait, 0ms) << lost;
    }
    // The wait of an overload error is its own, also after retries that only the deadline allowed.
    EXPECT_EQ(after(policy, {network(), network(), overloaded()}, full, 0.5).wait, 200ms);
}

TEST(retry_decision, retries_beyond_the_limit_leave_the_token_bucket_alone)
{
    VERIFIES("BP-029");
    retry_policy policy = write;
    policy.adaptive = true;
    policy.until = deadline{now + 1h};
    const token_bucket half{tokens::whole(500), tokens::whole(1000)};
    const token_bucket after_two = after(policy, {network(), network()}, half).tokens;
    EXPECT_EQ(after_two.level(), tokens::whole(501)) << "the first retry failed otherwise";
    const retry_decision fifth = after(
        policy, {network(), network(), network(), network(), network()}, half);
    EXPECT_TRUE(fifth.retries());
    EXPECT_EQ(fifth.tokens, after_two);
    EXPECT_EQ(reward(policy, fifth.progress, half).level(), tokens{5001});
}

TEST(retry_decision, overload_allows_five_retries_of_any_operation)
{
    VERIFIES("BP-013");
    VERIFIES("BP-014");
    VERIFIES("BP-032");
    for (retry_policy policy : {write, read, update_many, run_command}) {
        EXPECT_EQ(executions(policy, overloaded()), 6);
        policy.until = deadline{now + 1h};
        EXPECT_EQ(executions(policy, overloaded()), 6);
    }
    retry_policy upstream = write;
    upstream.profile = upstream_2026_07;
    EXPECT_EQ(executions(upstream, overloaded()), 3);
}

TEST(retry_decision, overload_is_retried_for_non_retryable_commands)
{
    VERIFIES("BP-010");
    VERIFIES("RW-033");
    VERIFIES("RW-035");
    EXPECT_EQ(after(update_many, {network()}).outcome, not_repeatable);
    EXPECT_EQ(after(run_command, {network()}).outcome, not_repeatable);
    EXPECT_EQ(after(update_many, {overloaded()}).outcome, after_backoff);
    failed_attempt half = overloaded();
    half.labels.retryable = false;
    EXPECT_FALSE(after(update_many, {half}).retries());
}

TEST(retry_decision, retry_reads_and_retry_writes_false_switch_retries_off)
{
    struct row {
        retry_kind kind;
        bool reads, writes, expected;
    };
    const row table[] = {
        {retry_kind::read, true, false, true},      {retry_kind::read, false, true, false},
        {retry_kind::write, true, false, false},    {retry_kind::write, false, true, true},
        {retry_kind::generic, true, true, true},    {retry_kind::generic, true, false, false},
        {retry_kind::generic, false, true, false},  {retry_kind::generic, false, false, false},
        {retry_kind::read, false, false, false},    {retry_kind::write, false, false, false},
        {retry_kind::end_transaction, false, false, true},
    };
    for (const char* id : {"BP-015", "BP-016", "BP-057", "BP-058", "RW-017", "BP-056"})
        VERIFIES_ROW(id);
    for (const row& r : table) {
        const retry_policy policy{
            .kind = r.kind, .repeatable = true, .retry_reads = r.reads, .retry_writes = r.writes};
        EXPECT_EQ(after(policy, {overloaded()}).retries(), r.expected);
        EXPECT_EQ(after(policy, {network()}).retries(), r.expected);
        EXPECT_EQ(after(policy, {network()}).outcome, r.expected ? at_once : switched_off);
    }
    EXPECT_TRUE(retry_policy{}.retry_reads && retry_policy{}.retry_writes);
}

TEST(retry_decision, backoff_doubles_from_100_ms_with_every_retry)
{
    VERIFIES("BP-017");
    VERIFIES("BP-011");
    VERIFIES("BP-018");
    std::vector<failed_attempt> failures;
    for (const auto wait : {100ms, 200ms, 400ms, 800ms, 1600ms}) {
        failures.push_back(overloaded());
        const duration chosen = after(write, failures, full, nearly_one).wait;
        EXPECT_LE(chosen, wait);
        EXPECT_GT(chosen, wait - 1ms);
        EXPECT_EQ(after(write, failures, full, 0.5).wait, wait / 2);
        EXPECT_EQ(after(write, failures, full, 0.0).wait, 0ms);
    }
    EXPECT_EQ(after(write, {network(), overloaded()}, full, 0.5).wait, 100ms);
}

TEST(retry_decision, backoff_applies_only_to_overload_errors)
{
    VERIFIES("BP-030");
    VERIFIES("BP-034");
    EXPECT_EQ(after(write, {network()}).outcome, at_once);
    EXPECT_EQ(after(write, {network()}).wait, 0ms);
    EXPECT_EQ(after(write, {overloaded()}).outcome, after_backoff);
    failed_attempt labelled_network = network();
    labelled_network.labels.system_overloaded = true;
    EXPECT_EQ(after(write, {labelled_network}).outcome, after_backoff);
    EXPECT_EQ(executions(write, labelled_network), 6);
}

TEST(retry_decision, overload_limit_of_five_applies_from_the_first_overload_on)
{
    VERIFIES("BP-031");
    VERIFIES("BP-060");
    EXPECT_TRUE(after(write, {overloaded(), network(), network(), network(), network()}).retries());
    EXPECT_EQ(
        after(write, {overloaded(), network(), network(), network(), network(), network()}).outcome,
        limit_reached);
    EXPECT_TRUE(after(write, {network(), overloaded(), overloaded(), overloaded(), overloaded()})
                    .retries());
    EXPECT_EQ(after(write, {network(), network()}).outcome, limit_reached);
}

TEST(retry_decision, backoff_past_the_deadline_ends_without_spending_a_token)
{
    VERIFIES("BP-036");
    retry_policy policy = write;
    policy.adaptive = true;
    policy.until = deadline{now + 50ms};
    const retry_decision d = after(policy, {overloaded()}, full, 0.75);
    EXPECT_EQ(d.outcome, wait_too_long);
    EXPECT_EQ(d.tokens, full);
    EXPECT_EQ(after(policy, {overloaded()}, full, 0.5).outcome, after_backoff) << "exactly in time";
    EXPECT_EQ(after(policy, {network()}, full, 0.5, now + 50ms).outcome, deadline_passed);
}

TEST(retry_decision, token_is_spent_for_overload_retries_only)
{
    VERIFIES("BP-028");
    VERIFIES("BP-029");
    VERIFIES("BP-026");
    retry_policy policy = write;
    policy.adaptive = true;
    const token_bucket two{tokens::whole(2), tokens::whole(1000)};
    EXPECT_TRUE(after(policy, {overloaded(), overloaded()}, two).retries());
    EXPECT_EQ(after(policy, {overloaded(), overloaded(), overloaded()}, two).outcome,
              budget_used_up);
    const token_bucket none{tokens{}, tokens::whole(1000)};
    EXPECT_TRUE(after(policy, {network()}, none).retries());
    const retry_decision refunded = after(policy, {overloaded(), duplicate_key()}, two);
    EXPECT_EQ(refunded.outcome, final_error);
    EXPECT_EQ(refunded.tokens, two);
}

TEST(retry_decision, first_attempt_failing_otherwise_returns_no_token)
{
    VERIFIES("BP-027");
    retry_policy policy = write;
    policy.adaptive = true;
    const token_bucket half{tokens::whole(500), tokens::whole(1000)};
    EXPECT_EQ(after(policy, {duplicate_key()}, half).tokens, half);
}

TEST(retry_decision, token_bucket_is_untouched_without_adaptive_retries)
{
    VERIFIES("BP-040");
    const token_bucket none{tokens{}, tokens::whole(1000)};
    EXPECT_TRUE(after(write, {overloaded()}, none).retries());
    EXPECT_EQ(after(write, {overloaded(), duplicate_key()}, none).tokens, none);
    EXPECT_EQ(reward(write, {}, none), none);
    retry_policy upstream = write;
    upstream.adaptive = true;
    upstream.profile = upstream_2026_07;
    EXPECT_TRUE(after(upstream, {overloaded()}, none).retries());
}

TEST(reward, success_returns_a_tenth_and_the_token_of_the_retry)
{
    VERIFIES("BP-024");
    VERIFIES("BP-025");
    retry_policy policy = write;
    policy.adaptive = true;
    const token_bucket half{tokens::whole(500), tokens::whole(1000)};
    EXPECT_EQ(reward(policy, {}, half).level(), tokens{5001});
    EXPECT_EQ(reward(policy, {.retries = 1}, half).level(), tokens{5011});
    EXPECT_EQ(reward(policy, {.retries = 1}, full), full);
}

TEST(retry_decision, failed_server_is_deprioritized_on_every_retry)
{
    VERIFIES("BP-020");
    VERIFIES("BP-037");
    EXPECT_TRUE(after(write, {overloaded()}).avoids_server);
    EXPECT_TRUE(after(write, {network()}).avoids_server);
    EXPECT_FALSE(after(write, {duplicate_key()}).avoids_server);
}

TEST(retry_decision, upstream_deprioritizes_only_if_sharded_or_retargeting)
{
    retry_policy policy = write;
    policy.profile = upstream_2026_07;
    failed_attempt sharded = network();
    sharded.sharded = true;
    EXPECT_TRUE(after(policy, {sharded}).avoids_server);
    EXPECT_FALSE(after(policy, {network()}).avoids_server);
    EXPECT_FALSE(after(policy, {overloaded()}).avoids_server);
    policy.retarget_on_overload = true;
    EXPECT_TRUE(after(policy, {overloaded()}).avoids_server);
    EXPECT_FALSE(after(policy, {network()}).avoids_server);
}

TEST(retry_decision, upstream_backoff_uses_base_backoff_ms_of_the_server)
{
    retry_policy policy = write;
    policy.profile = upstream_2026_07;
    EXPECT_EQ(after(policy, {overloaded()}, full, 0.5).wait, 100ms);
    EXPECT_EQ(after(policy, {overloaded(), overloaded()}, full, 0.5).wait, 200ms);
    failed_attempt hinted = overloaded();
    hinted.base_backoff = 10ms;
    EXPECT_EQ(after(policy, {hinted}, full, 0.5).wait, 10ms);
    EXPECT_EQ(after(write, {hinted}, full, 0.5).wait, 50ms) << "not under the seeds";
    hinted.base_backoff = -10ms;
    EXPECT_EQ(after(policy, {hinted}, full, 0.5).wait, 100ms);
}

TEST(retry_decision, no_writes_performed_label_selects_the_reported_error)
{
    failed_attempt nothing_written = overloaded();
    nothing_written.labels.no_writes_performed = true;
    struct row {
        const char* id;
        std::vector<failed_attempt> failures;
        bool newest;
    };
    const row table[] = {
        {"RW-045", {our_own()}, true},
        {"RW-051", {network(), network()}, true},
        {"RW-052", {network(), overloaded()}, true},
        {"RW-053", {network(), duplicate_key()}, true},
        {"RW-048", {network(), our_own()}, false},
        {"RW-054", {network(), our_own()}, false},
        {"RW-054", {network(), unsent(network())}, false},
        {"RW-054", {overloaded(), unsent(duplicate_key())}, false},
        {"RW-054", {unsent(network()), unsent(network())}, false},
        {"RW-051", {unsent(network()), network()}, true},
        {"BP-023", {overloaded(), our_own()}, false},
        {"BP-039", {network(), nothing_written}, false},
        {"BP-059", {overloaded(), overloaded(), duplicate_key()}, true},
        {"BP-039", {nothing_written, nothing_written}, false},
        {"BP-039", {nothing_written, network()}, true},
    };
    for (const row& r : table) {
        VERIFIES_ROW(r.id);
        EXPECT_EQ(after(write, r.failures).reports_this, r.newest) << r.id;
    }
    EXPECT_FALSE(after(run_command, {overloaded(), our_own()}).reports_this) << "as for a write";
    EXPECT_TRUE(after(read, {network(), unsent(network())}).reports_this) << "reads: the newest";
    EXPECT_FALSE(after(read, {network(), our_own()}).reports_this);
}

TEST(retry_decision, client_errors_end_the_operation)
{
    EXPECT_EQ(after(write, {our_own()}).outcome, final_error);
    EXPECT_EQ(after(read, {our_own()}).outcome, final_error);
    EXPECT_EQ(after(write, {{.origin = failure_origin::pool_cleared}}).outcome, at_once);
}

TEST(retry_decision_description, description_is_distinct_for_every_decision)
{
    retry_policy policy = write;
    policy.until = deadline{now + 10ms};
    EXPECT_EQ(describe(after(write, {network()})), "retry 1, at once");
    EXPECT_EQ(describe(after(write, {overloaded()})),
              "retry 1, after 50 ms: the server is overloaded");
    EXPECT_EQ(describe(after(write, {network(), network()})),
              "not retried: one retry is the limit");
    EXPECT_EQ(describe(after(policy, {overloaded()})),
              "not retried: a wait of 50 ms would end after the deadline");
    policy.until = deadline{now + 1h};
    EXPECT_EQ(describe(after(policy, {network(), network(), network()})),
              "retry 3, after 75 ms: the deadline allows more");
    EXPECT_EQ(describe(after(update_many, {network()})),
              "not retried: another attempt might apply it twice");
    EXPECT_EQ(describe(after(write, {duplicate_key()})),
              "not retried: another attempt would not help");
}

}  // namespace
}  // namespace holdfast::core::mongo::decide_test
