#include "core/retry/attempt_log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::attempt_log_test {
namespace {

attempt numbered(int n, dispatch_phase phase = dispatch_phase::answered)
{
    attempt one;
    one.server = endpoint{std::to_string(n)};
    one.phase = phase;
    return one;
}

TEST(attempt_log, attempts_keep_their_order)
{
    attempt_log log;
    for (int i = 0; i < 5; ++i)
        log.record(numbered(i));
    const auto entries = log.entries();
    ASSERT_EQ(entries.size(), 5u);
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(entries[static_cast<std::size_t>(i)].server.value(), std::to_string(i));
    EXPECT_EQ(log.dropped(), 0u);
}

TEST(attempt_log, long_history_drops_the_middle)
{
    constexpr int kept = attempt_log::kept_first + attempt_log::kept_last;
    for (const int total : {kept, kept + 1, kept + 47, kept + 48, 1000}) {
        SCOPED_TRACE(total);
        attempt_log log;
        for (int i = 0; i < total; ++i)
            log.record(numbered(i));
        EXPECT_EQ(log.count(), static_cast<std::uint64_t>(total));
        EXPECT_EQ(log.dropped(), static_cast<std::uint64_t>(total - kept));
        const auto entries = std::move(log).entries();
        ASSERT_EQ(entries.size(), static_cast<std::size_t>(kept));
        for (int i = 0; i < kept; ++i) {
            const bool early = i < static_cast<int>(attempt_log::kept_first);
            const int expected = early ? i : i + total - kept;
            ASSERT_EQ(entries[static_cast<std::size_t>(i)].server.value(),
                      std::to_string(expected));
        }
    }
}

TEST(attempt_log, dropped_entry_still_counts_as_lost_in_flight)
{
    attempt_log log;
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(log.lost_in_flight(), i > 20);
        log.record(numbered(i, i == 20 ? dispatch_phase::in_flight : dispatch_phase::answered));
    }
    EXPECT_TRUE(log.lost_in_flight());
}

TEST(is_ambiguous, only_non_idempotent_lost_attempts_are_ambiguous)
{
    struct row {
        bool idempotent, lost;
        dispatch_phase last;
        bool expected;
    };
    using enum dispatch_phase;
    const row table[] = {
        {false, false, not_sent, false}, {false, false, in_flight, true},
        {false, false, answered, false}, {false, true, not_sent, true},
        {false, true, answered, true},   {true, true, in_flight, false},
        {true, false, in_flight, false}, {true, true, answered, false},
    };
    for (const row& r : table)
        EXPECT_EQ(is_ambiguous(r.idempotent, r.lost, r.last), r.expected);
}

}  // namespace
}  // namespace holdfast::core::attempt_log_test
