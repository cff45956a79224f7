#pragma once
#include "runtime/awaitable.hpp"

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace holdfast::net {

/// A coroutine and the place for what it comes to, of whatever type: what a thread that blocks is
/// waiting for. Lives on that thread's stack.
class blocking_job {
public:
    virtual runtime::awaitable<void> start() = 0;  // once; does not throw

protected:
    ~blocking_job() = default;
};

/// For a coroutine that does not throw, and sees to what it comes to: costs no coroutine more.
class quiet_job final : public blocking_job {
public:
    explicit quiet_job(runtime::awaitable<void> what) noexcept : what_{std::move(what)} {}

    runtime::awaitable<void> start() override { return std::move(what_); }

private:
    runtime::awaitable<void> what_;
};

template <class T>
class blocking_job_of final : public blocking_job {
public:
    explicit blocking_job_of(runtime::awaitable<T> what) : what_{std::move(what)} {}

    runtime::awaitable<void> start() override
    {
        try {
            if constexpr (std::is_void_v<T>) {
                co_await std::move(what_);
            } else {
                T value = co_await std::move(what_);
                value_.emplace(std::move(value));
            }
        } catch (...) {
            thrown_ = std::current_exception();
        }
    }

    T take()
    {
        if (thrown_)
            std::rethrow_exception(std::move(thrown_));
        if constexpr (!std::is_void_v<T>)
            return *std::move(value_);
    }

private:
    struct nothing {};

    runtime::awaitable<T> what_;
    std::optional<std::conditional_t<std::is_void_v<T>, nothing, T>> value_;  // T needs no default
    std::exception_ptr thrown_;
};

}  // namespace holdfast::net
