#pragma once
#include "core/couchbase/retry/orchestrator.hpp"
#include "core/couchbase/retry/strategy.hpp"
#include "client/retry_loop_run.hpp"

#include <cassert>

namespace holdfast::retry_test {

/// The orchestrator of core::couchbase in the loop, over attempts that go by a script. What is not
/// in the script succeeds, with the number of the attempt.
class couchbase_operation {
public:
    using value_type = std::size_t;
    using answer_type = result<core::couchbase::retry_action>;
    struct failure {
        core::couchbase::retry_reason reason;
        dispatch_phase phase = dispatch_phase::answered;
    };
    using script = std::vector<scripted<failure>>;

    couchbase_operation(runtime::world& in, core::couchbase::retry_request::settings of,
                        script attempts, ledger& book)
        : world_{&in},
          script_{std::move(attempts)},
          book_{&book},
          state_{core::couchbase::retry_request{std::move(of)}, in.steady_now()}
    {
    }

    runtime::awaitable<result<std::size_t>> attempt()
    {
        const lease connection{*book_};
        const std::size_t n = book_->dispatched.size();
        const scripted<failure> what = n < script_.size() ? script_[n] : scripted<failure>{};
        open_ = {endpoint{"node:11210"}, dispatch_phase::in_flight, world_->steady_now()};
        book_->dispatched.push_back(open_.started);
        if (what.takes > duration::zero()) {
            const time_point until = state_.request.deadline().value_or(runtime::never);
            const time_point done = std::min(open_.started + what.takes, until);
            const auto end = co_await runtime::sleep_until(*world_, done);
            out_of_time_ = done == until;
            if (end == runtime::wait_end::cancelled || out_of_time_)
                co_return numbered(n);
        }
        if (!what.fails)
            co_return n;
        reason_ = what.fails->reason;
        open_.phase = what.fails->phase;
        co_return numbered(n);
    }

    shell::retry_step decide_retry(error why, time_point now)
    {
        ++book_->failed;
        if (out_of_time_)
            return widened(apply(core::couchbase::timed_out(take_state(), open_, now), now));
        core::couchbase::failed_attempt failed{open_, reason_, std::move(why)};
        auto step = core::couchbase::maybe_retry(take_state(), std::move(failed), now);
        if (std::holds_alternative<core::couchbase::ask_strategy>(step.next)) {
            state_ = std::move(step.state);
            return shell::ask_first{};
        }
        return widened(apply(std::move(step), now));
    }
    void ask(std::function<void(answer_type)> reply)
    {
        core::couchbase::consult(*state_.request.strategy(), state_.request, reason_,
                                 core::couchbase::retry_reply{std::move(reply)});
    }
    shell::settled_step answered(answer_type answer, time_point now)
    {
        return apply(core::couchbase::with_answer(take_state(), std::move(answer), now), now);
    }
    std::optional<error> woke(time_point now)
    {
        auto step = core::couchbase::after_wait(take_state(), now);
        state_ = std::move(step.state);
        if (auto* const last = std::get_if<core::couchbase::complete>(&step.next))
            return std::move(last->why);
        return std::nullopt;
    }
    error timed_out(time_point now)
    {
        return end_of(core::couchbase::timed_out(take_state(), std::nullopt, now));
    }
    error cancelled(const error* undecided, time_point now)
    {
        book_->failed += undecided != nullptr;
        const auto open = undecided != nullptr ? std::optional{open_} : std::nullopt;
        return end_of(core::couchbase::cancelled(take_state(), open, now));
    }
    void about_to_wait() { book_->about_to_wait(); }

private:
    core::couchbase::retry_state take_state() { return std::move(state_); }

    shell::settled_step apply(core::couchbase::retry_step step, time_point now)
    {
        using namespace core::couchbase;
        state_ = std::move(step.state);
        if (auto* const last = std::get_if<complete>(&step.next))
            return shell::give_up{std::move(last->why)};
        // The wait is capped already; that it ends as a time-out is for the loop to say.
        const auto* const capped = std::get_if<time_out_after>(&step.next);
        const duration wait = capped != nullptr ? capped->wait
                                                : std::get<retry_after>(step.next).wait;
        book_->decided.push_back({now, wait});
        return shell::try_again{wait};
    }
    static shell::retry_step widened(shell::settled_step step)
    {
        return std::visit([](auto& one) { return shell::retry_step{std::move(one)}; }, step);
    }
    error end_of(core::couchbase::retry_step step)
    {
        state_ = std::move(step.state);
        return std::get<core::couchbase::complete>(std::move(step.next)).why;
    }

    runtime::world* world_;
    script script_;
    ledger* book_;
    core::couchbase::retry_state state_;
    core::couchbase::started_attempt open_;
    core::couchbase::retry_reason reason_ = core::couchbase::retry_reason::unknown;
    bool out_of_time_ = false;
};

}  // namespace holdfast::retry_test
