#pragma once
#include "shell/observe/observation.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::shell {

/// What an attempt came to, for operation_watch.
struct attempt_outcome {
    dispatch_phase phase = dispatch_phase::answered;
    std::optional<std::chrono::microseconds> server_duration = {};
    error_code code = {};          // none: it succeeded
    std::string_view reason = {};  // of a retry, if there is one; a literal
};

/// Follows one operation for the observers of its client, and for the report on slow requests. The
/// code that executes the operation has one if its client has an observation, and calls:
///
///   operation_watch watch{*observation, facts, owner};  // when the operation begins
///   watch.encoded(now);                                 // its first request is built
///   watch.attempt_began(connection, "0x400", now);      // for each request that is sent
///   watch.attempt_ended(now, outcome);                  // before any decision on a retry
///   watch.ended(now, why, retries);                     // the outcome is known
///
/// None of it waits, or calls code of the application. One call at a time; the last one may be
/// missing, and so may attempt_ended(): the operation then was cancelled, or destroyed with its
/// executor, and is reported so.
class operation_watch {
public:
    /// `facts`: all but the id, and the time by the wall clock. Its views are of literals, or of
    /// what `keeps` owns. `by` outlives this.
    operation_watch(observation& by, observed::operation facts, std::shared_ptr<const void> keeps);
    operation_watch(const operation_watch&) = delete;
    operation_watch& operator=(const operation_watch&) = delete;
    ~operation_watch();

    void encoded(time_point now) noexcept { encoding_ = now - facts().began; }
    /// `request`: its id on the wire.
    void attempt_began(std::shared_ptr<const observed::connection> over, std::string request,
                       time_point now);
    void attempt_ended(time_point now, const attempt_outcome& with);
    /// `why`: null for a success. `retries`: also those that sent nothing.
    void ended(time_point now, const error* why, std::uint32_t retries);

    const observed::operation& facts() const noexcept { return operation_.facts; }

private:
    core::reported_request describe(duration total) const;

    observation& by_;
    kept_operation operation_;
    std::shared_ptr<const kept_operation> fed_ = {};  // if the observers are notified of it
    bool has_ended_ = false;
    std::uint32_t attempts_ = 0;
    std::optional<duration> encoding_ = {};

    // Of the last attempt.
    bool in_attempt_ = false;
    time_point sent_{};
    duration last_dispatch_{};
    std::optional<duration> last_server_ = {};
    std::shared_ptr<const observed::connection> over_ = {};
    std::string request_ = {};
    std::shared_ptr<const kept_attempt> attempt_ = {};  // if the observers are notified of it

    // Of all of them.
    duration total_dispatch_{};
    std::optional<duration> total_server_ = {};
};

}  // namespace holdfast::shell
