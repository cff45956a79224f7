#include "runtime/suspension.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace holdfast::runtime {

/// Knows all that wait on one execution context, because the context does not: when it is destroyed
/// with coroutines still waiting, they have to be destroyed with it.
class waiting_room final : public asio::execution_context::service {
public:
    using key_type = waiting_room;
    static inline asio::execution_context::id id;

    explicit waiting_room(asio::execution_context& owner) : service{owner} {}

    void enter(suspension& who) noexcept
    {
        const std::scoped_lock lock{mutex_};
        who.after_ = first_;
        if (first_ != nullptr)
            first_->before_ = &who;
        first_ = &who;
    }

    void leave(suspension& who) noexcept
    {
        const std::scoped_lock lock{mutex_};
        unlink(who);
    }

private:
    void shutdown() noexcept override
    {
        for (;;) {
            std::shared_ptr<suspension> who;
            {
                const std::scoped_lock lock{mutex_};
                if (first_ == nullptr)
                    return;
                who = first_->shared_from_this();
                unlink(*who);
            }
            // Its coroutine goes with it, and may well be what others wait for to go.
            const suspension::handler_ptr dropped = who->abandon();
        }
    }

    void unlink(suspension& who) noexcept
    {
        if (first_ == &who)
            first_ = who.after_;
        if (who.before_ != nullptr)
            who.before_->after_ = who.after_;
        if (who.after_ != nullptr)
            who.after_->before_ = who.before_;
        who.before_ = who.after_ = nullptr;
    }

    std::mutex mutex_;
    suspension* first_ = nullptr;
};

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
    room_ = &asio::use_service<waiting_room>(
        asio::query(here, asio::execution::context_as<asio::execution_context&>));
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

suspension::handler_ptr suspension::abandon() noexcept
{
    const std::scoped_lock lock{mutex_};
    ended_ = true;
    here_ = {};
    return std::move(waiting_);
}

}  // namespace holdfast::runtime
