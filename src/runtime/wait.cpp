#include "runtime/wait.hpp"

#include "runtime/suspension.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::runtime {
namespace {

/// An alarm that is set as long as this object lives.
class while_set {
public:
    while_set(alarm_clock& clock, alarm& which, time_point when) : clock_{clock}, which_{which}
    {
        clock_.set(which_, when);
    }
    while_set(const while_set&) = delete;
    while_set& operator=(const while_set&) = delete;
    ~while_set() { clock_.clear(which_); }

private:
    alarm_clock& clock_;
    alarm& which_;
};

}  // namespace

awaitable<wait_end> sleep_until(world& in, time_point when)
{
    const auto self = std::make_shared<suspension>();
    const while_set alarm{in.alarms(), *self, when};
    co_return co_await self->suspend();
}

struct event::state {
    explicit state(world& in) : clock{in.alarms()} {}

    /// False if there is news already.
    bool enter(const std::shared_ptr<suspension>& who, std::uint64_t seen)
    {
        const std::scoped_lock lock{mutex};
        if (count != seen)
            return false;
        waiting.push_back(who);
        return true;
    }
    void leave(const std::shared_ptr<suspension>& who) noexcept
    {
        const std::scoped_lock lock{mutex};
        std::erase(waiting, who);
    }
    void end_all(wait_end end)
    {
        std::vector<std::shared_ptr<suspension>> all;
        {
            const std::scoped_lock lock{mutex};
            ++count;
            all.swap(waiting);
        }
        for (const auto& who : all)
            who->end(end);
    }

    alarm_clock& clock;
    std::mutex mutex;
    std::uint64_t count = 0;
    std::vector<std::shared_ptr<suspension>> waiting;  // in the order in which they came
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
    const auto self = std::make_shared<suspension>();
    if (!news->enter(self, seen))
        co_return wait_end::notified;
    struct leaving {
        state& news;
        const std::shared_ptr<suspension>& self;
        ~leaving() { news.leave(self); }
    };
    const leaving at_the_end{*news, self};
    const while_set alarm{news->clock, *self, until};
    co_return co_await self->suspend();
}

void event::notify()
{
    state_->end_all(wait_end::notified);
}

}  // namespace holdfast::runtime
