#pragma once
#include "shell/retry_loop.hpp"

#include <optional>
#include <utility>

/// The retry loop of a thread that waits for replies itself. As long as the first attempt needs
/// nothing but its reply there is no coroutine, and none of what it takes to run one.
namespace holdfast::shell {

/// What the first attempt has come to.
template <class Protocol>
struct first_attempt {
    bool in_flight = false;  // only a coroutine can wait for the reply
    std::optional<result<typename Protocol::value_type>> outcome =
        {};  // nothing: not sent, or above
};

/// Makes the first attempt, if nothing but its reply has to be waited for.
template <pipelined_protocol Protocol>
first_attempt<Protocol> attempt_now(Protocol& protocol)
{
    first_attempt<Protocol> made;
    if (!protocol.begin_now()) [[unlikely]]
        return made;
    protocol.send_now();
    auto reply = reply_at_once(protocol);
    if (reply) [[likely]]
        made.outcome.emplace(protocol.end(*std::move(reply)));
    else
        made.in_flight = true;
    return made;
}

/// Everything after that, for an operation that has not succeeded yet.
template <class Outcome, pipelined_protocol Protocol>
runtime::awaitable<Outcome> retry_loop_after(runtime::world& in, core::deadline until,
                                             recycled<Protocol> protocol_parameter,
                                             first_attempt<Protocol> made)
{
    const auto held = std::move(protocol_parameter);
    Protocol& protocol = *held;
    using slow_path_type = typename slow_path_protocol<Protocol>::type;
    // Asio would throw out of the next co_await.
    co_await runtime::asio::this_coro::throw_if_cancelled(false);
    if (made.in_flight) {
        auto reply = co_await protocol.reply();
        made.outcome.emplace(protocol.end(std::move(reply)));
        if (*made.outcome)
            co_return final_outcome(protocol, *std::move(made.outcome));
    }
    auto rest = co_await remaining_attempts<slow_path_type>(in, protocol, until,
                                                            failure_of(std::move(made.outcome)));
    co_return final_outcome(protocol, std::move(rest));
}

}  // namespace holdfast::shell
