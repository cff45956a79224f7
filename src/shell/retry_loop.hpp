#pragma once
#include "core/retry/deadline.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"
#include "shell/answer_box.hpp"
#include "shell/exchange_step.hpp"
#include "shell/recycled.hpp"
#include "shell/retry_hooks.hpp"

#include <boost/asio/this_coro.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace holdfast::shell {

/// A protocol's decision about a failed attempt. Even a zero wait goes through the executor, so
/// that other handlers and a cancellation can run.
struct try_again {
    duration wait{};
};
struct give_up {
    error why;
};
struct ask_first {};
using settled_step = std::variant<try_again, give_up>;
using retry_step = std::variant<try_again, give_up, ask_first>;

template <class Type, class... Of>
concept one_of = (std::same_as<Type, Of> || ...);

/// The part of the loop that differs between protocols, for one operation. No member is called from
/// two threads at once, nor after the loop has ended; none may block, and only attempt() suspends.
///
///   attempt()                 Selects, checks out, sends, receives, and returns the connection, by
///                             the deadline. A failure is a value. The protocol itself keeps what
///                             decide_retry() and the history need besides the error.
///   decide_retry(error, now)  The attempt failed. The protocol records it in its history.
///   woke(now)                 The wait ends before the deadline. An error ends the operation all
///                             the same.
///   timed_out(now)            The deadline passed during the wait.
///   cancelled(error, now)     The caller cancelled. The error is that of an attempt which has just
///                             failed without a decision, null between attempts.
///
/// The last two, and give_up, return the caller's error, with its history.
template <class Protocol>
concept retry_protocol = requires(Protocol& p, error why, const error* undecided, time_point now) {
    typename Protocol::value_type;
    { p.attempt() } -> std::same_as<runtime::awaitable<result<typename Protocol::value_type>>>;
    { p.decide_retry(std::move(why), now) } -> one_of<settled_step, retry_step>;
    { p.woke(now) } -> std::same_as<std::optional<error>>;
    { p.timed_out(now) } -> std::same_as<error>;
    { p.cancelled(undecided, now) } -> std::same_as<error>;
};

template <class Protocol>
using reply_to = std::function<void(typename Protocol::answer_type)>;

/// A protocol with a strategy of the application's, whose decide_retry() may return ask_first.
///
///   ask(reply)             Asks the strategy. `reply` is called now or later, by any thread, or
///                          never.
///   answered(answer, now)  The answer came before the deadline; later ones are dropped.
template <class Protocol>
concept asking_protocol = retry_protocol<Protocol> && requires(Protocol& p, reply_to<Protocol> r) {
    p.ask(std::move(r));
    { p.decide_retry(std::declval<error>(), time_point{}) } -> std::same_as<retry_step>;
    {
        p.answered(std::declval<typename Protocol::answer_type>(), time_point{})
    } -> std::same_as<settled_step>;
};

/// A protocol that can mostly begin an attempt without waiting for anything but the reply. That
/// saves the attempt's own coroutine, which costs as much as building the message.
///
///   begin_now()   True if all is at hand and the message is built. If not, attempt() goes on from
///                 here.
///   start()       Sends, and receives what is there. Its step says which of the next three is
///                 called.
///   read_more()   receiving: the read to wait for. resume(got) gives the next step.
///   round_trip()  sending: the rest, up to the reply.
///   take_reply()  replied: the reply, or the error instead of it.
///   end(reply)    The same as attempt() returns. After a failure the protocol holds nothing any
///                 more, unless the next attempt is made at once and over the same connection: a
///                 renewed login.
template <class Protocol>
concept prompt_protocol = retry_protocol<Protocol> && requires(Protocol& p) {
    { p.begin_now() } -> std::same_as<bool>;
    typename Protocol::reply_type;
    { p.start() } -> std::same_as<exchange_step>;
    { p.read_more() } -> std::same_as<runtime::awaitable<runtime::io_result>>;
    { p.resume(std::declval<runtime::io_result>()) } -> std::same_as<exchange_step>;
    { p.round_trip() } -> std::same_as<runtime::awaitable<result<typename Protocol::reply_type>>>;
    { p.take_reply() } -> std::same_as<result<typename Protocol::reply_type>&&>;
    {
        p.end(std::declval<result<typename Protocol::reply_type>>())
    } -> std::same_as<result<typename Protocol::value_type>>;
};

/// A protocol whose connections carry many requests at once, so that a reader receives the reply.
/// It can mostly begin an attempt without waiting for anything else.
///
///   begin_now()  True if all is at hand and the request is in the connection's buffer, with a
///                place for its reply. If not, attempt() goes on from here.
///   send_now()   Sends what is in the buffer, unless the connection does that by itself: then one
///                send is for many requests.
///   reply()      Waits for the reply, its error, the deadline or a cancellation: once, since each
///                wait costs as much as the rest of the attempt. What goes wrong in send_now()
///                comes out here.
///   end(reply)   The same as attempt() returns. It is called when reply() has ended and nothing
///                else has happened yet, so that a reply may refer to the reader's buffer.
///                Afterwards the protocol holds no place on the connection, and no such reference.
template <class Protocol>
concept pipelined_protocol = retry_protocol<Protocol> && requires(Protocol& p) {
    typename Protocol::reply_type;
    { p.begin_now() } -> std::same_as<bool>;
    { p.send_now() } -> std::same_as<void>;
    { p.reply() } -> std::same_as<runtime::awaitable<typename Protocol::reply_type>>;
    {
        p.end(std::declval<typename Protocol::reply_type>())
    } -> std::same_as<result<typename Protocol::value_type>>;
};

/// A protocol with attempts that begin in the loop's own coroutine.
template <class Protocol>
concept fast_path_protocol = prompt_protocol<Protocol> || pipelined_protocol<Protocol>;

enum class pause_end : std::uint8_t { over, deadline_came, cancelled };

/// Waits so long, but not beyond the deadline; deadline_came if the deadline ended the wait. Over
/// at once if `ended` has ever happened.
runtime::awaitable<pause_end> pause(runtime::world& in, duration wait, core::deadline until,
                                    runtime::event* ended = nullptr);

/// Asks the strategy, and waits for its answer.
template <asking_protocol Protocol>
runtime::awaitable<settled_step> ask_and_wait(runtime::world& in, Protocol& protocol,
                                              core::deadline until)
{
    answer_box<typename Protocol::answer_type> box{in};
    protocol.ask(box.reply());
    auto answer = box.take();
    if (!answer) {
        const runtime::wait_end end = co_await box.wait(until.when());
        const time_point now = in.steady_now();
        if (end == runtime::wait_end::cancelled)
            co_return give_up{protocol.cancelled(nullptr, now)};
        if (end == runtime::wait_end::timed_out || until.expired(now))
            co_return give_up{protocol.timed_out(now)};
        answer = box.take();
    }
    co_return protocol.answered(*std::move(answer), in.steady_now());
}

/// The decision about a failed attempt, made by the protocol or by its strategy.
template <retry_protocol Protocol>
runtime::awaitable<settled_step> settle(runtime::world& in, Protocol& protocol,
                                        core::deadline until, error why)
{
    auto decided = protocol.decide_retry(std::move(why), in.steady_now());
    if constexpr (asking_protocol<Protocol>) {
        if (auto* const last = std::get_if<give_up>(&decided))
            co_return std::move(*last);
        if (const auto* const again = std::get_if<try_again>(&decided))
            co_return *again;
        notify_wait(protocol);
        co_return co_await ask_and_wait(in, protocol, until);
    } else {
        co_return decided;
    }
}

/// The time between a failed attempt and the next one; the error to end with if there is no next.
template <retry_protocol Protocol>
runtime::awaitable<std::optional<error>> before_next_attempt(runtime::world& in, Protocol& protocol,
                                                             core::deadline until, error why)
{
    const auto cancellation = co_await runtime::asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != runtime::asio::cancellation_type::none)
        co_return protocol.cancelled(&why, in.steady_now());

    settled_step next = co_await settle(in, protocol, until, std::move(why));
    if (auto* const last = std::get_if<give_up>(&next))
        co_return std::move(last->why);

    notify_wait(protocol);
    const pause_end paused = co_await pause(in, std::get<try_again>(next).wait, until,
                                            early_wakeup_event(protocol));
    const time_point now = in.steady_now();
    switch (paused) {
    case pause_end::cancelled:
        co_return protocol.cancelled(nullptr, now);
    case pause_end::deadline_came:
        co_return protocol.timed_out(now);
    case pause_end::over:
        break;
    }
    co_return protocol.woke(now);
}

/// Sends the message of an attempt that has begun, and waits for its reply.
template <prompt_protocol Protocol>
runtime::awaitable<result<typename Protocol::reply_type>> exchange(Protocol& protocol)
{
    exchange_step next = protocol.start();
    while (next == exchange_step::receiving) {
        const runtime::io_result got = co_await protocol.read_more();
        next = protocol.resume(got);
    }
    if (next == exchange_step::replied)
        co_return protocol.take_reply();
    co_return co_await protocol.round_trip();
}

/// Every attempt that the fast path of the loop has not brought to a success: the first, if it has
/// to wait for a server or a connection, and all retries. `failed` is the error of the attempt that
/// the fast path made; without one, begin_now() has returned false. Exceptions instead of errors by
/// Asio must be switched off.
///
/// It is compiled once per protocol: see slow_path_protocol.
template <retry_protocol Protocol>
runtime::awaitable<result<typename Protocol::value_type>> remaining_attempts(
    runtime::world& in, Protocol& protocol, core::deadline until, std::optional<error> failed)
{
    bool begun = false;
    for (;;) {
        if (failed) {
            auto last = co_await before_next_attempt(in, protocol, until, *std::move(failed));
            if (last)
                co_return *std::move(last);
        }
        const auto cancellation = co_await runtime::asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != runtime::asio::cancellation_type::none)
            co_return protocol.cancelled(nullptr, in.steady_now());
        if constexpr (fast_path_protocol<Protocol>)
            begun = failed && protocol.begin_now();
        if (!begun) {
            auto outcome = co_await protocol.attempt();
            if (outcome)
                co_return outcome;
            failed = std::move(outcome).error();
        }
        if constexpr (prompt_protocol<Protocol>) {
            if (begun) {
                auto reply = co_await exchange(protocol);
                auto outcome = protocol.end(std::move(reply));
                if (outcome)
                    co_return outcome;
                failed = std::move(outcome).error();
            }
        }
        if constexpr (pipelined_protocol<Protocol>) {
            if (begun) {
                protocol.send_now();
                auto reply = reply_at_once(protocol);
                if (!reply) {
                    auto later = co_await protocol.reply();
                    reply.emplace(std::move(later));
                }
                auto outcome = protocol.end(*std::move(reply));
                if (outcome)
                    co_return outcome;
                failed = std::move(outcome).error();
            }
        }
    }
}

/// The class that the slow path is compiled for: the protocol itself, or a base that it names as
/// `slow_path_type`, so that protocols which differ only in how they read a reply share it.
template <class Protocol>
struct slow_path_protocol {
    using type = Protocol;
};
template <class Protocol>
    requires requires { typename Protocol::slow_path_type; }
struct slow_path_protocol<Protocol> {
    using type = typename Protocol::slow_path_type;
};

/// The one loop in which an operation of either protocol is tried until it succeeds or is over. It
/// completes once; between two attempts it holds nothing, since it never sees what an attempt
/// holds; every wait ends with the deadline, after which nothing is sent again; and it can be
/// cancelled wherever it waits, and then returns an error and does not throw, unless its caller has
/// asked for the bare value, `Outcome`, and so for `failure` to be thrown. A protocol may convert
/// the outcome at the end: outcome_of(outcome).
///
/// Only the fast path is in this coroutine: an attempt that waits for nothing but its reply needs
/// no other frame. Everything else is in remaining_attempts().
template <class Outcome, retry_protocol Protocol>
runtime::awaitable<Outcome> retry_loop_of(runtime::world& in, core::deadline until,
                                          recycled<Protocol> protocol_parameter)
{
    const auto held = std::move(protocol_parameter);  // a parameter would live as long as the frame
    Protocol& protocol = *held;
    namespace this_coro = runtime::asio::this_coro;
    using outcome_type = result<typename Protocol::value_type>;
    using slow_path_type = typename slow_path_protocol<Protocol>::type;
    static_assert(recycled<Protocol>::fits || !fast_path_protocol<Protocol>, "see block_store");

    // Asio would throw out of the next co_await. The caller's coroutine gets its own setting back,
    // also after an exception.
    const bool caller_wants_throw = co_await this_coro::throw_if_cancelled();
    co_await this_coro::throw_if_cancelled(false);
    std::optional<outcome_type> end;
    std::exception_ptr thrown;
    try {
        if constexpr (fast_path_protocol<Protocol>) {
            const auto cancellation = co_await this_coro::cancellation_state;
            const bool active = cancellation.cancelled() == runtime::asio::cancellation_type::none;
            if (active && protocol.begin_now()) [[likely]] {
                if constexpr (pipelined_protocol<Protocol>) {
                    protocol.send_now();
                    auto reply = reply_at_once(protocol);
                    if (auto* const waiter = reply ? nullptr : waiter_of(protocol)) [[likely]] {
                        co_await waiter->suspend();
                        take_end(*waiter, reply);
                    }
                    if (!reply) {
                        auto later = co_await protocol.reply();
                        reply.emplace(std::move(later));
                    }
                    end.emplace(protocol.end(*std::move(reply)));
                } else {
                    // As exchange() does it, whose frame would cost a tenth of a ping.
                    exchange_step next = protocol.start();
                    while (next == exchange_step::receiving) {
                        const runtime::io_result got = co_await protocol.read_more();
                        next = protocol.resume(got);
                    }
                    if (next == exchange_step::replied) [[likely]] {
                        end.emplace(protocol.end(protocol.take_reply()));
                    } else {
                        auto late = co_await protocol.round_trip();
                        end.emplace(protocol.end(std::move(late)));
                    }
                }
            }
        }
        if (!end || !*end) [[unlikely]] {
            auto rest = co_await remaining_attempts<slow_path_type>(in, protocol, until,
                                                                    failure_of(std::move(end)));
            end.emplace(std::move(rest));
        }
    } catch (...) {
        thrown = std::current_exception();
    }
    co_await this_coro::throw_if_cancelled(caller_wants_throw);
    if (thrown)
        std::rethrow_exception(thrown);
    auto&& outcome = final_outcome(protocol, *std::move(end));
    if constexpr (std::same_as<Outcome, std::remove_cvref_t<decltype(outcome)>>)
        co_return std::move(outcome);
    else if constexpr (std::is_void_v<Outcome>)
        co_return std::move(outcome).value();
    else if (outcome) [[likely]]
        co_return *std::move(outcome);
    else
        throw failure{std::move(outcome).error()};
}

template <retry_protocol Protocol>
runtime::awaitable<result<typename Protocol::value_type>> retry_loop(runtime::world& in,
                                                                     Protocol protocol,
                                                                     core::deadline until)
{
    using outcome = result<typename Protocol::value_type>;
    return retry_loop_of<outcome>(in, until, recycled<Protocol>::make(std::move(protocol)));
}

}  // namespace holdfast::shell
