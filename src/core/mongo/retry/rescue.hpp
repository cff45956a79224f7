#pragma once
#include "core/mongo/retry/decide.hpp"

namespace holdfast::core::mongo {

/// Whether a command that is in flight on a primary is given up when a newer primary deposes that
/// one, to be sent to the newer one: a frozen server would hold it for as long as it is frozen. The
/// new attempt is a retry like any other, so only those are given up that decide() would repeat
/// after a lost connection, at once or, if only the deadline allows one more, after a short wait.
/// All others wait for their reply, whatever it will be.
bool would_be_repeated(const retry_policy& policy, const retry_progress& progress, time_point now);

/// The same without asking decide() for a first attempt without a deadline, as nearly all are.
inline bool leaves_deposed_primary(const retry_policy& policy, const retry_progress& progress,
                                   time_point now)
{
    if (!policy.repeatable)
        return false;
    if (progress.failed_before || policy.until.is_set()) [[unlikely]]
        return would_be_repeated(policy, progress, now);
    return policy.kind == retry_kind::write ? policy.retry_writes : policy.retry_reads;
}

}  // namespace holdfast::core::mongo
