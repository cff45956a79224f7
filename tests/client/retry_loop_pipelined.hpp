#pragma once
#include "client/retry_loop_run.hpp"
#include "runtime/handoff.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <mutex>
#include <string>
#include <string_view>

namespace holdfast::retry_test {

/// What a server does with one request: it replies after a while, or never.
struct scripted_reply {
    std::optional<duration> after = duration{};
    bool fails = false;
};

/// One connection with many requests in flight, whose reader hands each reply to its request. The
/// server at its other end goes by the script that comes with a request.
class pipelined_connection final : public runtime::alarm {
public:
    struct reply {
        bool fails = false;
        std::string_view text;  // in the reader's buffer, or in `owned`
        std::string owned;
    };
    static constexpr std::size_t slots = 4;

    explicit pipelined_connection(virtual_world& in) : freed{in}, world_{in} {}
    ~pipelined_connection() { world_.alarms().clear(*this); }

    /// The number of a slot, unless all are taken or the connection is closed.
    std::optional<std::size_t> enqueue(runtime::handoff<reply>& waiter, std::string name,
                                       scripted_reply script, core::deadline until)
    {
        const std::scoped_lock lock{mutex_};
        for (std::size_t i = 0; i < slots; ++i) {
            if (slots_[i].taken)
                continue;
            slots_[i].taken = true;
            slots_[i].until = until.when();
            slots_[i].name = std::move(name);
            slots_[i].script = script;
            waiter.expect(slots_[i].source, mutex_);
            unsent_.push_back(i);
            return i;
        }
        return std::nullopt;
    }
    void flush()
    {
        if (reading_)
            return;  // the reader does it, once for all
        flushes += unsent_.empty() ? 0 : 1;
        for (const std::size_t i : std::exchange(unsent_, {})) {
            if (slots_[i].script.after)
                runtime::asio::co_spawn(world_.executor(), serve(i, *slots_[i].script.after),
                                        runtime::asio::detached);
        }
        set_alarm();
    }
    /// One read brings the replies of these slots.
    void read(const std::vector<std::size_t>& from, const runtime::executor& here)
    {
        reading_ = true;
        for (const std::size_t i : from) {
            runtime::handoff_base::resumption resumed;
            const std::scoped_lock lock{mutex_};
            slots_[i].taken = false;
            orphans += slots_[i].source.expected() ? 0 : 1;
            buffer_ = "reply to " + slots_[i].name;
            reply what{slots_[i].script.fails, buffer_, {}};
            if (!slots_[i].source.resumes_inline(here)) {
                what.owned = buffer_;
                what.text = {};
            }
            resumed = slots_[i].source.end(std::move(what), here);
        }
        buffer_.assign(buffer_.size(), '#');
        reading_ = false;
        flush();
        freed.notify();
    }
    std::size_t taken() const
    {
        return static_cast<std::size_t>(
            std::count_if(slots_.begin(), slots_.end(), [](const slot& s) { return s.taken; }));
    }
    std::size_t expected() const
    {
        return static_cast<std::size_t>(std::count_if(
            slots_.begin(), slots_.end(), [](const slot& s) { return s.source.expected(); }));
    }

    runtime::event freed;  // a slot
    int flushes = 0;
    int orphans = 0;        // replies that came too late
    int slow_attempts = 0;  // found no slot at once

private:
    struct slot {
        runtime::handoff_source<reply> source;
        bool taken = false;  // also after its waiter has gone, until the reply comes
        time_point until = runtime::never;
        std::string name;
        scripted_reply script;
    };

    /// As the reader does it: a coroutine of the connection's.
    runtime::awaitable<void> serve(std::size_t which, duration after)
    {
        co_await runtime::sleep_until(world_, world_.steady_now() + after);
        const runtime::executor here = co_await runtime::asio::this_coro::executor;
        const std::vector<std::size_t> one{which};
        read(one, here);
    }
    /// One for all: it rings when the first deadline comes, or came for one that has ended since.
    void set_alarm()
    {
        time_point first = runtime::never;
        for (const slot& one : slots_) {
            if (one.source.expected())
                first = std::min(first, one.until);
        }
        world_.alarms().set(*this, first);
    }
    void ring() noexcept override
    {
        const std::scoped_lock lock{mutex_};
        for (slot& one : slots_) {
            if (one.until <= world_.steady_now())
                one.source.end(runtime::wait_end::timed_out);
        }
        // An alarm must not set itself, as the clock's mutex is held.
        runtime::asio::post(world_.executor(), [this] { set_alarm(); });
    }

    virtual_world& world_;
    mutable runtime::short_mutex mutex_;
    std::array<slot, slots> slots_;
    std::vector<std::size_t> unsent_;
    std::string buffer_;
    bool reading_ = false;
};

/// An operation over it. What is not in the script succeeds.
class pipelined_operation {
public:
    using value_type = std::string;
    using reply_type = runtime::wait_end;
    using script = std::vector<scripted_reply>;

    pipelined_operation(runtime::world& in, pipelined_connection& over, std::string name,
                        script attempts, ledger& book, core::deadline until)
        : world_{&in},
          over_{&over},
          name_{std::move(name)},
          script_{std::move(attempts)},
          book_{&book},
          until_{until}
    {
    }

    bool begin_now()
    {
        const std::size_t n = book_->dispatched.size();
        const scripted_reply what = n < script_.size() ? script_[n] : scripted_reply{};
        if (!over_->enqueue(waiter_, name_, what, until_))
            return false;
        ++book_->checked_out;
        book_->dispatched.push_back(world_->steady_now());
        return true;
    }
    void send_now() { over_->flush(); }
    runtime::awaitable<runtime::wait_end> reply() { return waiter_.wait(); }
    result<std::string> end(runtime::wait_end end)
    {
        --book_->checked_out;
        const std::size_t n = book_->dispatched.size() - 1;
        out_of_time_ = end == runtime::wait_end::timed_out;
        if (end != runtime::wait_end::notified)
            return numbered(n);
        const auto got = waiter_.take();
        if (got.fails)
            return numbered(n);
        return std::string{got.owned.empty() ? got.text : std::string_view{got.owned}};
    }
    /// Waits for a slot.
    runtime::awaitable<result<std::string>> attempt()
    {
        ++over_->slow_attempts;
        for (;;) {
            const auto seen = over_->freed.count();
            if (begin_now())
                break;
            const auto waited = co_await over_->freed.wait(seen, until_.when());
            out_of_time_ = waited == runtime::wait_end::timed_out;
            if (waited != runtime::wait_end::notified)
                co_return numbered(book_->dispatched.size());
        }
        send_now();
        const runtime::wait_end got = co_await reply();
        co_return end(got);
    }
    shell::settled_step decide_retry(error why, time_point now)
    {
        ++book_->failed;
        if (out_of_time_)
            return shell::give_up{timed_out(now)};
        static_cast<void>(why);
        book_->decided.push_back({now, wait});
        return shell::try_again{wait};
    }
    std::optional<error> woke(time_point) { return std::nullopt; }
    error timed_out(time_point) { return ended("timed out"); }
    error cancelled(const error* undecided, time_point)
    {
        book_->failed += undecided != nullptr;
        return ended("cancelled");
    }
    void about_to_wait() { book_->about_to_wait(); }

    static constexpr duration wait = std::chrono::milliseconds{5};

private:
    static error ended(const char* text)
    {
        return error{make_error_code(boost::system::errc::interrupted), text};
    }

    runtime::world* world_;
    pipelined_connection* over_;
    std::string name_;
    script script_;
    ledger* book_;
    core::deadline until_;
    runtime::handoff<pipelined_connection::reply> waiter_;
    bool out_of_time_ = false;
};
static_assert(shell::pipelined_protocol<pipelined_operation>);
static_assert(!shell::prompt_protocol<pipelined_operation>);

}  // namespace holdfast::retry_test
