#include "runtime/suspension.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace holdfast::runtime {

template <class Handler>
struct suspension::handler_of final : handler {
    explicit handler_of(Handler&& from) : kept{std::move(from)} {}
    void resume(wait_end end) override { std::move(kept)(end); }
    Handler kept;
};

struct suspension::initiate {
    template <class Handler>
    void operator()(Handler to_resume, suspension* who) const
    {
        const auto slot = asio::get_associated_cancellation_slot(to_resume);
        who->begin(std::make_unique<handler_of<Handler>>(std::move(to_resume)), slot);
    }
};

awaitable<wait_end> suspension::suspend()
{
    const auto self = shared_from_this();
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return wait_end::cancelled;
    const runtime::executor here = co_await asio::this_coro::executor;
    here_ = asio::require(here, asio::execution::blocking.never);
    room_ = &waiting_room::of(here);
    constexpr initiate start;
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(wait_end)>(
        start, asio::use_awaitable, this);
}

void suspension::begin(handler_ptr to_resume, asio::cancellation_slot slot)
{
    // Another thread may run the coroutine to its end before this one has left the mutex.
    const auto self = shared_from_this();
    const std::scoped_lock lock{mutex_};
    if (ended_)
        return resume(std::move(to_resume), end_);
    if (slot.is_connected()) {
        slot.assign([who = weak_from_this()](asio::cancellation_type type) {
            const auto alive = who.lock();
            if (alive && type != asio::cancellation_type::none)
                alive->end(wait_end::cancelled);
        });
    }
    waiting_ = std::move(to_resume);
    room_->enter(*this);
}

bool suspension::end(wait_end end) noexcept
{
    handler_ptr waiting;
    {
        const std::scoped_lock lock{mutex_};
        if (ended_)
            return false;
        ended_ = true;
        end_ = end;
        waiting = std::move(waiting_);
    }
    if (waiting) {
        room_->leave(*this);
        resume(std::move(waiting), end);
    }
    return true;
}

void suspension::resume(handler_ptr waiting, wait_end end)
{
    // The executor goes with the wait: who keeps a suspension may outlive the context behind it.
    const executor here = std::exchange(here_, {});
    here.execute([waiting = std::move(waiting), end]() mutable { waiting->resume(end); });
}

void suspension::drop() noexcept
{
    handler_ptr dropped;  // outlives the lock: the coroutine may own this object
    const std::scoped_lock lock{mutex_};
    ended_ = true;
    here_ = {};
    dropped = std::move(waiting_);
}

}  // namespace holdfast::runtime
