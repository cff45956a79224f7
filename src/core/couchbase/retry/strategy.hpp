#pragma once
#include "core/couchbase/retry/names.hpp"

#include <exception>

namespace holdfast::core::couchbase {

/// Asks a strategy and sees to it that `reply` hears something: what it answers, now or later, or
/// the error it threw. The only way the library calls a user's strategy.
void consult(const retry_strategy& strategy, const retry_request& request, retry_reason reason,
             retry_reply reply);

/// An exception as an error. holdfast::failure brings its own; a system error keeps its code; all
/// else becomes errc::retry_strategy_failure with what it says.
error error_of(std::exception_ptr thrown);

/// INTERNAL: not part of the public interface, and it shall not become part of it. For commands of
/// the library itself that are repeated anyway, such as polling for a config. Always-retry reasons
/// are retried all the same, since no strategy is asked about them.
class strict_fail_fast_strategy final : public retry_strategy {
public:
    retry_answer retry_after(const retry_request&, retry_reason) const override
    {
        return retry_action::no_retry();
    }
};

}  // namespace holdfast::core::couchbase
