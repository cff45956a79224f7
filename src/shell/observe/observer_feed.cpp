#include "shell/observe/observer_feed.hpp"

#include <utility>

namespace holdfast::shell {

namespace {

using observers = std::vector<std::shared_ptr<observer>>;

template <class Event>
void notify(const observers& to, const Event& what) noexcept
{
    for (const auto& one : to)
        one->on(what);
}

observed::attempt view_of(const kept_attempt& one)
{
    return {one.number, *one.over, one.request, one.began};
}

void deliver_to(const observers& to, const observer_records::operation_began& what) noexcept
{
    notify(to, observed::operation_began{what.of->facts});
}

void deliver_to(const observers& to, const observer_records::attempt_began& what) noexcept
{
    notify(to, observed::attempt_began{what.which->of->facts, view_of(*what.which)});
}

void deliver_to(const observers& to, const observer_records::attempt_ended& what) noexcept
{
    const observed::attempt which = view_of(*what.which);
    notify(to, observed::attempt_ended{what.which->of->facts, which, what.ended, what.phase,
                                       what.server_duration, what.code, what.reason});
}

void deliver_to(const observers& to, const observer_records::operation_ended& what) noexcept
{
    notify(to, observed::operation_ended{what.of->facts, what.ended, what.attempts, what.retries,
                                         what.encoding, what.why ? &*what.why : nullptr});
}

void deliver_to(const observers& to, const observer_records::reply_orphaned& what) noexcept
{
    notify(to, observed::reply_orphaned{what.operation, what.service, what.name, *what.over,
                                        what.request, what.cause, what.total, what.since_dispatch,
                                        what.server_duration});
}

}  // namespace

observer_feed::observer_feed(runtime::world& in, observers to, run_later deliver, std::size_t limit)
    : to_{std::move(to)}, run_later_{std::move(deliver)}, limit_{limit}, emptied_{in}
{
}

bool observer_feed::admits(std::atomic<std::uint64_t>& dropped)
{
    if (closed_.load(std::memory_order_relaxed))
        return false;
    if (queued_.load(std::memory_order_relaxed) < limit_)
        return true;
    dropped.fetch_add(1);
    if (!reports_drops_.exchange(true))
        push(observer_records::dropped{});
    return false;
}

void observer_feed::push(observer_record what)
{
    queued_.fetch_add(1);
    queue_.push(std::move(what));
    wake();
}

void observer_feed::wake()
{
    if (closed_.load() || awake_.exchange(true))
        return;
    // Not owned: a function that is never called must not keep the observers.
    run_later_([weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->run();
    });
}

void observer_feed::run()
{
    awake_.store(false);  // before the queue is looked at: what comes after that look wakes anew
    queue_.drain([this](const observer_record& what) { deliver(what); });
}

void observer_feed::deliver(const observer_record& what) noexcept
{
    if (std::holds_alternative<observer_records::dropped>(what)) {
        reports_drops_.store(false);
        const observed::records_dropped lost{dropped_operations_.exchange(0),
                                             dropped_attempts_.exchange(0)};
        if (lost.operations + lost.attempts != 0)
            notify(to_, lost);
    } else {
        std::visit(
            [this](const auto& one) {
                if constexpr (!std::is_same_v<decltype(one), const observer_records::dropped&>)
                    deliver_to(to_, one);
            },
            what);
    }
    if (queued_.fetch_sub(1) == 1)
        emptied_.notify();
}

runtime::awaitable<void> observer_feed::delivered(time_point until)
{
    for (;;) {
        const std::uint64_t seen = emptied_.count();
        if (is_empty() || closed_.load())
            co_return;
        const runtime::wait_end end = co_await emptied_.wait(seen, until);
        if (end != runtime::wait_end::notified)
            co_return;
    }
}

void observer_feed::close()
{
    closed_.store(true);
    queue_.close();
}

}  // namespace holdfast::shell
