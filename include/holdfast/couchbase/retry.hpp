#pragma once
#include "holdfast/couchbase/retry_reason.hpp"
#include "holdfast/error.hpp"

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace holdfast::couchbase {

enum class service_type : std::uint8_t { key_value, query, analytics, search, views, management };

/// Whatever a user attaches to a request for his own strategy to see.
using client_context = std::map<std::string, std::any, std::less<>>;

/// The decision of a strategy. A class, not a bare duration, so that more can be asked for later.
class retry_action {
public:
    static retry_action with_duration(duration wait) { return retry_action{wait, std::nullopt}; }
    static retry_action no_retry() { return retry_action{std::nullopt, std::nullopt}; }
    /// No retry either; but the caller gets this error, not that of the last attempt.
    static retry_action fail_with(error why) { return {std::nullopt, std::move(why)}; }

    /// Empty: do not retry.
    std::optional<duration> wait() const noexcept { return wait_; }
    const std::optional<error>& chosen_error() const noexcept { return error_; }

private:
    retry_action(std::optional<duration> wait, std::optional<error> why)
        : wait_{wait}, error_{std::move(why)}
    {
    }

    std::optional<duration> wait_;
    std::optional<error> error_;
};

/// The way back for a strategy that answers later. Call it once, from any thread. Dropping it
/// uncalled fails the request with errc::retry_strategy_failure; keeping it for ever
/// loses it to the request's deadline.
class retry_reply {
public:
    using receiver = std::function<void(result<retry_action>)>;  // must not throw

    explicit retry_reply(receiver to);
    retry_reply(retry_reply&&) noexcept;
    retry_reply& operator=(retry_reply&&) noexcept;
    ~retry_reply();

    void operator()(retry_action action) { deliver(std::move(action)); }
    void operator()(error why) { deliver(std::move(why)); }

    /// Calls `start` with this reply. What it throws is the answer, unless it has handed the reply
    /// on by then, to the code that will give one.
    void pass_to(const std::function<void(retry_reply)>& start) &&;

private:
    struct slot;
    void deliver(result<retry_action> answer);

    std::shared_ptr<slot> slot_;
};

/// The result of retry_after(): an action, or a promise to give one later.
class retry_answer {
public:
    using starter = std::function<void(retry_reply)>;

    retry_answer(retry_action now) : what_{std::move(now)} {}
    /// `start` is called once, at once, and must not block: it may start a coroutine, post to a
    /// thread, or call a service, and hands the reply on to whatever will know the answer.
    static retry_answer later(starter start) { return retry_answer{std::move(start)}; }

    const retry_action* at_once() const noexcept { return std::get_if<retry_action>(&what_); }
    const starter* start() const noexcept { return std::get_if<starter>(&what_); }

private:
    explicit retry_answer(starter start) : what_{std::move(start)} {}

    std::variant<retry_action, starter> what_;
};

class retry_request;

/// Decides whether and when a request is sent again. An advanced interface: most users need none
/// of their own, and most who do derive from one of the two below and override a single case.
///
/// It is asked by many requests at once, from whatever threads run them; hence const. It may throw:
/// the request then ends with that error. It cannot cause harm: whatever it answers, a change that
/// may have been made is not sent twice, and no request outlives its deadline.
class retry_strategy {
public:
    virtual ~retry_strategy() = default;
    /// The request lives until this returns, not until a later answer: copy what is needed then.
    virtual retry_answer retry_after(const retry_request& request, retry_reason reason) const = 0;
};

using retry_strategy_ptr = std::shared_ptr<const retry_strategy>;

/// The request's own strategy, else the cluster's, else the default.
retry_strategy_ptr choose_strategy(retry_strategy_ptr of_request, retry_strategy_ptr of_cluster);

/// A new fast_fail_on_terminal_error_retry_strategy.
retry_strategy_ptr default_retry_strategy();

/// The state of a request while it is tried, for strategies and for errors.
class retry_request {
public:
    struct settings {
        std::string operation = {};  // "get", "query": for people
        service_type service = service_type::key_value;
        bool idempotent = false;  // unless it is known to be safe to repeat
        retry_strategy_ptr strategy = {};  // empty: the default
        std::optional<time_point> deadline = {};
        std::shared_ptr<const client_context> context = {};
    };
    explicit retry_request(settings of);

    const std::string& operation() const noexcept { return settings_.operation; }
    service_type service() const noexcept { return settings_.service; }
    bool idempotent() const noexcept { return settings_.idempotent; }
    const retry_strategy_ptr& strategy() const noexcept { return settings_.strategy; }
    std::optional<time_point> deadline() const noexcept { return settings_.deadline; }

    /// The value a user attached under this name, or null.
    const std::any* context(std::string_view name) const;

    /// Retries made so far: 0 when the first attempt has failed.
    std::uint32_t retry_attempts() const noexcept { return attempts_; }
    /// The reasons of those retries, without the one that is being decided.
    const retry_reason_set& retry_reasons() const noexcept { return reasons_; }
    /// The error of the attempt that is being decided, or null.
    const error* last_failure() const noexcept { return failure_ ? &*failure_ : nullptr; }

    void increment_retry_attempts(retry_reason because);
    void failed_with(error why) { failure_ = std::move(why); }

private:
    settings settings_;
    std::uint32_t attempts_ = 0;
    retry_reason_set reasons_;
    std::optional<error> failure_;
};

/// The wait before a retry, from the number of retries already made.
using backoff_calculator = std::function<duration(std::uint32_t attempts_made)>;

/// 1, 2, 4 ... 256, 500, 500 ms.
backoff_calculator exponential_retry_backoff();

/// Retries all that is safe to retry, until the deadline.
class best_effort_retry_strategy : public retry_strategy {
public:
    explicit best_effort_retry_strategy(backoff_calculator backoff = exponential_retry_backoff());
    retry_answer retry_after(const retry_request& request, retry_reason reason) const override;

private:
    backoff_calculator backoff_;
};

/// The default. Like best effort, but what will not mend itself fails at once, with the error that
/// says what to do: wrong credentials, a rejected certificate, a bucket, scope or collection that
/// is not there.
///
/// VOLATILE, and for good: which errors count as terminal may change in any release, whenever that
/// serves most users better. Who needs the behaviour fixed copies this class into his own code; the
/// public headers are all it needs.
class fast_fail_on_terminal_error_retry_strategy : public best_effort_retry_strategy {
public:
    using best_effort_retry_strategy::best_effort_retry_strategy;
    retry_answer retry_after(const retry_request& request, retry_reason reason) const override;
};

}  // namespace holdfast::couchbase
