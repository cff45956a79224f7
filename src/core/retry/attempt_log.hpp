#pragma once
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace holdfast::core {

/// The attempts of an operation so far. Empty, and free, as long as nothing fails. A long log is
/// cut in the middle: its beginning has the cause, its end the present state.
class attempt_log {
public:
    static constexpr std::size_t kept_first = 16;
    static constexpr std::size_t kept_last = 48;

    void record(attempt one);

    /// All attempts that failed, also those whose entries were dropped.
    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t dropped() const noexcept { return count_ - entries_.size(); }

    /// In the order in which they happened; for error::with_history().
    std::vector<attempt> entries() &&;
    std::vector<attempt> entries() const&;

    /// Whether some attempt was sent and never answered: its effect is unknown for ever.
    bool lost_in_flight() const noexcept { return lost_in_flight_; }

private:
    std::vector<attempt> entries_;  // the last ones as a ring once it is full
    std::uint64_t count_ = 0;
    std::size_t oldest_ = kept_first;
    bool lost_in_flight_ = false;
};

/// Whether an operation that ended without a good answer may have been applied. What is idempotent
/// may be sent again and is never in doubt; neither is what was always answered or never sent.
constexpr bool is_ambiguous(bool idempotent, bool lost_in_flight, dispatch_phase last) noexcept
{
    return !idempotent && (lost_in_flight || last == dispatch_phase::in_flight);
}

}  // namespace holdfast::core
