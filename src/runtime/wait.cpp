#include "runtime/wait.hpp"

#include "runtime/suspension.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::runtime {
namespace {

/// An alarm that is set as long as this object lives.
class while_set {
public:
    while_set(std::shared_ptr<alarm_clock> clock, alarm& which, time_point when)
        : clock_{std::move(clock)}, which_{which}
    {
        clock_->set(which_, when);
    }
    while_set(const while_set&) = delete;
    while_set& operator=(const while_set&) = delete;
    ~while_set() { clock_->clear(which_); }

private:
    const std::shared_ptr<alarm_clock> clock_;  // the world may be gone when this goes
    alarm& which_;
};

}  // namespace

awaitable<wait_end> sleep_until(world& in, time_point when)
{
    const auto self = std::make_shared<suspension>();
    const while_set alarm{in.shared_alarms(), *self, when};
    co_return co_await self->suspend();
}

awaitable<wait_end> yield()
{
    co_await asio::post(asio::use_awaitable);
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() == asio::cancellation_type::none ? wait_end::notified
                                                                 : wait_end::cancelled;
}

struct event::state {
    /// In a list with the others, so that thousands that leave at the same time leave at once.
    struct waiter {
        std::shared_ptr<suspension> self = std::make_shared<suspension>();
        waiter* before = nullptr;
        waiter* after = nullptr;
        bool listed = false;
    };

    explicit state(world& in) : clock{in.shared_alarms()} {}

    /// False if there is news already.
    bool enter(waiter& one, std::uint64_t seen) noexcept
    {
        const std::scoped_lock lock{mutex};
        if (count != seen)
            return false;
        one.listed = true;
        one.before = last;
        (last != nullptr ? last->after : first) = &one;
        last = &one;
        ++waiting;
        return true;
    }
    void leave(waiter& one) noexcept
    {
        const std::scoped_lock lock{mutex};
        if (!one.listed)
            return;  // it has been notified
        (one.before != nullptr ? one.before->after : first) = one.after;
        (one.after != nullptr ? one.after->before : last) = one.before;
        one.listed = false;
        --waiting;
    }
    void end_all(wait_end end)
    {
        std::vector<std::shared_ptr<suspension>> all;
        {
            const std::scoped_lock lock{mutex};
            ++count;
            all.reserve(waiting);
            for (waiter* one = first; one != nullptr; one = one->after) {
                all.push_back(one->self);
                one->listed = false;
            }
            first = last = nullptr;
            waiting = 0;
        }
        for (const auto& one : all)
            one->end(end);
    }

    const std::shared_ptr<alarm_clock> clock;
    std::mutex mutex;
    std::uint64_t count = 0;
    waiter* first = nullptr;  // in the order in which they came
    waiter* last = nullptr;
    std::size_t waiting = 0;
};

event::event(world& in) : state_{std::make_shared<state>(in)} {}

event::~event()
{
    state_->end_all(wait_end::cancelled);
}

std::uint64_t event::count() const noexcept
{
    const std::scoped_lock lock{state_->mutex};
    return state_->count;
}

awaitable<wait_end> event::wait(std::uint64_t seen, time_point until)
{
    const auto news = state_;  // the event itself may be gone when this goes on
    state::waiter mine;
    if (!news->enter(mine, seen))
        co_return wait_end::notified;
    struct leaving {
        state& news;
        state::waiter& mine;
        ~leaving() { news.leave(mine); }
    };
    const leaving at_the_end{*news, mine};
    const while_set alarm{news->clock, *mine.self, until};
    co_return co_await mine.self->suspend();
}

void event::notify()
{
    state_->end_all(wait_end::notified);
}

}  // namespace holdfast::runtime
