#pragma once
#include "shell/couchbase/execute/kv_attempts.hpp"

#include <memory>

namespace holdfast::shell::couchbase {

/// What observers get of a key-value operation: the part of kv_attempts that there is only if the
/// cluster is observed.
class kv_watch {
public:
    static bool is_on(const kv_attempts& of) noexcept
    {
        return of.call_.more && of.call_.more->watch;
    }

    /// For an operation that is built, of a cluster that is observed; before its first attempt.
    static void begin(kv_attempts& of);
    static void attempt_began(kv_attempts& of, time_point now);
    /// Instead of end_of_attempt(), which it calls.
    static result<kv_attempts::answer> attempt_ended(kv_attempts& of, runtime::wait_end end);
    static void ended(kv_attempts& of, const error* why);

    /// For the report on a late reply; null if that is not wanted.
    static std::unique_ptr<given_up_request> given_up(const kv_attempts& of,
                                                      observed::orphan_cause because);
};

}  // namespace holdfast::shell::couchbase
