#pragma once
#include "api/couchbase/cluster_impl.hpp"
#include "core/couchbase/operation/kv_rules.hpp"
#include "holdfast/couchbase/handle.hpp"
#include "shell/blocking_attempt.hpp"
#include "shell/couchbase/execute/execute.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

/// The bodies of details::starter. A source file that has `build(call, context)`, which makes a
/// core::couchbase::kv_operation of a call, and says `template struct details::starter<X>;`, makes
/// both forms of the call X, the one that throws and the one that gives a result.
namespace holdfast::couchbase {

namespace details {

/// A coroutine that has failed before it began.
template <class Outcome, class T>
asio::awaitable<Outcome> failed_call(error why)
{
    result<T> failed{std::move(why)};
    if constexpr (std::is_same_v<Outcome, T>)
        co_return std::move(failed).value();
    else
        co_return std::move(failed);
}

template <class Call>
std::chrono::milliseconds timeout_of(const Call& call, const core::couchbase::timeout_settings& all)
{
    if (call.options.timeout)
        return *call.options.timeout;
    if constexpr (requires { call.options.durability; }) {
        if (call.options.durability != durability::none)
            return all.kv_durable;
    }
    return all.kv;
}

/// The wall clock is read only for a call that may need it.
template <class Call>
bool has_expiry(const Call& call)
{
    if constexpr (requires { call.options.expiry; })
        return !call.options.expiry.is_never();
    else
        return requires { call.expiry; };
}

/// Whether any of these is not null, by a single branch.
template <class... Pointers>
bool has_any(Pointers... all)
{
    return (reinterpret_cast<std::uintptr_t>(all) | ...) != 0;
}

/// What few calls have, each of which may be null. Not inline: the others would pay for it.
std::unique_ptr<shell::couchbase::kv_call::extras> copy_extras(const retry_strategy_ptr* strategy,
                                                               const client_context* context,
                                                               const trace_parent* parent);

template <class Call>
shell::couchbase::kv_call call_of(const collection_place& in, const Call& call,
                                  std::chrono::milliseconds timeout)
{
    shell::couchbase::kv_call made;
    made.bucket = in.open();
    made.in = in.names;
    made.began = in.cluster->world->steady_now();
    made.until = core::deadline::after(made.began, timeout);
    const auto& options = call.options;
    if (has_any(options.strategy, options.context, options.parent)) [[unlikely]]
        made.more = copy_extras(options.strategy, options.context, options.parent);
    return made;
}

/// The attempts of a call, yet to be made; `until` becomes their deadline.
template <class Call>
auto attempts_of(const collection_place& in, Call&& call, core::deadline& until)
{
    core::couchbase::operation_context context;
    context.timeout = timeout_of(call, in.cluster->settings.timeouts);
    context.in_default_collection = in.is_default;
    if (has_expiry(call))
        context.now = std::chrono::floor<std::chrono::seconds>(in.cluster->world->wall_now());
    using operation = typename decltype(build(std::move(call), context))::value_type;
    using attempts = shell::couchbase::operation_attempts<operation>;
    const auto make_call = [&] {
        shell::couchbase::kv_call made = call_of(in, call, context.timeout);
        made.may_block = true;
        until = made.until;
        return made;
    };
    return shell::recycled<attempts>::make(in.cluster->state, make_call,
                                           [&] { return build(std::move(call), context); });
}

/// `Outcome` is T, and then failure is thrown, or result<T>.
template <class Outcome, class Call>
asio::awaitable<Outcome> start_as(const collection_place& in, Call&& call)
{
    using value_type = typename std::remove_cvref_t<Call>::value_type;
    core::deadline until;
    auto begun = attempts_of(in, std::move(call), until);
    if (!(*begun).is_built()) [[unlikely]]
        return failed_call<Outcome, value_type>(std::move(*begun).problem());
    if (in.is_observed) [[unlikely]]
        shell::couchbase::kv_watch::begin(*begun);
    return shell::retry_loop_of<Outcome>(*in.cluster->world, until, std::move(begun));
}

template <class Call>
auto starter<Call>::start(const collection_place& in, Call&& call) -> asio::awaitable<value_type>
{
    return start_as<value_type>(in, std::move(call));
}

template <class Call>
auto starter<Call>::try_start(const collection_place& in, Call&& call)
    -> asio::awaitable<result<value_type>>
{
    return start_as<result<value_type>>(in, std::move(call));
}

template <class Call>
auto starter<Call>::block(const collection_place& in, Call&& call, blocking_bridge& on)
    -> result<value_type>
{
    core::deadline until;
    auto begun = attempts_of(in, std::move(call), until);
    if (!(*begun).is_built()) [[unlikely]]
        return std::move(*begun).problem();
    if (in.is_observed) [[unlikely]]
        shell::couchbase::kv_watch::begin(*begun);
    auto first = shell::attempt_now(*begun);
    if (first.outcome && *first.outcome) [[likely]]
        return (*begun).outcome_of(*std::move(first.outcome));
    return on.wait(shell::retry_loop_after<result<value_type>>(*in.cluster->world, until,
                                                               std::move(begun), std::move(first)));
}

}  // namespace details

}  // namespace holdfast::couchbase
