#include "runtime/background.hpp"

#include "runtime/wait.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::runtime {

namespace asio = boost::asio;

/// A task has a strand of its own: stop() may come from another thread, and a cancellation must not
/// meet the coroutine while that runs. Of all operations only reads of several copies are tasks.
struct background::task::state : std::enable_shared_from_this<state> {
    explicit state(const executor& on) : strand{asio::make_strand(on)} {}

    void stop()
    {
        auto cancel = [self = shared_from_this()] {
            self->stop_requested = true;
            self->signal.emit(asio::cancellation_type::terminal);
        };
        asio::post(strand, std::move(cancel));
    }

    asio::strand<executor> strand;
    asio::cancellation_signal signal;
    bool stop_requested = false;
};

struct background::all {
    explicit all(world& in) : keeps_home{in.weak_from_this().lock()}, home{in}, changed{in} {}

    void remove(const std::shared_ptr<task::state>& which)
    {
        {
            const std::scoped_lock lock{mutex};
            tasks.remove(which);
        }
        changed.notify();
    }

    const std::shared_ptr<world> keeps_home;  // null if the world is not shared
    world& home;
    event changed;
    mutable std::mutex mutex;
    std::list<std::shared_ptr<task::state>> tasks;
    bool stopped = false;
};

namespace {

/// Calls a function when it goes: at the end of a task, and also if the task is dropped with its
/// context. Nothing of the task may outlive the context, and least of all its strand.
template <class Function>
class when_gone {
public:
    explicit when_gone(Function what) : what_{std::move(what)} {}
    when_gone(when_gone&& from) noexcept : what_{std::exchange(from.what_, std::nullopt)} {}
    when_gone& operator=(when_gone&&) = delete;
    ~when_gone()
    {
        if (what_)
            (*what_)();
    }

    void operator()(const std::exception_ptr&) const noexcept {}

private:
    std::optional<Function> what_;
};

awaitable<void> without_exceptions(awaitable<void> what)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    // On a thread of the executor co_spawn begins at once, under whatever its caller has locked.
    co_await asio::post(asio::use_awaitable);
    co_await std::move(what);
}

}  // namespace

background::background(world& in) : all_{std::make_shared<all>(in)} {}

background::~background()
{
    stop();
}

void background::task::stop()
{
    if (const auto alive = state_.lock())
        alive->stop();
}

background::task background::start(awaitable<void> what)
{
    const executor on = all_->home.executor();
    if (!on)
        return {};  // its context has gone, and nothing runs any more
    const auto state = std::make_shared<task::state>(on);
    {
        const std::scoped_lock lock{all_->mutex};
        if (all_->stopped)
            return {};
        all_->tasks.push_back(state);
    }
    when_gone at_end{[everybody = all_, state] { everybody->remove(state); }};
    asio::co_spawn(state->strand, without_exceptions(std::move(what)),
                   asio::bind_cancellation_slot(state->signal.slot(), std::move(at_end)));
    return task{state};
}

void background::stop()
{
    std::list<std::shared_ptr<task::state>> running;
    {
        const std::scoped_lock lock{all_->mutex};
        all_->stopped = true;
        running = all_->tasks;
    }
    for (const auto& one : running)
        one->stop();
}

awaitable<void> background::ended()
{
    const auto everybody = all_;
    for (;;) {
        const std::uint64_t seen = everybody->changed.count();
        {
            const std::scoped_lock lock{everybody->mutex};
            if (everybody->tasks.empty())
                co_return;
        }
        const wait_end end = co_await everybody->changed.wait(seen);
        if (end == wait_end::cancelled)
            co_return;
    }
}

std::size_t background::running() const
{
    const std::scoped_lock lock{all_->mutex};
    return all_->tasks.size();
}

}  // namespace holdfast::runtime
