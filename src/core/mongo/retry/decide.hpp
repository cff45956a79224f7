#pragma once
#include "core/mongo/retry/classify.hpp"
#include "core/mongo/settings/profile.hpp"
#include "core/retry/deadline.hpp"
#include "core/retry/token_bucket.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::core::mongo {

/// Whose rules an operation follows.
enum class retry_kind : std::uint8_t {
    read,
    write,
    generic,          // runCommand: its body is not parsed, so both options must agree
    end_transaction,  // commit and abort are repeated whatever the options say
};

/// What does not change while an operation is tried.
struct retry_policy {
    retry_kind kind = retry_kind::read;
    /// A write that carries a transaction number, or a read of the retryable kind. Only such
    /// operations are repeated after a lost connection or a state change; overload is for all.
    bool repeatable = false;
    bool retry_reads = true;
    bool retry_writes = true;
    bool adaptive = false;              // adaptiveRetries: the token bucket is asked
    bool retarget_on_overload = false;  // enableOverloadRetargeting
    deadline until = {};                // set by timeoutMS
    resilience_profile profile = as_specified;
};

/// What one operation has been through.
struct retry_progress {
    std::uint32_t retries = 0;  // of every kind
    bool overload_seen = false;
    bool failed_before = false;
};

/// Why it is tried again, or why not.
enum class retry_outcome : std::uint8_t {
    at_once,
    after_backoff,
    after_deadline_backoff,  // a retry beyond the limit, which only the deadline allows
    switched_off,     // by retryReads or retryWrites
    final_error,      // repeating would not help
    not_repeatable,   // repeating might apply it twice
    limit_reached,
    deadline_passed,
    wait_too_long,    // it would end after the deadline
    budget_used_up,
};

struct retry_decision {
    retry_outcome outcome = retry_outcome::final_error;
    duration wait{};  // before the next attempt, or what it would have been
    /// Whether the application sees this error if the operation ends now; if not, the one that the
    /// last decision with this flag was about.
    bool reports_this = true;
    /// Whether the next selection avoids the server that failed.
    bool avoids_server = false;
    retry_progress progress = {};
    token_bucket tokens{};

    constexpr bool retries() const noexcept
    {
        return outcome == retry_outcome::at_once || outcome == retry_outcome::after_backoff ||
               outcome == retry_outcome::after_deadline_backoff;
    }
};

/// The one decision about a failed attempt. `chance` in [0, 1) is drawn anew for each call.
retry_decision decide(const retry_policy& policy, const retry_progress& progress,
                      const failed_attempt& failed, token_bucket tokens, time_point now,
                      double chance);

/// The bucket after an attempt that went well.
token_bucket reward(const retry_policy& policy, const retry_progress& progress,
                    token_bucket tokens);

/// The wait before retry number `retry` (from 1) after an overload error.
duration overload_backoff(const resilience_profile& profile, std::uint32_t retry,
                          std::optional<duration> base_from_server, double chance);

/// The wait before a retry that only the deadline allows, `nth` from 1. Without it an error that
/// comes back at once would be answered by thousands of commands a second.
duration deadline_backoff(std::uint32_t nth, double chance);

/// The sentence for the attempt log.
std::string describe(const retry_decision& decision);

}  // namespace holdfast::core::mongo
