#pragma once
#include "holdfast/error.hpp"

#include <poll.h>

#include <atomic>
#include <span>
#include <utility>

namespace holdfast::net {

/// A file descriptor and the duty to close it.
class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int number) noexcept : number_{number} {}
    descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    descriptor& operator=(descriptor&& other) noexcept
    {
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor();

    int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }

private:
    int number_ = -1;
};

/// Something that another thread can do once, and that poll() sees from then on.
class wake_up {
public:
    wake_up();

    /// False if there was no descriptor left for it.
    explicit operator bool() const noexcept { return static_cast<bool>(event_); }

    void wake() noexcept;
    bool awake() const noexcept { return awake_.load(std::memory_order_acquire); }
    int get() const noexcept { return event_.get(); }

private:
    descriptor event_;
    std::atomic<bool> awake_ = false;
};

/// The code of the system's last error.
error_code last_error() noexcept;

/// Until one of them is ready (true) or the time has come; signals do not count.
bool poll_until(std::span<pollfd> which, time_point until) noexcept;

}  // namespace holdfast::net
