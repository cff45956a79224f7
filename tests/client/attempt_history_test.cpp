#include "shell/mongo/execute/attempt_history.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/retry/labels.hpp"
#include "core/retry/attempt_log.hpp"
#include "holdfast/mongo/error.hpp"

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include <optional>

namespace holdfast::shell::mongo::attempt_history_test {
namespace {

using namespace std::chrono_literals;

/// The server lost its primary, and says that it wrote nothing.
error nothing_written()
{
    return error{error_code{10107, core::mongo::server_category()}, "not primary"}
        .with_label(core::mongo::label::retryable_write)
        .with_label(core::mongo::label::no_writes_performed);
}

/// The error of a write with so many attempts, of which one, counted from 1, was lost in flight.
error after(int attempts, std::optional<int> lost)
{
    attempt_history history{time_point{}};
    for (int n = 1; n <= attempts; ++n) {
        history.start_attempt(time_point{n * 1ms});
        const bool breaks = n == lost;
        history.reached(breaks ? dispatch_phase::in_flight : dispatch_phase::answered);
        const error why = breaks ? error{boost::asio::error::eof, "no reply"} : nothing_written();
        history.record(why, "retried", {}, time_point{n * 1ms});
    }
    return history.complete(nothing_written());
}

TEST(attempt_history, attempt_lost_in_flight_counts_although_its_entry_was_dropped)
{
    const error why = after(90, 20);
    ASSERT_EQ(why.history().size(), core::attempt_log::kept_first + core::attempt_log::kept_last);
    for (const attempt& one : why.history())
        ASSERT_NE(one.phase, dispatch_phase::in_flight) << "the lost one was to be dropped";
    EXPECT_TRUE(holdfast::mongo::may_have_been_applied(why));
}

TEST(attempt_history, refused_attempts_alone_leave_no_doubt)
{
    EXPECT_FALSE(holdfast::mongo::may_have_been_applied(after(90, std::nullopt)));
    EXPECT_TRUE(holdfast::mongo::may_have_been_applied(after(60, 20)));
}

}  // namespace
}  // namespace holdfast::shell::mongo::attempt_history_test
