#include "core/couchbase/retry/orchestrator.hpp"

#include "core/retry/backoff.hpp"
#include "core/retry/deadline.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

using stage = retry_state::stage;

std::string to_text(duration wait)
{
    using namespace std::chrono;
    if (wait < 1ms)
        return std::to_string(duration_cast<microseconds>(wait).count()) + " us";
    return std::to_string(duration_cast<milliseconds>(wait).count()) + " ms";
}

deadline deadline_of(const retry_request& request)
{
    return request.deadline() ? deadline{*request.deadline()} : deadline{};
}

std::string names_of(const holdfast::couchbase::retry_reason_set& reasons)
{
    std::string all;
    for (const retry_reason reason : reasons)
        all.append(all.empty() ? "" : ", ").append(name_of(reason));
    return all;
}

/// The server itself does not know whether the change will last.
bool is_in_doubt(const retry_request& request, const error& answer)
{
    return !request.idempotent() && answer.code() == errc::durability_ambiguous;
}

attempt recorded(const retry_state& state, const started_attempt& one, time_point now)
{
    attempt entry;
    entry.server = one.server;
    entry.phase = one.phase;
    entry.started = one.started - state.began;
    entry.took = now - one.started;
    entry.possibly_applied = is_ambiguous(state.request.idempotent(), state.log.lost_in_flight(),
                                          one.phase);
    return entry;
}

void set_cause(attempt& of, const retry_state& state, const error& cause)
{
    of.cause = cause.code();
    of.possibly_applied = of.possibly_applied || is_in_doubt(state.request, cause);
}

void record(retry_state& state, const failed_attempt& failed, time_point now, duration wait,
            std::string decision)
{
    attempt entry = recorded(state, failed.attempt, now);
    set_cause(entry, state, failed.cause);
    entry.labels = {std::string{name_of(failed.reason)}};
    entry.waited = wait;
    entry.decision = std::move(decision);
    state.log.record(std::move(entry));
}

/// The last step of every request: the error gets the whole story.
retry_step end(retry_state state, error why, retry_budget budget = {})
{
    const bool in_doubt = is_in_doubt(state.request, why) ||
                          is_ambiguous(state.request.idempotent(), state.log.lost_in_flight(),
                                       dispatch_phase::answered);
    why = std::move(why)
              .with_context("operation", state.request.operation())
              .with_context("idempotent", state.request.idempotent() ? "true" : "false")
              .with_context("retry_attempts", std::to_string(state.request.retry_attempts()))
              .with_context("retry_reasons", names_of(state.request.retry_reasons()))
              .with_context("may_have_been_applied", in_doubt ? "true" : "false")
              .with_history(state.log.entries());
    state.where = stage::completed;
    state.pending.reset();
    return {std::move(state), complete{std::move(why)}, std::nullopt, budget};
}

retry_step refuse(retry_state state, failed_attempt failed, error why, time_point now,
                  std::string decision, retry_budget budget)
{
    const retry_event event{retry_event::kind::not_retried,
                            failed.reason,
                            state.request.retry_attempts(),
                            duration::zero(),
                            decision,
                            failed.attempt.server};
    record(state, failed, now, duration::zero(), std::move(decision));
    retry_step last = end(std::move(state), std::move(why), budget);
    last.event = event;
    return last;
}

/// Counts, logs, caps, and only then schedules. `wait` was computed from the count before.
retry_step schedule(retry_state state, const failed_attempt& failed, duration wait, time_point now,
                    std::string_view because, retry_budget budget)
{
    state.request.increment_retry_attempts(failed.reason);
    const duration left = deadline_of(state.request).left(now);
    const bool capped = wait >= left;
    wait = std::clamp(wait, duration::zero(), left);

    std::string decision{because};
    if (capped)
        decision.append("; but only ").append(to_text(left)).append(" are left, so it times out");
    else
        decision.append(", after ").append(to_text(wait));
    record(state, failed, now, wait, decision);
    const retry_event event{
        retry_event::kind::scheduled, failed.reason,        state.request.retry_attempts(), wait,
        std::move(decision),          failed.attempt.server};

    state.pending.reset();
    state.where = capped ? stage::waiting_to_time_out : stage::waiting;
    const retry_decision next = capped ? retry_decision{time_out_after{wait}} : retry_after{wait};
    return {std::move(state), next, event, budget};
}

/// Whether a second copy of the request could change something twice. The reason alone would do, if
/// all code that finds reasons were right; the phase is the fact.
bool unsafe_to_repeat(const retry_request& request, const failed_attempt& failed)
{
    return !request.idempotent() && (failed.attempt.phase == dispatch_phase::in_flight ||
                                     !allows_non_idempotent_retry(failed.reason));
}

std::string final_decision(dispatch_phase phase)
{
    switch (phase) {
    case dispatch_phase::not_sent:
        return "not retried: the request cannot be sent";
    case dispatch_phase::in_flight:
        return "not retried: what came back cannot be used";
    case dispatch_phase::answered:
        return "not retried: the server has answered";
    }
    return {};
}

retry_step nothing(retry_state state, retry_budget budget = {})
{
    return {std::move(state), nothing_to_do{}, std::nullopt, budget};
}

/// Ends a request in the middle of whatever it was doing.
retry_step interrupted(retry_state state, const std::optional<started_attempt>& open,
                       time_point now, errc code, std::string_view what)
{
    if (const auto asked = std::exchange(state.pending, std::nullopt))
        record(state, *asked, now, duration::zero(),
               std::string{what} + " before the strategy had answered");
    if (open) {
        attempt entry = recorded(state, *open, now);
        entry.cause = code;
        entry.decision = std::string{what} + " during the attempt";
        state.log.record(std::move(entry));
    }
    std::string message = state.request.operation();
    message.append(message.empty() ? "" : ": ").append(what).append(" after ");
    message.append(to_text(now - state.began)).append(" and ");
    message.append(std::to_string(state.request.retry_attempts())).append(" retries");
    if (const error* const last = state.request.last_failure())
        message.append("; the last failure: ").append(last->message());
    return end(std::move(state), error{code, std::move(message)});
}

}  // namespace

retry_step maybe_retry(retry_state state, failed_attempt failed, time_point now,
                       retry_budget budget)
{
    if (state.where != stage::attempting)
        return nothing(std::move(state), budget);
    state.request.failed_with(failed.cause);
    error cause = failed.cause;
    if (failed.reason == retry_reason::unknown)
        return refuse(std::move(state), std::move(failed), std::move(cause), now,
                      "not retried: what is not understood is not repeated", budget);
    if (unsafe_to_repeat(state.request, failed))
        return refuse(std::move(state), std::move(failed), std::move(cause), now,
                      "not retried: it is not idempotent and may have been applied", budget);
    if (always_retry(failed.reason)) {
        const duration wait = controlled_backoff(state.request.retry_attempts());
        return schedule(std::move(state), failed, wait, now, "always retried", budget);
    }
    const ask_strategy question{failed.reason};
    state.pending = std::move(failed);
    state.where = stage::asking;
    return {std::move(state), question, std::nullopt, budget};
}

retry_step never_retry(retry_state state, failed_attempt failed, time_point now)
{
    if (state.where != stage::attempting)
        return nothing(std::move(state));
    error cause = failed.cause;
    attempt entry = recorded(state, failed.attempt, now);
    set_cause(entry, state, cause);
    entry.decision = final_decision(failed.attempt.phase);
    state.log.record(std::move(entry));
    return end(std::move(state), std::move(cause));
}

retry_step broke_off(retry_state state, failed_attempt failed, time_point now,
                     std::string_view handed_out)
{
    if (state.where != stage::attempting)
        return nothing(std::move(state));
    error cause = failed.cause;
    std::string decision = "not retried: ";
    decision.append(handed_out).append(" were handed out already");
    return refuse(std::move(state), std::move(failed), std::move(cause), now, std::move(decision),
                  {});
}

retry_step with_answer(retry_state state, result<retry_action> answer, time_point now,
                       retry_budget budget)
{
    if (state.where != stage::asking)
        return nothing(std::move(state), budget);
    failed_attempt failed = *std::exchange(state.pending, std::nullopt);
    if (!answer)
        return refuse(std::move(state), std::move(failed), std::move(answer).error(), now,
                      "not retried: the strategy failed", budget);
    if (const auto& chosen = answer->chosen_error())
        return refuse(std::move(state), std::move(failed), *chosen, now,
                      "not retried: the strategy chose to fail", budget);
    if (!answer->wait()) {
        error cause = failed.cause;
        return refuse(std::move(state), std::move(failed), std::move(cause), now,
                      "not retried: the strategy refused", budget);
    }
    if (budget) {
        const auto paid = budget->spend(retry_cost);
        if (!paid) {
            error cause = failed.cause;
            return refuse(std::move(state), std::move(failed), std::move(cause), now,
                          "not retried: the retry budget is empty", budget);
        }
        budget = paid;
    }
    return schedule(std::move(state), failed, *answer->wait(), now, "retried by the strategy",
                    budget);
}

retry_step after_wait(retry_state state, time_point now)
{
    if (state.where != stage::waiting && state.where != stage::waiting_to_time_out)
        return nothing(std::move(state));
    if (state.where == stage::waiting_to_time_out || deadline_of(state.request).expired(now))
        return timed_out(std::move(state), std::nullopt, now);
    state.where = stage::attempting;
    return {std::move(state), dispatch_now{}};
}

retry_step timed_out(retry_state state, std::optional<started_attempt> open, time_point now)
{
    if (state.where == stage::completed)
        return nothing(std::move(state));
    const bool lost = state.log.lost_in_flight() ||
                      (open && open->phase == dispatch_phase::in_flight);
    const bool in_doubt = is_ambiguous(state.request.idempotent(), lost, dispatch_phase::answered);
    return interrupted(std::move(state), open, now,
                       in_doubt ? errc::ambiguous_timeout : errc::unambiguous_timeout, "timed out");
}

retry_step cancelled(retry_state state, std::optional<started_attempt> open, time_point now)
{
    if (state.where == stage::completed)
        return nothing(std::move(state));
    return interrupted(std::move(state), open, now, errc::request_canceled, "cancelled");
}

std::string to_text(const retry_event& event, const retry_request& request)
{
    std::string line = request.operation();
    line.append(event.what == retry_event::kind::scheduled ? ": retry " : ": no retry after ");
    line.append(std::to_string(event.attempts)).append(" for ").append(name_of(event.reason));
    return line.append(": ").append(event.decision);
}

namespace {

struct reason_error {
    retry_reason reason;
    errc code;
};

/// A reason that is not listed has no better error than a cancelled request.
constexpr reason_error reason_errors[] = {
    {retry_reason::service_not_available, errc::service_not_available},
    {retry_reason::kv_collection_outdated, errc::collection_not_found},
    {retry_reason::kv_locked, errc::document_locked},
    {retry_reason::kv_temporary_failure, errc::temporary_failure},
    {retry_reason::kv_sync_write_in_progress, errc::durable_write_in_progress},
    {retry_reason::kv_sync_write_re_commit_in_progress, errc::durable_write_re_commit_in_progress},
    {retry_reason::query_prepared_statement_failure, errc::prepared_statement_failure},
    {retry_reason::query_index_not_found, errc::index_not_found},
    {retry_reason::analytics_temporary_failure, errc::temporary_failure},
    {retry_reason::authentication_error, errc::authentication_failure},
    {retry_reason::tls_error, errc::generic_failure},
    {retry_reason::bucket_access_error, errc::generic_failure},
    {retry_reason::scope_not_found, errc::scope_not_found},
    {retry_reason::collection_not_found, errc::collection_not_found},
};

}  // namespace

error error_for(retry_reason reason, std::string detail)
{
    const auto row = std::ranges::find(reason_errors, reason, &reason_error::reason);
    const errc code = row == std::end(reason_errors) ? errc::request_canceled : row->code;
    return error{code, std::move(detail)};
}

}  // namespace holdfast::core::couchbase
