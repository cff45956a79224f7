#pragma once
#include "core/couchbase/retry/names.hpp"
#include "core/retry/attempt_log.hpp"
#include "core/retry/token_bucket.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::core::couchbase {

/// One attempt, as far as it came.
struct started_attempt {
    endpoint server = {};
    dispatch_phase phase = dispatch_phase::not_sent;
    time_point started{};
};

/// One attempt that did not succeed, and why it might be made again.
struct failed_attempt {
    started_attempt attempt = {};
    retry_reason reason = retry_reason::unknown;
    error cause;  // what the caller gets if this was the last one
};

/// The state of a request between its attempts. A value: each function below takes one and gives
/// the next one back.
struct retry_state {
    enum class stage : std::uint8_t { attempting, asking, waiting, waiting_to_time_out, completed };

    retry_request request;
    time_point began{};
    attempt_log log = {};
    stage where = stage::attempting;
    std::optional<failed_attempt> pending = {};  // while its strategy is asked
};

/// The shell's next action. To retry is to sleep and then to call after_wait(). To time out is the
/// same, only that the deadline will have come by then. To ask is consult(), then with_answer().
/// Nothing is to be done when an answer comes too late, for a request that is over.
struct retry_after { duration wait; };
struct time_out_after { duration wait; };
struct ask_strategy { retry_reason reason; };
struct dispatch_now {};
struct complete { error why; };
struct nothing_to_do {};
using retry_decision =
    std::variant<retry_after, time_out_after, ask_strategy, dispatch_now, complete, nothing_to_do>;

/// For the log: every retry that is scheduled, and every one that is not.
struct retry_event {
    enum class kind : std::uint8_t { scheduled, not_retried };
    kind what;
    retry_reason reason;
    std::uint32_t attempts;  // retries, with this one
    duration wait;  // as it will be: capped
    std::string decision;  // the sentence why
    endpoint server = {};  // of the attempt; empty if no node was found for it
};
std::string to_text(const retry_event& event, const retry_request& request);

/// A bound on the retries of a whole cluster object, off unless the user wants it. A scheduled
/// retry costs one token, an operation that succeeds brings a tenth. Always-retry reasons are free:
/// they are the library's own business, and no choice of the user's.
using retry_budget = std::optional<token_bucket>;
inline constexpr tokens retry_cost = tokens::whole(1);
inline constexpr tokens success_refund = {1};

struct retry_step {
    retry_state state;
    retry_decision next;
    std::optional<retry_event> event = {};
    retry_budget budget = {};
};

/// The one entry from all places where an attempt fails.
retry_step maybe_retry(retry_state state, failed_attempt failed, time_point now,
                       retry_budget budget = {});

/// For a failure without a reason: an answer that ends the request, or a request that cannot be
/// sent. No strategy is asked.
retry_step never_retry(retry_state state, failed_attempt failed, time_point now);

/// A reply broke off after a part of it was handed out, "17 rows": so it is not asked for again.
retry_step broke_off(retry_state state, failed_attempt failed, time_point now,
                     std::string_view handed_out);

/// After ask_strategy: what it said, or the error it ended with.
retry_step with_answer(retry_state state, result<retry_action> answer, time_point now,
                       retry_budget budget = {});

/// After retry_after and time_out_after. A request that wakes at its deadline is not sent again.
retry_step after_wait(retry_state state, time_point now);

/// The deadline has come: while `open` was tried, or while the request waited for something else.
retry_step timed_out(retry_state state, std::optional<started_attempt> open, time_point now);

/// The caller has cancelled the request, or the cluster is closed.
retry_step cancelled(retry_state state, std::optional<started_attempt> open, time_point now);

/// The error for a reason, if the failure itself brought no better one.
error error_for(retry_reason reason, std::string detail);

}  // namespace holdfast::core::couchbase
