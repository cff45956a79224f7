#pragma once
#include "runtime/wait.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace holdfast::shell::mongo {

/// Counts the operations of a client that are under way, so that a close can wait for them.
class running_operations {
public:
    explicit running_operations(runtime::world& in) : one_ended_{in} {}

    void begin() noexcept { count_.fetch_add(1); }
    void end()
    {
        // Each looks at what the other has written before: one of the two sees the last end.
        if (count_.fetch_sub(1) == 1 && awaited_.load())
            one_ended_.notify();
    }

    /// Waits until there is none, or until then.
    runtime::awaitable<void> ended(time_point until);

private:
    std::atomic<std::uint32_t> count_{0};
    std::atomic<bool> awaited_{false};
    runtime::event one_ended_;
};

/// One of them, as long as this lives, or none; the counter must live as long.
class running_operation {
public:
    running_operation() = default;
    explicit running_operation(running_operations& among) noexcept : among_{&among}
    {
        among_->begin();
    }
    running_operation(const running_operation& other) noexcept : among_{other.among_}
    {
        if (among_ != nullptr)
            among_->begin();
    }
    running_operation(running_operation&& other) noexcept
        : among_{std::exchange(other.among_, nullptr)}
    {
    }
    running_operation& operator=(running_operation other) noexcept
    {
        std::swap(among_, other.among_);
        return *this;
    }
    ~running_operation()
    {
        if (among_ != nullptr)
            among_->end();
    }

private:
    running_operations* among_ = nullptr;
};

}  // namespace holdfast::shell::mongo
