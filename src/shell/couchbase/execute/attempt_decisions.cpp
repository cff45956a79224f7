// The only place from which the orchestrator is asked.
#include "shell/couchbase/execute/attempt_decisions.hpp"

#include "core/couchbase/retry/strategy.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "shell/planted.hpp"

#include <chrono>
#include <utility>
#include <variant>

namespace holdfast::shell::couchbase {

using core::couchbase::complete;
using core::couchbase::failed_attempt;
using core::couchbase::retry_reason;
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

core::couchbase::started_attempt attempt_decisions::open_attempt() const
{
    return {server(), phase_, started_};
}

failed_attempt attempt_decisions::failed(error why) const
{
    return {open_attempt(), reason_.value_or(retry_reason::unknown), std::move(why)};
}

retry_state attempt_decisions::take_state()
{
    if (state_)
        return std::move(*state_);
    auto of = describe();
    of.idempotent = of.idempotent || planted.repeats_after_cut;
    of.strategy = holdfast::couchbase::choose_strategy(std::move(of.strategy), cluster_->strategy);
    return retry_state{core::couchbase::retry_request{std::move(of)}, began()};
}

settled_step attempt_decisions::apply(core::couchbase::retry_step step)
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

shell::retry_step attempt_decisions::decide_retry(error why, time_point now)
{
    if (out_of_time_)
        return give_up{timed_out(now)};
    const bool was_cut = reason_ == retry_reason::socket_closed_while_in_flight ||
                         reason_ == retry_reason::socket_not_available;
    if (was_cut && cluster_->nodes->is_closed())
        return give_up{cancelled(&why, now)};  // that is why its connection has gone
    failed_attempt one = failed(std::move(why));
    if (!reason_)
        return widened(apply(core::couchbase::never_retry(take_state(), std::move(one), now)));
    auto step = core::couchbase::maybe_retry(take_state(), std::move(one), now);
    if (std::holds_alternative<core::couchbase::ask_strategy>(step.next)) {
        state_ = std::make_unique<retry_state>(std::move(step.state));
        return ask_first{};
    }
    return widened(apply(std::move(step)));
}

void attempt_decisions::ask(std::function<void(answer_type)> reply)
{
    core::couchbase::consult(*state_->request.strategy(), state_->request, *reason_,
                             core::couchbase::retry_reply{std::move(reply)});
}

settled_step attempt_decisions::answered(answer_type answer, time_point now)
{
    const auto budget = cluster_->budget.load();
    auto step = core::couchbase::with_answer(take_state(), std::move(answer), now, budget);
    cluster_->budget.spent(budget, step.budget);
    return apply(std::move(step));
}

std::optional<error> attempt_decisions::woke(time_point now)
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
error attempt_decisions::timed_out(time_point now)
{
    const bool between = state_ && state_->where != retry_state::stage::attempting;
    const auto open = between ? std::nullopt : std::optional{open_attempt()};
    error why = end_of(core::couchbase::timed_out(take_state(), open, now));
    if (dispatched_)
        return why;
    return with_more(why, "; it was never sent: " + waiting_for(now));
}

error attempt_decisions::cancelled(const error* undecided, time_point now)
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

error attempt_decisions::end_of(core::couchbase::retry_step step)
{
    report(*cluster_, step);
    state_ = std::make_unique<retry_state>(std::move(step.state));
    if (auto* const last = std::get_if<complete>(&step.next))
        return located(std::move(last->why));
    return located(error{errc::request_canceled, "the request is over"});
}

error attempt_decisions::explained(error why)
{
    const time_point now = cluster_->world.steady_now();
    reason_.reset();
    return end_of(core::couchbase::never_retry(take_state(), failed(std::move(why)), now));
}

error attempt_decisions::broke_off(error why, const std::string& handed_out)
{
    const time_point now = cluster_->world.steady_now();
    return end_of(
        core::couchbase::broke_off(take_state(), failed(std::move(why)), now, handed_out));
}

error attempt_decisions::interrupted(const char* what)
{
    reason_.reset();
    return error{errc::request_canceled, std::string{"ended "} + what};
}

std::optional<error> attempt_decisions::closed_or_late(core::deadline until)
{
    reason_.reset();
    if (cluster_->nodes->is_closed())
        return error{errc::closed, "the cluster is closed"};
    if (!until.expired(started_))
        return std::nullopt;
    out_of_time_ = true;
    return error{errc::unambiguous_timeout, "timed out"};
}

error attempt_decisions::not_sendable(error why)
{
    reason_.reset();
    phase_ = dispatch_phase::not_sent;
    return why;
}

}  // namespace holdfast::shell::couchbase
