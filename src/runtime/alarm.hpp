#pragma once
#include "holdfast/error.hpp"

#include <cstddef>
#include <limits>

namespace holdfast::runtime {

/// No deadline: later than everything.
inline constexpr time_point never = time_point::max();

/// Something that is notified when a time has come. The code that sets it keeps it alive until it
/// has rung or was cleared.
class alarm {
public:
    alarm() = default;
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;

    /// Called once, by whichever thread notices the time, with the clock's mutex held. So it is
    /// brief, calls no user, and does not set or clear alarms.
    virtual void ring() noexcept = 0;

protected:
    ~alarm() = default;

private:
    friend class alarm_heap;

    static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
    time_point when_{};
    std::size_t position_ = nowhere;
};

/// One per world: all its deadlines wait here, and the world itself waits for the first of them
/// only. Both calls may come from any thread.
class alarm_clock {
public:
    /// Rings once when `when` has come. An alarm that is set already is moved. `never` clears it.
    virtual void set(alarm& which, time_point when) = 0;

    /// When this returns, the alarm neither rings nor will ring. It need not be set.
    virtual void clear(alarm& which) noexcept = 0;

protected:
    ~alarm_clock() = default;
};

}  // namespace holdfast::runtime
