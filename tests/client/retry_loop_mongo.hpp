#pragma once
#include "client/retry_loop_run.hpp"
#include "core/mongo/retry/decide.hpp"
#include "core/retry/attempt_log.hpp"

#include <atomic>

namespace holdfast::retry_test {

/// core::mongo::decide in the loop, over attempts that go by a script. What is not in the script
/// succeeds, with the number of the attempt.
class mongo_operation {
public:
    using value_type = std::size_t;
    using failure = core::mongo::failed_attempt;
    using script = std::vector<scripted<failure>>;

    mongo_operation(runtime::world& in, core::mongo::retry_policy policy, script attempts,
                    std::atomic<core::token_bucket>& tokens, ledger& book)
        : world_{&in},
          policy_{policy},
          script_{std::move(attempts)},
          tokens_{&tokens},
          book_{&book},
          began_{in.steady_now()}
    {
    }

    runtime::awaitable<result<std::size_t>> attempt()
    {
        const lease connection{*book_};
        const std::size_t n = book_->dispatched.size();
        const scripted<failure> what = n < script_.size() ? script_[n] : scripted<failure>{};
        started_ = world_->steady_now();
        book_->dispatched.push_back(started_);
        failed_ = what.fails.value_or(failure{});
        phase_ = dispatch_phase::in_flight;
        if (what.takes > duration::zero()) {
            const time_point done = std::min(started_ + what.takes, policy_.until.when());
            const auto end = co_await runtime::sleep_until(*world_, done);
            if (end == runtime::wait_end::cancelled || policy_.until.expired(done)) {
                failed_ = failure{};  // the connection is gone, and the rest is unknown
                co_return numbered(n);
            }
        }
        phase_ = dispatch_phase::answered;
        if (what.fails)
            co_return numbered(n);
        update_tokens([&](core::token_bucket bucket) {
            return core::mongo::reward(policy_, progress_, bucket);
        });
        co_return n;
    }

    shell::settled_step decide_retry(error why, time_point now)
    {
        const double chance = world_->chance();
        core::mongo::retry_decision d;
        update_tokens([&](core::token_bucket bucket) {
            d = core::mongo::decide(policy_, progress_, failed_, bucket, now, chance);
            return d.tokens;
        });
        progress_ = d.progress;
        const duration wait = d.retries() ? d.wait : duration::zero();
        record(why, now, wait, core::mongo::describe(d));
        if (d.reports_this)
            reported_.emplace(std::move(why));
        if (!d.retries())
            return shell::give_up{with_story(*std::move(reported_))};
        book_->decided.push_back({now, wait});
        return shell::try_again{wait};
    }
    std::optional<error> woke(time_point) { return std::nullopt; }
    error timed_out(time_point)
    {
        const auto code = make_error_code(boost::system::errc::timed_out);
        return with_story(error{code, "out of time before the next attempt"});
    }
    error cancelled(const error* undecided, time_point now)
    {
        if (undecided != nullptr)
            record(*undecided, now, duration::zero(), "not retried: cancelled");
        return with_story(error{runtime::errc::cancelled, "the operation was cancelled"});
    }
    void about_to_wait() { book_->about_to_wait(); }

private:
    template <class Change>
    void update_tokens(Change change)
    {
        core::token_bucket seen = tokens_->load();
        while (!tokens_->compare_exchange_weak(seen, change(seen))) {}
    }
    void record(const error& why, time_point now, duration wait, std::string decision)
    {
        ++book_->failed;
        attempt_.phase = phase_;
        attempt_.cause = why.code();
        attempt_.started = started_ - began_;
        attempt_.took = now - started_;
        attempt_.waited = wait;
        attempt_.decision = std::move(decision);
        log_.record(attempt_);
    }
    error with_story(error why) { return std::move(why).with_history(std::move(log_).entries()); }

    runtime::world* world_;
    core::mongo::retry_policy policy_;
    script script_;
    std::atomic<core::token_bucket>* tokens_;
    ledger* book_;
    time_point began_;
    time_point started_{};
    failure failed_;
    dispatch_phase phase_ = dispatch_phase::not_sent;
    core::mongo::retry_progress progress_;
    holdfast::attempt attempt_;
    core::attempt_log log_;
    std::optional<error> reported_;
};

}  // namespace holdfast::retry_test
