#include "core/mongo/retry/decide.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "core/mongo/sdam/application_error.hpp"
#include "core/mongo/select/suitable.hpp"
#include "core/pool/errc.hpp"
#include "core/pool/pool.hpp"
#include "core/retry/circuit_breaker.hpp"

#include <gtest/gtest.h>

/// The settings that hold if none is given. Each of these values is a promise of the documentation.
namespace holdfast::core::mongo::defaults_test {
namespace {

using namespace std::chrono_literals;

TEST(default_settings, retry_policy_matches_the_specification)
{
    const retry_policy policy;
    EXPECT_FALSE(policy.repeatable) << "safe until shown to be";
    EXPECT_TRUE(policy.retry_reads && policy.retry_writes);
    EXPECT_FALSE(policy.adaptive || policy.retarget_on_overload || policy.until.is_set());
    EXPECT_EQ(policy.profile.name, profile_name::as_specified);
    const retry_progress progress;
    EXPECT_EQ(progress.retries, 0u);
    EXPECT_FALSE(progress.overload_seen || progress.failed_before);
    const failed_attempt failed;
    EXPECT_FALSE(failed.labels.retryable_write || failed.labels.no_writes_performed ||
                 failed.labels.system_overloaded || failed.labels.retryable || failed.sharded);
    EXPECT_EQ(failed.max_wire_version, 0);
    EXPECT_EQ(token_bucket{}.level().tenths, 10'000);
    EXPECT_EQ(tokens{}.tenths, 0);
    const retry_decision decision;
    EXPECT_FALSE(decision.retries() || decision.avoids_server);
    EXPECT_TRUE(decision.reports_this);
}

TEST(default_settings, command_without_a_name_is_not_retryable)
{
    const write_command command{.name = "insert"};
    EXPECT_TRUE(takes_transaction_number(command, 21));
    EXPECT_FALSE(takes_transaction_number({.name = ""}, 21));
    EXPECT_FALSE(is_retryable_read(""));
}

TEST(default_settings, topology_settings_match_the_specification)
{
    const topology_settings settings;
    EXPECT_FALSE(settings.direct_connection || settings.load_balanced || settings.replica_set);
    EXPECT_EQ(topology_description{}.seed_count, 0u);
    const application_error e{.server = {}, .cause = error{pool_errc::cleared, ""}};
    EXPECT_EQ(e.kind, failure_kind::network);
    EXPECT_EQ(e.phase, connection_phase::ready);
    EXPECT_EQ(e.generation, 0u);
    EXPECT_EQ(e.max_wire_version, 0);
    const clear_pool clear{.server = {}, .cause = e.cause};
    EXPECT_FALSE(clear.interrupt_in_use || clear.service_id);
    EXPECT_EQ(topology_version{}.counter, 0);
}

TEST(default_settings, selection_settings_match_the_specification)
{
    const selection_settings settings;
    EXPECT_EQ(settings.local_threshold, 15ms);
    EXPECT_EQ(settings.heartbeat_frequency, 10s);
    EXPECT_EQ(selection_request{}.kind, operation_kind::write);
}

TEST(default_settings, pool_settings_match_the_cmap_specification)
{
    const core::pool_settings settings;
    EXPECT_EQ(settings.max_size, 100u);
    EXPECT_EQ(settings.min_size, 0u);
    EXPECT_EQ(settings.max_connecting, 2u);
    EXPECT_EQ(settings.max_idle, duration::zero());
    const connection_pool pool{settings};
    EXPECT_EQ(pool.total() + pool.idle() + pool.opening() + pool.waiting(), 0u);
    EXPECT_EQ(pool.generation(), 0u);
    EXPECT_EQ(pool.generation(core::pool_partition{{1}}), 0u);
    EXPECT_FALSE(pool.has_effects());
}

TEST(default_settings, circuit_breaker_settings_match_the_rfc)
{
    const circuit_breaker_settings settings;
    EXPECT_EQ(settings.volume, 20u);
    EXPECT_EQ(settings.error_percentage, 50u);
    EXPECT_EQ(settings.sleep_window, 5s);
    EXPECT_EQ(settings.rolling_window, 1min);
}

}  // namespace
}  // namespace holdfast::core::mongo::defaults_test
