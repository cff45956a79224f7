#pragma once
#include "runtime/world.hpp"

#include <cstdint>
#include <memory>

namespace holdfast::runtime {

enum class wait_end : std::uint8_t { notified, timed_out, cancelled };

/// Waits until `when`: timed_out, unless the operation is cancelled before. Never throws.
awaitable<wait_end> sleep_until(world& in, time_point when);

/// Lets the handlers run that are ready, for coroutines that compute for long: `cancelled` if the
/// operation is cancelled, else `notified`.
awaitable<wait_end> yield();

/// Where coroutines wait for news. It counts them, and who waits says which one he has seen, so
/// that what happens between looking and waiting is not missed:
///
///     const auto seen = changed.count();     // first
///     if (nothing_suitable(...))             // then look
///         co_await changed.wait(seen, until);
///
/// The same for one waiter alone makes a queue fair: give each an event of its own. All members may
/// be called from any thread; none runs a waiter by itself. Who waits needs not outlive the event,
/// nor the event who waits: destroying it ends the wait with `cancelled`.
class event {
public:
    explicit event(world& in);
    event(const event&) = delete;
    event& operator=(const event&) = delete;
    ~event();

    std::uint64_t count() const noexcept;

    /// Returns at once if count() is no longer `seen`.
    awaitable<wait_end> wait(std::uint64_t seen, time_point until = never);

    void notify();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace holdfast::runtime
