#pragma once
#include "core/retry/attempt_log.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::shell::mongo {

/// The attempts of one operation, for the error that its caller gets. Costs nothing until one
/// fails.
class attempt_history {
public:
    explicit attempt_history(time_point began) noexcept : began_{began} {}

    time_point began() const noexcept { return began_; }

    void start_attempt(time_point now) noexcept
    {
        attempt_began_ = now;
        phase_ = dispatch_phase::not_sent;
        server_ = {};
    }
    time_point attempt_began() const noexcept { return attempt_began_; }

    /// How far the attempt has come.
    void reached(dispatch_phase phase) noexcept { phase_ = phase; }
    bool was_sent() const noexcept { return phase_ != dispatch_phase::not_sent; }

    /// The attempt has failed on this server; empty if it found none.
    void failed_on(const endpoint& server) { server_ = server; }
    const endpoint& server() const noexcept { return server_; }

    /// Adds the attempt that has just failed.
    void record(const error& why, std::string decision, duration wait, time_point now);

    /// The error that the caller gets if no later attempt replaces it.
    const std::optional<error>& reported() const noexcept { return reported_; }
    void report(error why) { reported_ = std::move(why); }

    std::vector<attempt> attempts() const { return log_.entries(); }

    /// The errors that end the operation, with all attempts.
    error complete(error why) const { return std::move(why).with_history(log_.entries()); }
    error complete_reported() const { return complete(*reported_); }
    /// Something else than a failed attempt has ended it: `text` is followed by the last failure.
    error interrupted(error_code code, std::string text) const;

private:
    const time_point began_;
    time_point attempt_began_{};
    dispatch_phase phase_ = dispatch_phase::not_sent;
    endpoint server_;
    core::attempt_log log_;
    bool possibly_applied_ = false;  // beside the log, which forgets attempts
    std::optional<error> reported_;
};

}  // namespace holdfast::shell::mongo
