#pragma once
#include "holdfast/error.hpp"
#include "runtime/wait.hpp"
#include "tools/holdfast/drill/history.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::drill {

/// The outcome of an operation with a callback, for a coroutine that waits for it. A callback that
/// comes twice is noticed, even if the coroutine has gone on.
template <class T>
struct pending {
    explicit pending(runtime::world& in) : ended{in} {}

    std::optional<result<T>> outcome = {};
    runtime::event ended;
};

template <class T>
auto callback(const std::shared_ptr<pending<T>>& state, operation& one)
{
    return [state, &one](result<T> outcome) {
        ++one.completions;
        state->outcome.emplace(std::move(outcome));
        state->ended.notify();
    };
}

template <class T>
runtime::awaitable<result<T>> outcome_of(std::shared_ptr<pending<T>> state)
{
    for (;;) {
        const std::uint64_t seen = state->ended.count();
        if (state->outcome)
            co_return *std::move(state->outcome);
        const auto end = co_await state->ended.wait(seen);
        (void)end;
    }
}

/// For operations whose result is not needed.
template <class T>
std::optional<error> failure_in(result<T>&& outcome)
{
    if (outcome)
        return std::nullopt;
    return std::move(outcome).error();
}

}  // namespace holdfast::drill
