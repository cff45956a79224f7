#pragma once
#include "runtime/world.hpp"

#include <memory>

namespace holdfast::runtime {

/// Coroutines that are not awaited one by one: monitors, upkeep, connections that are being opened.
/// Any thread can stop them, and a coroutine can wait until the last of them has ended.
/// They share the state behind this object, so that it may go before they do; and they own the
/// world, if that is shared.
class background {
public:
    explicit background(world& in);
    background(const background&) = delete;
    background& operator=(const background&) = delete;
    ~background();  // stops all

    /// A handle to stop one of them. Without effect if it has ended.
    class task {
    public:
        task() = default;
        void stop();

    private:
        friend class background;
        struct state;
        explicit task(std::weak_ptr<state> of) noexcept : state_{std::move(of)} {}
        std::weak_ptr<state> state_;
    };

    /// Begins soon, not within this call. stop() is a cancellation of the operation it
    /// awaits; it gets results, not exceptions, and returns when it likes. Once stop() was called
    /// nothing begins any more, nor once the executor has gone: all that ran have gone with it.
    task start(awaitable<void> what);

    void stop();

    /// Waits until all have ended.
    awaitable<void> ended();

    std::size_t running() const;

private:
    struct all;
    std::shared_ptr<all> all_;
};

}  // namespace holdfast::runtime
