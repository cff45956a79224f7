#pragma once
#include "core/couchbase/retry/dispatch.hpp"
#include "core/couchbase/retry/orchestrator.hpp"
#include "core/couchbase/retry/strategy.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::core::couchbase::testing {

/// Time that passes only when nothing else is left to do.
class virtual_clock {
public:
    time_point now() const { return now_; }
    void at(time_point when, std::function<void()> what) { queue_.emplace(when, std::move(what)); }
    void after(duration wait, std::function<void()> what) { at(now_ + wait, std::move(what)); }

    /// Until nothing is left, or for so many steps: a request that never ends must not hang a test.
    void run(int steps = 1'000'000)
    {
        for (; steps > 0 && !queue_.empty(); --steps) {
            auto next = queue_.extract(queue_.begin());
            now_ = std::max(now_, next.key());
            next.mapped()();
        }
    }

private:
    time_point now_{std::chrono::hours{1}};
    std::multimap<time_point, std::function<void()>> queue_;
};

/// How one attempt goes. Without a failure it succeeds; without an end it hangs.
struct attempt_script {
    std::optional<duration> takes = duration::zero();
    std::optional<failed_attempt> fails = {};
};

/// What the shell will be, on a virtual clock: it asks the core, does what it says, reports what
/// happened, and writes all of it down.
class virtual_request {
public:
    using script = std::function<attempt_script(std::uint32_t number)>;

    virtual_request(virtual_clock& clock, retry_request::settings of, script attempts,
                    retry_budget budget = {})
        : clock_{clock},
          script_{std::move(attempts)},
          budget_{budget},
          state_{retry_request{std::move(of)}, clock.now()}
    {
    }

    void start()
    {
        if (const auto deadline = state_.request.deadline())
            clock_.at(*deadline, [this] { apply(timed_out(take_state(), open_, clock_.now())); });
        dispatch();
    }
    void cancel() { apply(cancelled(take_state(), open_, clock_.now())); }

    std::vector<duration> dispatched;  // since the start
    std::vector<duration> waits;
    std::vector<retry_event> events;
    std::vector<retry_reason> asked;
    int completions = 0;
    std::optional<holdfast::error> failed;
    duration ended{};

    bool succeeded() const { return completions == 1 && !failed; }
    /// The error it ended with; one without a code if there is none, which no test expects.
    holdfast::error error() const
    {
        return failed ? *failed : holdfast::error{error_code{}, "no failure"};
    }
    const retry_request& request() const { return state_.request; }
    const retry_budget& budget() const { return budget_; }

private:
    retry_state take_state() { return std::move(state_); }
    duration elapsed() const { return clock_.now() - state_.began; }

    void dispatch()
    {
        const auto number = static_cast<std::uint32_t>(dispatched.size());
        dispatched.push_back(elapsed());
        open_ = started_attempt{endpoint{"node:11210"}, dispatch_phase::in_flight, clock_.now()};
        const attempt_script one = script_(number);
        if (one.takes)
            clock_.after(*one.takes, [this, one] { finish(one); });
    }

    void finish(const attempt_script& one)
    {
        if (completions > 0)
            return;  // the answer to a request that is over
        const started_attempt was = *std::exchange(open_, std::nullopt);
        if (one.fails) {
            failed_attempt failure = *one.fails;
            failure.attempt.started = was.started;
            return apply(maybe_retry(take_state(), std::move(failure), clock_.now(), budget_));
        }
        ++completions;
        ended = elapsed();
        state_.where = retry_state::stage::completed;
        if (budget_)
            budget_ = budget_->earn(success_refund);
    }

    void apply(retry_step step)
    {
        state_ = std::move(step.state);
        if (step.budget)
            budget_ = step.budget;
        if (step.event)
            events.push_back(*step.event);
        std::visit([this](const auto& next) { act(next); }, step.next);
    }

    void act(const retry_after& next) { sleep(next.wait); }
    void act(const time_out_after& next) { sleep(next.wait); }
    void act(const dispatch_now&) { dispatch(); }
    void act(const nothing_to_do&) {}
    void act(const complete& end)
    {
        ++completions;
        failed = end.why;
        ended = elapsed();
    }
    void act(const ask_strategy& question)
    {
        asked.push_back(question.reason);
        const retry_request snapshot = state_.request;
        consult(*snapshot.strategy(), snapshot, question.reason,
                retry_reply{[this](result<retry_action> answer) {
                    apply(with_answer(take_state(), std::move(answer), clock_.now(), budget_));
                }});
    }

    void sleep(duration wait)
    {
        waits.push_back(wait);
        clock_.after(wait, [this] { apply(after_wait(take_state(), clock_.now())); });
    }

    virtual_clock& clock_;
    script script_;
    retry_budget budget_;
    retry_state state_;
    std::optional<started_attempt> open_;
};

inline failed_attempt failed_by(retry_reason reason,
                                dispatch_phase phase = dispatch_phase::answered)
{
    return {{endpoint{"node:11210"}, phase, {}}, reason, error_for(reason, "it failed")};
}

/// Fails `times` times, then succeeds.
inline virtual_request::script failing(std::uint32_t times, failed_attempt with,
                                       duration takes = duration::zero())
{
    return [=](std::uint32_t number) {
        return number < times ? attempt_script{takes, with} : attempt_script{takes};
    };
}
inline virtual_request::script always_failing(failed_attempt with)
{
    return [with](std::uint32_t) { return attempt_script{duration::zero(), with}; };
}

/// A strategy made of a function, which also counts how often it is asked.
class strategy_of final : public retry_strategy {
public:
    using body = std::function<retry_answer(const retry_request&, retry_reason)>;
    explicit strategy_of(body what) : what_{std::move(what)} {}
    retry_answer retry_after(const retry_request& request, retry_reason reason) const override
    {
        ++calls;
        return what_(request, reason);
    }
    mutable int calls = 0;

private:
    body what_;
};

inline std::shared_ptr<strategy_of> strategy(strategy_of::body what)
{
    return std::make_shared<strategy_of>(std::move(what));
}
inline std::shared_ptr<strategy_of> refusing()
{
    return strategy([](const retry_request&, retry_reason) { return retry_action::no_retry(); });
}
inline std::shared_ptr<strategy_of> constant(duration wait)
{
    return strategy(
        [wait](const retry_request&, retry_reason) { return retry_action::with_duration(wait); });
}

inline holdfast::couchbase::retry_strategy_ptr best_effort()
{
    return std::make_shared<holdfast::couchbase::best_effort_retry_strategy>();
}

/// An operation that changes something, and one that does not.
inline retry_request::settings upsert(holdfast::couchbase::retry_strategy_ptr by = {})
{
    return {.operation = "upsert", .strategy = std::move(by)};
}
inline retry_request::settings get(holdfast::couchbase::retry_strategy_ptr by = {})
{
    return {.operation = "get", .idempotent = true, .strategy = std::move(by)};
}

/// A retry_state at its beginning, for tests of single steps.
inline retry_state begun(retry_request::settings of)
{
    return {retry_request{std::move(of)}, time_point{}};
}

}  // namespace holdfast::core::couchbase::testing
