#pragma once
#include "core/retry/deadline.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"
#include "shell/answer_box.hpp"
#include "shell/recycled.hpp"

#include <boost/asio/this_coro.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

namespace holdfast::shell {

/// What a protocol wants after a failed attempt. A wait of nothing still goes through the executor:
/// who fails without ever waiting must keep neither others nor his own cancellation from running.
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

/// What is different between protocols, for one operation. Nothing of it is called from two threads
/// at once, nor after the loop has ended; nothing of it may block, and only attempt() suspends.
///
///   attempt()           Selects, checks out, sends, receives, and gives the connection back, by
///                       the deadline. A failure is a value. What judge() and the history need to
///                       know of it besides the error, the protocol remembers itself.
///   judge(why, now)     The attempt failed with that. The protocol writes it into its history.
///   woke(now)           The wait is over and the deadline has not come. An error ends it all the
///                       same.
///   timed_out(now)      The deadline has come while it waited.
///   cancelled(why, now) The caller wants no more. `why` if an attempt has just ended with that and
///                       was not judged, null if it came between attempts.
///
/// The last two, and give_up, say what the caller gets: the error with its history.
template <class Protocol>
concept retry_protocol = requires(Protocol& p, error why, const error* unjudged, time_point now) {
    typename Protocol::value_type;
    { p.attempt() } -> std::same_as<runtime::awaitable<result<typename Protocol::value_type>>>;
    { p.decide_retry(std::move(why), now) } -> one_of<settled_step, retry_step>;
    { p.woke(now) } -> std::same_as<std::optional<error>>;
    { p.timed_out(now) } -> std::same_as<error>;
    { p.cancelled(unjudged, now) } -> std::same_as<error>;
};

template <class Protocol>
using reply_to = std::function<void(typename Protocol::answer_type)>;

/// A protocol that lets somebody else decide, whose judge() may therefore say ask_first.
///
///   ask(reply)             Asks. `reply` is called now or later, by any thread, or never.
///   answered(answer, now)  ... before the deadline, that is; what comes later is dropped.
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
///   begin_now()      True if all is at hand and the message is built. If not, attempt() goes on
///                    from here.
///   send_now()       True if the message is sent. If not, round_trip() goes on from here, up to
///                    the reply.
///   reply_at_hand()  The reply, or why there is none, if that is known.
///   read_now()       What has been read, if this thread may be blocked for that.
///   read_more()      What there is to wait for otherwise, and
///   take_in(got)     what comes of it.
///   end(reply)       What attempt() would have returned. Holds nothing any more, unless the next
///                    attempt is to be made at once and over the same connection: a renewed login.
template <class Protocol>
concept prompt_protocol = retry_protocol<Protocol> && requires(Protocol& p) {
    { p.begin_now() } -> std::same_as<bool>;
    typename Protocol::reply_type;
    { p.send_now() } -> std::same_as<bool>;
    { p.round_trip() } -> std::same_as<runtime::awaitable<result<typename Protocol::reply_type>>>;
    { p.reply_at_hand() } -> std::same_as<std::optional<result<typename Protocol::reply_type>>>;
    { p.read_now() } -> std::same_as<std::optional<runtime::io_result>>;
    { p.read_more() } -> std::same_as<runtime::awaitable<runtime::io_result>>;
    {
        p.take_in(std::declval<runtime::io_result>())
    } -> std::same_as<std::optional<result<typename Protocol::reply_type>>>;
    {
        p.end(std::declval<result<typename Protocol::reply_type>>())
    } -> std::same_as<result<typename Protocol::value_type>>;
};

enum class pause_end : std::uint8_t { over, deadline_came, cancelled };

/// Waits so long, but not beyond the deadline; if that is the end of it, the deadline has come.
/// Over at once if `ended` has ever happened.
runtime::awaitable<pause_end> pause(runtime::world& in, duration wait, core::deadline until,
                                    runtime::event* ended = nullptr);

/// For protocols that want to know when the loop is about to wait or to ask, and for tests that
/// want to see that no connection is held by then: about_to_wait().
template <class Protocol>
void notify_wait(Protocol& protocol)
{
    if constexpr (requires { protocol.about_to_wait(); })
        protocol.about_to_wait();
}

/// For protocols whose waits somebody else may end, with an event that happens once:
/// ends_waiting(). It is for woke() to say what comes of it.
template <class Protocol>
runtime::event* who_ends_waits_of(Protocol& protocol)
{
    if constexpr (requires { protocol.ends_waiting(); })
        return &protocol.ends_waiting();
    else
        return nullptr;
}

/// Asks somebody, and waits for the answer.
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

/// What is to be done about a failed attempt, whoever decides it.
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

/// All that lies between a failed attempt and the next one; the error to end with if there is none.
/// Coroutines of their own, so that what succeeds at once does not pay for them.
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
                                         who_ends_waits_of(protocol));
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

/// The one loop in which an operation of either protocol is tried until it succeeds or is over. It
/// completes once; between two attempts it holds nothing, since it never sees what an attempt
/// holds; every wait ends with the deadline, after which nothing is sent again; and it can be
/// cancelled wherever it waits, and then says so by an error, not by an exception; unless its
/// caller has asked for the bare value, `Outcome`, and so for `failure` to be thrown. A protocol may
/// make something else of the outcome at the end: given(outcome).
template <class Outcome, retry_protocol Protocol>
runtime::awaitable<Outcome> retry_loop_of(runtime::world& in, core::deadline until,
                                        recycled<Protocol> given_protocol)
{
    const auto held = std::move(given_protocol);  // ends with the loop, a parameter with its frame
    Protocol& protocol = *held;
    namespace this_coro = runtime::asio::this_coro;
    using outcome_type = result<typename Protocol::value_type>;

    // Asio would throw out of the next co_await. It is the caller's coroutine, so it gets back the
    // way in which it was found, also if something does throw.
    const bool caller_wants_throw = co_await this_coro::throw_if_cancelled();
    co_await this_coro::throw_if_cancelled(false);
    std::optional<outcome_type> end;
    std::exception_ptr thrown;
    try {
        for (;;) {
            const auto cancellation = co_await this_coro::cancellation_state;
            if (cancellation.cancelled() != runtime::asio::cancellation_type::none) {
                end.emplace(protocol.cancelled(nullptr, in.steady_now()));
                break;
            }
            if constexpr (prompt_protocol<Protocol>) {
                if (protocol.begin_now()) {
                    std::optional<result<typename Protocol::reply_type>> reply;
                    if (protocol.send_now()) [[likely]] {
                        reply = protocol.reply_at_hand();
                        while (!reply) {
                            std::optional<runtime::io_result> got = protocol.read_now();
                            if (!got) {
                                const runtime::io_result read = co_await protocol.read_more();
                                got = read;
                            }
                            reply = protocol.take_in(*got);
                        }
                    } else {
                        auto late = co_await protocol.round_trip();
                        reply.emplace(std::move(late));
                    }
                    end.emplace(protocol.end(*std::move(reply)));
                }
            }
            if (!end) {
                outcome_type outcome = co_await protocol.attempt();
                end.emplace(std::move(outcome));
            }
            if (*end)
                break;
            error why = std::move(*end).error();
            end.reset();
            auto last = co_await before_next_attempt(in, protocol, until, std::move(why));
            if (last) {
                end.emplace(std::move(*last));
                break;
            }
        }
    } catch (...) {
        thrown = std::current_exception();
    }
    co_await this_coro::throw_if_cancelled(caller_wants_throw);
    if (thrown)
        std::rethrow_exception(thrown);
    if constexpr (requires { protocol.given(*std::move(end)); }) {
        auto given = protocol.given(*std::move(end));
        if constexpr (std::same_as<Outcome, decltype(given)>)
            co_return std::move(given);
        else
            co_return std::move(given).value();
    } else if constexpr (std::same_as<Outcome, outcome_type>) {
        co_return *std::move(end);
    } else {
        co_return std::move(*end).value();
    }
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
