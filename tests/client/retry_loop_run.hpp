#pragma once
#include "shell/retry_loop.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::retry_test {

using proof::virtual_world;

/// The events of one operation, recorded by its protocol.
struct ledger {
    struct decision {
        time_point when;
        duration wait;
    };
    std::vector<time_point> dispatched;
    std::vector<decision> decided;  // to try again
    int failed = 0;                 // attempts
    int checked_out = 0;            // connections, now
    int waits = 0;
    int held_while_waiting = 0;  // connections that were still checked out when a wait began

    void about_to_wait()
    {
        ++waits;
        held_while_waiting += checked_out;
    }
    std::vector<duration> chosen_waits() const
    {
        std::vector<duration> all;
        for (const decision& one : decided)
            all.push_back(one.wait);
        return all;
    }
};

/// A connection, only counted.
class lease {
public:
    explicit lease(ledger& book) : book_{book} { ++book_.checked_out; }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { --book_.checked_out; }

private:
    ledger& book_;
};

/// How one attempt goes. Nothing suspends if it takes no time.
template <class Failure>
struct scripted {
    duration takes{};
    std::optional<Failure> fails = {};
};

/// The n-th error, recognised by its number.
inline error numbered(std::size_t n)
{
    const error_code code{static_cast<int>(n) + 1, boost::system::generic_category()};
    return error{code, "attempt " + std::to_string(n + 1) + " failed"};
}

/// One operation in a coroutine of the caller's, and what became of it.
template <shell::retry_protocol Protocol>
class operation_run {
public:
    using value_type = typename Protocol::value_type;

    operation_run(virtual_world& in, Protocol protocol, core::deadline until) : world{in}
    {
        const finished handler{this};
        runtime::asio::co_spawn(in.executor(), call(*this, std::move(protocol), until), handler);
        while (!started && in.queue.run_one()) {}
    }
    operation_run(const operation_run&) = delete;
    operation_run& operator=(const operation_run&) = delete;

    void cancel() { cancellation.emit(runtime::asio::cancellation_type::terminal); }

    duration took() const { return ended - began; }
    /// The error it ended with; one without a code if there is none, which no test expects.
    holdfast::error error() const
    {
        return got && !*got ? got->error() : holdfast::error{error_code{}, "no failure"};
    }
    bool succeeded() const { return completions == 1 && got && got->has_value(); }

    virtual_world& world;
    runtime::asio::cancellation_signal cancellation;
    int completions = 0;
    bool started = false;
    bool over = false;
    bool throws_when_cancelled = false;  // as the caller's coroutine had it before
    time_point began{};
    time_point ended{};
    std::optional<result<value_type>> got;
    std::exception_ptr thrown;

private:
    /// With a slot of its own, since bind_cancellation_slot() would post each cancellation, to
    /// arrive after all that is queued already.
    struct finished {
        using cancellation_slot_type = runtime::asio::cancellation_slot;
        cancellation_slot_type get_cancellation_slot() const noexcept
        {
            return run->cancellation.slot();
        }
        void operator()(std::exception_ptr what) const
        {
            run->over = true;
            run->thrown = std::move(what);
        }
        operation_run* run;
    };

    static runtime::awaitable<void> call(operation_run& run, Protocol protocol,
                                         core::deadline until)
    {
        run.started = true;
        run.began = run.world.steady_now();
        result<value_type> got = co_await shell::retry_loop(run.world, std::move(protocol), until);
        ++run.completions;
        run.ended = run.world.steady_now();
        run.got.emplace(std::move(got));
        run.throws_when_cancelled = co_await runtime::asio::this_coro::throw_if_cancelled();
    }
};

}  // namespace holdfast::retry_test
