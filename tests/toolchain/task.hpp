#pragma once
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

// The smallest coroutine machinery that shows the faults: a lazy task and a queue of those that
// wait. No Asio, so that nothing but the compiler can be to blame.

namespace toolchain {

inline std::vector<std::coroutine_handle<>> waiting;
inline int suspensions = 0;

/// Waits until the loop in run() comes round.
struct suspend {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who) const
    {
        ++suspensions;
        waiting.push_back(who);
    }
    void await_resume() const noexcept {}
};

/// Starts when it is awaited, and resumes the coroutine that awaits it when it is done.
template <class T>
class task {
public:
    struct promise_type;
    using handle = std::coroutine_handle<promise_type>;

    struct resume_the_awaiting {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(handle done) const noexcept
        {
            return done.promise().awaiting ? done.promise().awaiting : std::noop_coroutine();
        }
        void await_resume() const noexcept {}
    };

    struct promise_type {
        std::optional<T> value;
        std::coroutine_handle<> awaiting;

        task get_return_object() { return task{handle::from_promise(*this)}; }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        resume_the_awaiting final_suspend() const noexcept { return {}; }
        template <class U>
        void return_value(U&& returned)
        {
            value.emplace(std::forward<U>(returned));
        }
        void unhandled_exception() const { std::terminate(); }
    };

    explicit task(handle coroutine) : coroutine_{coroutine} {}
    task(task&& other) noexcept : coroutine_{std::exchange(other.coroutine_, {})} {}
    task& operator=(task&&) = delete;
    ~task()
    {
        if (coroutine_)
            coroutine_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const
    {
        coroutine_.promise().awaiting = awaiting;
        return coroutine_;
    }
    T await_resume() const { return std::move(*coroutine_.promise().value); }

    /// Runs a task from outside of all coroutines; empty if it never finishes.
    std::optional<T> run() const
    {
        coroutine_.resume();
        while (!waiting.empty()) {
            const std::coroutine_handle<> next = waiting.back();
            waiting.pop_back();
            next.resume();
        }
        return coroutine_.done() ? std::move(coroutine_.promise().value) : std::nullopt;
    }

private:
    handle coroutine_;
};

inline task<int> hop()
{
    co_await suspend{};
    co_return 1;
}

inline task<bool> flag(bool value)
{
    co_await suspend{};
    co_return value;
}

}  // namespace toolchain
