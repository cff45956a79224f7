#pragma once
#include "holdfast/error.hpp"
#include "runtime/handoff.hpp"
#include "runtime/wait.hpp"

#include <optional>
#include <type_traits>
#include <utility>

/// What a protocol of the retry loop may have besides what it must have.
namespace holdfast::shell {

/// An optional hook, about_to_wait(): the loop is about to wait or to ask. Tests use it to check
/// that no connection is held by then.
template <class Protocol>
void notify_wait(Protocol& protocol)
{
    if constexpr (requires { protocol.about_to_wait(); })
        protocol.about_to_wait();
}

/// An optional reply_now(): the same as reply() would give, if the thread may be blocked for it.
template <class Protocol>
std::optional<typename Protocol::reply_type> reply_at_once(Protocol& protocol)
{
    if constexpr (requires { protocol.reply_now(); })
        return protocol.reply_now();
    else
        return std::nullopt;
}

/// An optional waiter(): what reply() would wait for, if that is just one handoff. Null otherwise.
template <class Protocol>
runtime::handoff_base* waiter_of(Protocol& protocol)
{
    if constexpr (requires { protocol.waiter(); })
        return protocol.waiter();
    else
        return nullptr;
}

/// How that wait has ended is the reply.
template <class Reply>
void take_end(const runtime::handoff_base& waiter, std::optional<Reply>& into)
{
    if constexpr (std::is_same_v<Reply, runtime::wait_end>)
        into = waiter.ended_by();
}

/// The error of an attempt, if one was made.
template <class T>
std::optional<error> failure_of(std::optional<result<T>>&& attempt)
{
    if (!attempt)
        return std::nullopt;
    return std::move(*attempt).error();
}

/// An optional event, ends_waiting(), that happens once and ends every wait early: the client is
/// closed. woke() then decides.
template <class Protocol>
runtime::event* early_wakeup_event(Protocol& protocol)
{
    if constexpr (requires { protocol.ends_waiting(); })
        return &protocol.ends_waiting();
    else
        return nullptr;
}

/// What the operation's caller gets: outcome_of(outcome), if the protocol converts it.
template <class Protocol, class Outcome>
decltype(auto) final_outcome(Protocol& protocol, Outcome&& end)
{
    if constexpr (requires { protocol.outcome_of(std::forward<Outcome>(end)); })
        return protocol.outcome_of(std::forward<Outcome>(end));
    else
        return std::forward<Outcome>(end);
}

}  // namespace holdfast::shell
