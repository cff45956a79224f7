// What follows from an attempt that failed: the only place from which the orchestrator is asked.
#include "core/couchbase/retry/idempotent.hpp"
#include "core/couchbase/retry/strategy.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/execute/kv_attempts.hpp"
#include "shell/planted.hpp"

#include <string>
#include <utility>
#include <variant>

namespace holdfast::shell::couchbase {

using core::couchbase::complete;
using core::couchbase::failed_attempt;
using core::couchbase::retry_state;
using holdfast::couchbase::errc;

namespace {

/// The same error with more to its message.
error with_more(const error& why, const std::string& more)
{
    error longer{why.code(), why.message() + more};
    for (const std::string& label : why.labels())
        longer = std::move(longer).with_label(label);
    for (const context_entry& fact : why.context())
        longer = std::move(longer).with_context(fact.name, fact.value);
    const auto history = why.history();
    return std::move(longer).with_history({history.begin(), history.end()});
}

/// What listeners and logs get of a decision.
void report(const cluster_state& cluster, const core::couchbase::retry_step& step)
{
    if (step.event && cluster.on_retry)
        cluster.on_retry(*step.event, step.state.request);
}

shell::retry_step widened(settled_step step)
{
    return std::visit([](auto& one) { return shell::retry_step{std::move(one)}; }, step);
}

}  // namespace

core::couchbase::started_attempt kv_attempts::open_attempt() const
{
    return {route_.link ? route_.link->server() : endpoint{}, phase_, started_};
}

retry_state kv_attempts::take_state()
{
    if (state_)
        return std::move(*state_);
    core::couchbase::retry_request::settings of;
    of.operation = order().operation;
    of.idempotent = core::couchbase::is_idempotent(order().opcode) || planted.repeats_after_cut;
    of.strategy = holdfast::couchbase::choose_strategy(
        call_.more ? call_.more->strategy : holdfast::couchbase::retry_strategy_ptr{},
        cluster_->strategy);
    if (call_.until.is_set())
        of.deadline = call_.until.when();
    if (call_.more)
        of.context = call_.more->context;
    return retry_state{core::couchbase::retry_request{std::move(of)}, call_.began};
}

settled_step kv_attempts::apply(core::couchbase::retry_step step)
{
    report(*cluster_, step);
    if (auto* const last = std::get_if<complete>(&step.next)) {
        state_ = std::make_unique<retry_state>(std::move(step.state));
        return give_up{located(std::move(last->why))};
    }
    // The wait is capped already; that it ends as a timeout is for the loop to say.
    const auto* const capped = std::get_if<core::couchbase::time_out_after>(&step.next);
    const duration wait = capped != nullptr
                              ? capped->wait
                              : std::get<core::couchbase::retry_after>(step.next).wait;
    state_ = std::make_unique<retry_state>(std::move(step.state));
    return try_again{planted.oversleeps ? wait + std::chrono::seconds{2} : wait};
}

shell::retry_step kv_attempts::decide_retry(error why, time_point now)
{
    if (out_of_time_)
        return give_up{timed_out(now)};
    using core::couchbase::retry_reason;
    const bool was_cut = reason_ == retry_reason::socket_closed_while_in_flight ||
                         reason_ == retry_reason::socket_not_available;
    if (was_cut && cluster_->nodes->is_closed())
        return give_up{cancelled(&why, now)};  // that is why its connection has gone
    failed_attempt failed{open_attempt(), reason_.value_or(core::couchbase::retry_reason::unknown),
                          std::move(why)};
    if (!reason_)
        return widened(apply(core::couchbase::never_retry(take_state(), std::move(failed), now)));
    auto step = core::couchbase::maybe_retry(take_state(), std::move(failed), now);
    if (std::holds_alternative<core::couchbase::ask_strategy>(step.next)) {
        state_ = std::make_unique<retry_state>(std::move(step.state));
        return ask_first{};
    }
    return widened(apply(std::move(step)));
}

void kv_attempts::ask(std::function<void(answer_type)> reply)
{
    core::couchbase::consult(*state_->request.strategy(), state_->request, *reason_,
                             core::couchbase::retry_reply{std::move(reply)});
}

settled_step kv_attempts::answered(answer_type answer, time_point now)
{
    const auto budget = cluster_->budget.load();
    auto step = core::couchbase::with_answer(take_state(), std::move(answer), now, budget);
    cluster_->budget.spent(budget, step.budget);
    return apply(std::move(step));
}

std::optional<error> kv_attempts::woke(time_point now)
{
    if (cluster_->nodes->is_closed())
        return cancelled(nullptr, now);
    auto step = core::couchbase::after_wait(take_state(), now);
    if (std::holds_alternative<complete>(step.next))
        return end_of(std::move(step));
    state_ = std::make_unique<retry_state>(std::move(step.state));
    return std::nullopt;
}

/// The deadline has come: during an attempt, or between two of them.
error kv_attempts::timed_out(time_point now)
{
    const bool between = state_ && state_->where != retry_state::stage::attempting;
    const auto open = between ? std::nullopt : std::optional{open_attempt()};
    error why = end_of(core::couchbase::timed_out(take_state(), open, now));
    if (dispatched_)
        return why;
    return with_more(why, "; it was never sent: " + call_.bucket->waiting_for(now, missing()));
}

/// What a request that was never sent has waited for at last.
std::string kv_attempts::missing() const
{
    using core::couchbase::obstacle;
    const std::string id = "the id of collection \"" + call_.in->collection + "\" of scope \"" +
                           call_.in->scope + "\"";
    switch (route_.is) {
    case kv_route::kind::look_up:
    case kv_route::kind::waits_for_look_up:
        return id;
    case kv_route::kind::ready:
        return "a place on the connection to " + route_.link->server().value();
    case kv_route::kind::opening:
    case kv_route::kind::obstructed:
    case kv_route::kind::no_copy:
        break;
    }
    switch (route_.obstacle.value_or(obstacle::all_sockets_down)) {
    case obstacle::node_gone:
        return "a node that has the document";
    case obstacle::service_not_present:
        return "a node with the key-value service";
    case obstacle::scope_not_in_map:
    case obstacle::collection_not_in_map:
    case obstacle::manifest_behind:
        return id;
    case obstacle::circuit_open:
        return "the circuit breaker of " + route_.link->server().value() + " to close";
    case obstacle::all_sockets_down:
    case obstacle::socket_not_writable:
        break;
    }
    return "a connection";
}

error kv_attempts::cancelled(const error* undecided, time_point now)
{
    const auto open = undecided != nullptr ? std::optional{open_attempt()} : std::nullopt;
    error why = end_of(core::couchbase::cancelled(take_state(), open, now));
    if (!cluster_->nodes->is_closed())
        return why;
    error closed{errc::closed, "the cluster is closed"};
    for (const context_entry& fact : why.context())
        closed = std::move(closed).with_context(fact.name, fact.value);
    const auto history = why.history();
    return std::move(closed).with_history({history.begin(), history.end()});
}

error kv_attempts::end_of(core::couchbase::retry_step step)
{
    report(*cluster_, step);
    state_ = std::make_unique<retry_state>(std::move(step.state));
    if (auto* const last = std::get_if<complete>(&step.next))
        return located(std::move(last->why));
    return located(error{errc::request_canceled, "the request is over"});
}

/// What the error is about.
error kv_attempts::located(error why) const
{
    why = std::move(why)
              .with_context("bucket", call_.in->bucket)
              .with_context("scope", call_.in->scope)
              .with_context("collection", call_.in->collection);
    if (route_.link)
        why = std::move(why).with_context("server", route_.link->server().value());
    return why;
}

error kv_attempts::explained(error why)
{
    const time_point now = cluster_->world.steady_now();
    return end_of(core::couchbase::never_retry(
        take_state(),
        failed_attempt{open_attempt(), core::couchbase::retry_reason::unknown, std::move(why)},
        now));
}

}  // namespace holdfast::shell::couchbase

namespace holdfast::shell {

template runtime::awaitable<result<couchbase::kv_attempts::answer>> remaining_attempts(
    runtime::world&, couchbase::kv_attempts&, core::deadline, std::optional<error>);

}  // namespace holdfast::shell
