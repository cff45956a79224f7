// Random requests: whatever the server, the network and the strategy do, the promises hold.
#include "check.hpp"
#include "choices.hpp"
#include "unit/core/couchbase/retry/virtual_shell.hpp"

#include <stdexcept>

namespace holdfast::property::couchbase_retry_test {
namespace {

using namespace std::chrono_literals;
using namespace core::couchbase;
using namespace core::couchbase::testing;

/// One random request and everything it meets. Once the choices are used up every attempt succeeds
/// at once, so that all stories have an end.
class random_story {
public:
    explicit random_story(std::span<const std::uint8_t> bytes) : c_{bytes}
    {
        settings_.idempotent = c_.one_in(2);
        settings_.strategy = any_strategy();
        timeout_ = milliseconds{c_.below(5000)};
        settings_.deadline = clock_.now() + timeout_;
        if (c_.one_in(4))
            budget_ = core::token_bucket{core::tokens::whole(static_cast<int>(c_.below(4)))};
        const bool is_cancelled = c_.one_in(8);
        const duration cancelled_at = milliseconds{c_.below(6000)};

        virtual_request request{clock_, settings_, [this](std::uint32_t) { return attempt(); },
                                budget_};
        request.start();
        if (is_cancelled)
            clock_.after(cancelled_at, [&request] { request.cancel(); });
        clock_.run();
        decide_retry(request, is_cancelled);
    }

private:
    using milliseconds = std::chrono::milliseconds;

    holdfast::couchbase::retry_strategy_ptr any_strategy()
    {
        switch (c_.below(4)) {
        case 0:
            return holdfast::couchbase::default_retry_strategy();
        case 1:
            return best_effort();
        case 2:
            return std::make_shared<strict_fail_fast_strategy>();
        default:
            return strategy([this](const retry_request&, retry_reason) { return any_answer(); });
        }
    }

    retry_answer any_answer()
    {
        const auto wait = milliseconds{static_cast<int>(c_.below(900)) - 100};
        switch (c_.below(8)) {
        case 0:
            return retry_action::no_retry();
        case 1:
            return retry_action::fail_with(error{errc::quota_limited, "chosen"});
        case 2:
            throw std::runtime_error{"thrown"};
        case 3:
            return retry_answer::later([](retry_reply) {});
        case 4:
            return retry_answer::later([this](retry_reply reply) {
                hanging_.push_back(std::make_shared<retry_reply>(std::move(reply)));
            });
        case 5:
            return retry_answer::later([this, wait](retry_reply reply) {
                const auto kept = std::make_shared<retry_reply>(std::move(reply));
                clock_.after(milliseconds{c_.below(3000)},
                             [kept, wait] { (*kept)(retry_action::with_duration(wait)); });
            });
        default:
            return retry_action::with_duration(wait);
        }
    }

    attempt_script attempt()
    {
        if (was_lost_ && !settings_.idempotent)
            RC_FAIL("a change that was in flight was sent again");
        if (clock_.now() >= *settings_.deadline && !first_)
            RC_FAIL("sent after the deadline");
        first_ = false;
        if (c_.used_up())
            return attempt_script{};
        const duration takes = milliseconds{c_.below(300)};
        switch (c_.below(8)) {
        case 0:
            return attempt_script{takes};
        case 1:
            return attempt_script{std::nullopt};
        default:
            break;
        }
        const auto reason = static_cast<retry_reason>(
            c_.below(holdfast::couchbase::retry_reason_count));
        const auto phase = static_cast<dispatch_phase>(c_.below(3));
        const bool lost = phase == dispatch_phase::in_flight;
        clock_.after(takes, [this, lost] { was_lost_ = was_lost_ || lost; });
        return attempt_script{takes, failed_by(reason, phase)};
    }

    void decide_retry(virtual_request& request, bool is_cancelled)
    {
        const int before = request.completions;
        if (before != 1)
            RC_FAIL("completed " + std::to_string(before) + " times");
        RC_ASSERT(request.ended <= timeout_);
        RC_ASSERT(request.dispatched.size() <= request.request().retry_attempts() + 1u);
        RC_ASSERT(request.request().retry_reasons().size() <= request.request().retry_attempts());
        if (request.failed && request.failed->code() == errc::ambiguous_timeout)
            RC_ASSERT(!settings_.idempotent);
        if (request.failed && request.failed->code() == errc::unambiguous_timeout)
            RC_ASSERT(request.ended == timeout_);
        if (request.failed && !is_cancelled && settings_.idempotent)
            RC_ASSERT(request.failed->context("may_have_been_applied") == "false");
        if (request.failed && request.failed->history().empty())
            RC_ASSERT(request.ended == timeout_ || is_cancelled);

        // Answers that come too late change nothing.
        for (const auto& reply : hanging_)
            (*reply)(retry_action::with_duration(0ms));
        clock_.run();
        RC_ASSERT(request.completions == 1);
    }

    choices c_;
    virtual_clock clock_;
    retry_request::settings settings_;
    duration timeout_{};
    retry_budget budget_;
    std::vector<std::shared_ptr<retry_reply>> hanging_;
    bool first_ = true;
    bool was_lost_ = false;
};

TEST(couchbase_retry_property, every_request_ends_once_in_time_without_double_apply)
{
    check([] {
        const choice_bytes bytes = *any_choices();
        const random_story story{bytes};
    });
}

/// A mutation is in doubt exactly if an attempt was sent and not answered.
TEST(couchbase_retry_property, only_an_unanswered_mutation_is_ambiguous)
{
    check([] {
        const choice_bytes bytes = *any_choices();
        choices c{bytes};
        const bool idempotent = c.one_in(2);
        const std::size_t answered = c.below(12);
        std::optional<duration> last_takes;
        virtual_clock clock;
        auto of = idempotent ? get(constant(1ms)) : upsert(constant(1ms));
        of.deadline = clock.now() + 100ms;
        virtual_request request{clock, of, [&](std::uint32_t number) -> attempt_script {
                                    last_takes.reset();
                                    if (number < answered)
                                        last_takes = std::chrono::milliseconds{c.below(20)};
                                    return {last_takes, failed_by(retry_reason::kv_locked)};
                                }};
        request.start();
        clock.run();
        const bool unanswered = !last_takes || request.dispatched.back() + *last_takes >= 100ms;
        RC_ASSERT(request.failed.has_value());
        RC_ASSERT(
            request.failed->code() ==
            (unanswered && !idempotent ? errc::ambiguous_timeout : errc::unambiguous_timeout));
    });
}

}  // namespace
}  // namespace holdfast::property::couchbase_retry_test
