#include "runtime/handoff.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/post.hpp>

#include <cassert>
#include <exception>

namespace holdfast::runtime {
namespace {

thread_local constinit unsigned nested_resumptions = 0;

}  // namespace

/// What the cancellation signal of the operation calls. The signal owns it, and either of the two
/// may go first.
struct handoff_base::canceller {
    explicit canceller(handoff_base& waiter) noexcept : to{&waiter} { waiter.canceller_ = this; }
    canceller(const canceller&) = delete;
    canceller& operator=(const canceller&) = delete;
    ~canceller()
    {
        if (to != nullptr)
            to->canceller_ = nullptr;
    }
    void operator()(asio::cancellation_type type) const noexcept
    {
        if (to != nullptr && type != asio::cancellation_type::none)
            to->cancel();
    }
    handoff_base* to;
};

/// In the queue of an executor, which may be destroyed before it gets there.
struct handoff_base::queued {
    explicit queued(handoff_base& of) noexcept : ended{&of} {}
    queued(queued&& other) noexcept : ended{std::exchange(other.ended, nullptr)} {}
    queued& operator=(queued&&) = delete;
    ~queued()
    {
        if (ended != nullptr)
            ended->drop();
    }
    void operator()() { std::exchange(ended, nullptr)->resume(); }
    handoff_base* ended;
};

handoff_base::handoff_base(handoff_base&& idle) noexcept
{
    assert(idle.guard_ == nullptr);
    static_cast<void>(idle);
}

handoff_base::~handoff_base()
{
    if (canceller_ != nullptr)
        canceller_->to = nullptr;
    withdraw();
}

void handoff_base::expect(handoff_source_base& from, short_mutex& guard) noexcept
{
    assert(guard_ == nullptr && from.waiter_ == nullptr);
    guard_ = &guard;
    source_ = &from;
    from.waiter_ = this;
    ended_ = false;
}

void handoff_base::withdraw() noexcept
{
    if (guard_ == nullptr)
        return;
    const std::scoped_lock lock{*std::exchange(guard_, nullptr)};
    unlink(wait_end::cancelled);
}

// Not a coroutine of its own, whose frame would be a quarter of all costs.
awaitable<wait_end> handoff_base::wait()
{
    assert(guard_ != nullptr);
    return asio::async_initiate<const asio::use_awaitable_t<>, void(wait_end)>(
        initiate{}, asio::use_awaitable, this);
}

/// The coroutine is in `waiting_`: nothing resumes it before it has entered the room.
void handoff_base::begin(asio::cancellation_slot slot, bool cancelled)
{
    if (slot.is_connected() && !cancelled)
        slot.emplace<canceller>(*this);
    waiting_room& room = waiting_room::of(here_);
    {
        const std::scoped_lock lock{*guard_};
        if (cancelled)
            unlink(wait_end::cancelled);
        if (!ended_) {
            room_ = &room;
            return room.enter(*this);
        }
    }
    post(executor{here_});
}

bool handoff_base::runs_inline_on(const executor* there) const noexcept
{
    return there != nullptr && room_ != nullptr && nested_resumptions < most_nested &&
           here_ == *there;
}

handoff_base::resumption handoff_base::end(wait_end end, const executor* there)
{
    waiting_room* const room = room_;
    if (room == nullptr) {
        unlink(end);
        return {};  // the wait has yet to begin
    }
    if (runs_inline_on(there))
        return end_inline(end, *there);
    // The context cannot be destroyed before it has got the waiter; afterwards this may be gone.
    room->leave(*this, [this, end] {
        unlink(end);
        post(executor{here_});
    });
    return {};
}

handoff_base::resumption handoff_base::end_inline(wait_end end, const executor& there)
{
    if (!room_->leave(*this))
        return {};
    unlink(end);
    return resumption{*this, there};
}

void handoff_base::cancel() noexcept
{
    {
        const std::scoped_lock lock{*guard_};
        if (ended_ || room_ == nullptr || !room_->leave(*this))
            return;
        unlink(wait_end::cancelled);
    }
    // By now the context is alive, as this runs on it. A resumed coroutine may destroy the mutex.
    post(executor{here_});
}

void handoff_base::unlink(wait_end end) noexcept
{
    room_ = nullptr;
    if (ended_)
        return;
    ended_ = true;
    end_ = end;
    std::exchange(source_, nullptr)->waiter_ = nullptr;
}

void handoff_base::post(const executor& to) noexcept
{
    asio::require(to, asio::execution::blocking.never).execute(queued{*this});
}

void handoff_base::resume()
{
    guard_ = nullptr;
    waiting_.resume(end_);  // and this may be gone
}

void handoff_base::resumption::run() noexcept
{
    ++nested_resumptions;
    try {
        ended_->resume();
    } catch (...) {
        // It comes from a completion handler, and is no business of the code that ended the wait.
        asio::post(*here_, [thrown = std::current_exception()] { std::rethrow_exception(thrown); });
    }
    --nested_resumptions;
}

void handoff_base::drop() noexcept
{
    waiting_.drop();
}

}  // namespace holdfast::runtime
