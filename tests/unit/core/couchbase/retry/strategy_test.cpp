#include "core/couchbase/retry/strategy.hpp"

#include "support/verifies.hpp"
#include "unit/core/couchbase/retry/virtual_shell.hpp"

#include <boost/system/system_error.hpp>

#include <stdexcept>
#include <thread>

namespace holdfast::core::couchbase::strategy_test {
namespace {

using namespace std::chrono_literals;
using namespace testing;
namespace hc = holdfast::couchbase;

/// What a strategy that answers at once says.
retry_action answer_of(const retry_strategy& strategy, const retry_request& request,
                       retry_reason reason)
{
    const retry_answer answer = strategy.retry_after(request, reason);
    return *answer.at_once();
}

retry_request after_retries(retry_request::settings of, std::uint32_t retries)
{
    retry_request request{std::move(of)};
    for (std::uint32_t i = 0; i < retries; ++i)
        request.increment_retry_attempts(retry_reason::kv_locked);
    return request;
}

TEST(retry_action, holds_a_wait_an_error_or_neither)
{
    VERIFIES("CR-016");
    EXPECT_EQ(retry_action::with_duration(7ms).wait(), 7ms);
    EXPECT_FALSE(retry_action::no_retry().wait());
    EXPECT_FALSE(retry_action::no_retry().chosen_error());
    const auto chosen = retry_action::fail_with(error{errc::cas_mismatch, "so be it"});
    EXPECT_FALSE(chosen.wait());
    ASSERT_TRUE(chosen.chosen_error());
    EXPECT_EQ(chosen.chosen_error()->code(), errc::cas_mismatch);
}

TEST(best_effort, retries_idempotent_requests_and_safe_reasons)
{
    VERIFIES("CR-021");
    VERIFIES("CR-022");
    const hc::best_effort_retry_strategy strategy;
    struct row { bool idempotent; retry_reason reason; bool retried; };
    const row table[] = {
        {false, retry_reason::socket_closed_while_in_flight, false},
        {false, retry_reason::kv_temporary_failure, true},
        {true, retry_reason::socket_closed_while_in_flight, true},
        {true, retry_reason::kv_temporary_failure, true},
    };
    for (const row& r : table) {
        const retry_request request{r.idempotent ? get() : upsert()};
        const auto action = answer_of(strategy, request, r.reason);
        EXPECT_EQ(action.wait().has_value(), r.retried);
        EXPECT_FALSE(action.chosen_error());
    }
}

TEST(best_effort, backoff_doubles_from_1_to_500_ms)
{
    VERIFIES("CR-023");
    const hc::best_effort_retry_strategy strategy;
    const duration expected[] = {1ms,   2ms,   4ms,   8ms,   16ms,  32ms, 64ms,
                                 128ms, 256ms, 500ms, 500ms, 500ms, 500ms};
    for (std::uint32_t made = 0; made < std::size(expected); ++made) {
        SCOPED_TRACE(made);
        const retry_request request = after_retries(get(), made);
        EXPECT_EQ(answer_of(strategy, request, retry_reason::kv_locked).wait(), expected[made]);
    }
    EXPECT_EQ(hc::exponential_retry_backoff()(10'000), 500ms);
    EXPECT_EQ(hc::exponential_retry_backoff()(0xffff'ffff), 500ms);
}

TEST(best_effort, custom_backoff_calculator_is_used)
{
    VERIFIES("CR-024");
    const auto linear = [](std::uint32_t made) { return 7ms * (made + 1); };
    const hc::best_effort_retry_strategy strategy{linear};
    const auto request = after_retries(upsert(), 2);
    EXPECT_EQ(answer_of(strategy, request, retry_reason::kv_locked).wait(), 21ms);

    const hc::best_effort_retry_strategy none{hc::backoff_calculator{}};
    EXPECT_EQ(answer_of(none, request, retry_reason::kv_locked).wait(), 4ms);
}

struct terminal_row {
    const char* id;
    retry_reason reason;
    errc code;
    const char* says;
};

TEST(fast_fail, terminal_reasons_fail_with_their_error)
{
    const terminal_row table[] = {
        {"CR-039", retry_reason::authentication_error, errc::authentication_failure, "credentials"},
        {"CR-040", retry_reason::tls_error, errc::generic_failure, "TLS"},
        {"CR-041", retry_reason::bucket_access_error, errc::generic_failure, "bucket"},
        {"CR-042", retry_reason::scope_not_found, errc::scope_not_found, "scope"},
        {"CR-043", retry_reason::collection_not_found, errc::collection_not_found, "collection"},
    };
    const hc::fast_fail_on_terminal_error_retry_strategy strategy;
    for (const terminal_row& row : table) {
        SCOPED_TRACE(row.id);
        VERIFIES_ROW(row.id);
        for (const bool idempotent : {false, true}) {
            retry_request request{idempotent ? get() : upsert()};
            request.failed_with(error{errc::request_canceled, "details of it"});
            const auto action = answer_of(strategy, request, row.reason);
            EXPECT_FALSE(action.wait());
            ASSERT_TRUE(action.chosen_error());
            EXPECT_EQ(action.chosen_error()->code(), row.code);
            EXPECT_NE(action.chosen_error()->message().find(row.says), std::string::npos);
            EXPECT_NE(action.chosen_error()->message().find("details of it"), std::string::npos);
        }
    }
}

TEST(fast_fail, other_reasons_behave_like_best_effort)
{
    VERIFIES("CR-044");
    const hc::fast_fail_on_terminal_error_retry_strategy fast;
    const hc::best_effort_retry_strategy best;
    int compared = 0;
    for (const auto& row : hc::retry_reason_table) {
        if (row.reason >= retry_reason::authentication_error)
            continue;
        SCOPED_TRACE(row.name);
        for (const bool idempotent : {false, true})
            for (const std::uint32_t made : {0u, 1u, 5u, 50u}) {
                const auto request = after_retries(idempotent ? get() : upsert(), made);
                const auto action = answer_of(fast, request, row.reason);
                EXPECT_EQ(action.wait(), answer_of(best, request, row.reason).wait());
                EXPECT_FALSE(action.chosen_error());
                ++compared;
            }
    }
    EXPECT_EQ(compared, 20 * 2 * 4);
}

TEST(fast_fail, custom_backoff_calculator_is_used)
{
    VERIFIES("CR-027");
    const hc::fast_fail_on_terminal_error_retry_strategy fast{[](std::uint32_t) { return 3ms; }};
    EXPECT_EQ(answer_of(fast, retry_request{get()}, retry_reason::kv_locked).wait(), 3ms);
}

TEST(strategies, default_strategy_fails_fast_on_terminal_errors)
{
    VERIFIES("CR-028");
    const auto is_fast = [](const hc::retry_strategy_ptr& strategy) {
        return dynamic_cast<const hc::fast_fail_on_terminal_error_retry_strategy*>(
                   strategy.get()) != nullptr;
    };
    EXPECT_TRUE(is_fast(hc::default_retry_strategy()));
    EXPECT_TRUE(is_fast(retry_request{{}}.strategy()));
    EXPECT_TRUE(is_fast(hc::choose_strategy(nullptr, nullptr)));
}

TEST(strategies, strategy_of_the_request_overrides_the_cluster)
{
    VERIFIES("CR-008");
    VERIFIES("CR-011");
    const auto of_request = refusing(), of_cluster = constant(1ms);
    EXPECT_EQ(hc::choose_strategy(of_request, of_cluster), of_request);
    EXPECT_EQ(hc::choose_strategy(nullptr, of_cluster), of_cluster);
    const retry_request overridden{get(hc::choose_strategy(of_request, of_cluster))};
    EXPECT_EQ(overridden.strategy(), of_request);
}

TEST(strategies, strict_fail_fast_never_retries)
{
    const strict_fail_fast_strategy strict;
    for (const auto& row : hc::retry_reason_table) {
        const auto action = answer_of(strict, retry_request{get()}, row.reason);
        EXPECT_FALSE(action.wait());
        EXPECT_FALSE(action.chosen_error());
    }
}

/// The example of the RFC.
class no_robots : public hc::best_effort_retry_strategy {
public:
    retry_answer retry_after(const retry_request& request, retry_reason reason) const override
    {
        if (request.context("isRobotRequest"))
            return retry_action::no_retry();
        return best_effort_retry_strategy::retry_after(request, reason);
    }
};

TEST(strategies, strategy_can_read_the_client_context)
{
    VERIFIES("CR-019");
    const no_robots strategy;
    const auto context = std::make_shared<hc::client_context>();
    (*context)["isRobotRequest"] = true;
    (*context)["tenant"] = std::string{"blue"};
    retry_request::settings of = get();
    EXPECT_TRUE(answer_of(strategy, retry_request{of}, retry_reason::kv_locked).wait());
    of.context = context;
    const retry_request request{of};
    EXPECT_FALSE(answer_of(strategy, request, retry_reason::kv_locked).wait());
    EXPECT_EQ(std::any_cast<std::string>(*request.context("tenant")), "blue");
    EXPECT_EQ(request.context("nothing"), nullptr);
}

TEST(strategies, strategy_can_read_service_deadline_and_last_failure)
{
    VERIFIES("CR-010");
    retry_request::settings of = get();
    of.service = service_type::query;
    of.deadline = time_point{5s};
    retry_request request{of};
    EXPECT_EQ(request.last_failure(), nullptr);
    request.failed_with(error{errc::document_locked, "locked"});
    EXPECT_TRUE(request.idempotent());
    EXPECT_EQ(request.operation(), "get");
    EXPECT_EQ(request.service(), service_type::query);
    EXPECT_EQ(request.deadline(), time_point{5s});
    EXPECT_EQ(request.last_failure()->code(), errc::document_locked);
    EXPECT_FALSE(retry_request{{}}.idempotent());
    EXPECT_FALSE(retry_request{{}}.deadline());
}

/// What comes out of consult(), if anything has come out yet.
struct mailbox {
    int letters = 0;
    std::optional<result<retry_action>> last;

    retry_reply reply()
    {
        return retry_reply{[this](result<retry_action> answer) {
            ++letters;
            last = std::move(answer);
        }};
    }
};

void ask(mailbox& box, const retry_strategy& whom)
{
    consult(whom, retry_request{get()}, retry_reason::kv_locked, box.reply());
}

TEST(consult, immediate_answer_is_delivered)
{
    mailbox box;
    ask(box, *constant(9ms));
    ASSERT_EQ(box.letters, 1);
    ASSERT_TRUE(box.last->has_value());
    EXPECT_EQ((*box.last)->wait(), 9ms);
}

TEST(consult, later_answer_from_another_thread_is_delivered)
{
    mailbox box;
    std::optional<retry_reply> kept;
    const auto slow = strategy([&](const retry_request&, retry_reason) {
        return retry_answer::later([&](retry_reply reply) { kept = std::move(reply); });
    });
    ask(box, *slow);
    EXPECT_EQ(box.letters, 0);  // and the caller was not blocked
    std::thread{[&] { (*kept)(retry_action::with_duration(3ms)); }}.join();
    ASSERT_EQ(box.letters, 1);
    EXPECT_EQ((*box.last)->wait(), 3ms);
    kept.reset();
    EXPECT_EQ(box.letters, 1);
}

TEST(consult, later_error_is_delivered)
{
    mailbox box;
    const auto failing_later = strategy([](const retry_request&, retry_reason) {
        return retry_answer::later(
            [](retry_reply reply) { reply(error{errc::rate_limited, "the oracle is shut"}); });
    });
    ask(box, *failing_later);
    ASSERT_EQ(box.letters, 1);
    EXPECT_EQ(box.last->error().code(), errc::rate_limited);
}

TEST(consult, exception_is_delivered_as_an_error)
{
    struct row {
        const char* why;
        std::function<void()> thrower;
        error_code code;
        const char* says;
    };
    const error_code refused = make_error_code(boost::system::errc::connection_refused);
    const row table[] = {
        {"an exception", [] { throw std::runtime_error{"boom"}; }, errc::retry_strategy_failure,
         "boom"},
        {"our own", [] { throw holdfast::failure{error{errc::cas_mismatch, "mine"}}; },
         errc::cas_mismatch, "mine"},
        {"a system error", [&] { throw boost::system::system_error{refused}; }, refused, "refused"},
        {"a number", [] { throw 42; }, errc::retry_strategy_failure, "no std::exception"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const auto thrower = r.thrower;
        const strategy_of::body bodies[] = {
            [=](const retry_request&, retry_reason) -> retry_answer {
                thrower();
                return retry_action::no_retry();
            },
            [=](const retry_request&, retry_reason) {
                return retry_answer::later([=](retry_reply) { thrower(); });
            }};
        for (const auto& body : bodies) {
            mailbox box;
            ask(box, *strategy(body));
            ASSERT_EQ(box.letters, 1);
            ASSERT_FALSE(box.last->has_value());
            EXPECT_EQ(box.last->error().code(), r.code);
            EXPECT_NE(box.last->error().message().find(r.says), std::string::npos)
                << box.last->error().message();
        }
    }
}

TEST(consult, dropped_reply_is_a_strategy_failure)
{
    mailbox box;
    const auto forgetful = strategy(
        [](const retry_request&, retry_reason) { return retry_answer::later([](retry_reply) {}); });
    ask(box, *forgetful);
    ASSERT_EQ(box.letters, 1);
    EXPECT_EQ(box.last->error().code(), errc::retry_strategy_failure);
    EXPECT_NE(box.last->error().message().find("dropped"), std::string::npos);

    const auto hollow = strategy([](const retry_request&, retry_reason) {
        return retry_answer::later(retry_answer::starter{});
    });
    ask(box, *hollow);
    EXPECT_EQ(box.letters, 2);
    EXPECT_EQ(box.last->error().code(), errc::retry_strategy_failure);
}

TEST(consult, second_answer_is_ignored)
{
    mailbox box;
    std::optional<retry_reply> kept;
    const auto hasty = strategy([&](const retry_request&, retry_reason) {
        return retry_answer::later([&](retry_reply reply) {
            kept = std::move(reply);
            throw std::runtime_error{"after it was handed on"};
        });
    });
    ask(box, *hasty);
    EXPECT_EQ(box.letters, 0);
    (*kept)(retry_action::no_retry());
    EXPECT_EQ(box.letters, 1);

    const auto answers_then_throws = strategy([](const retry_request&, retry_reason) {
        return retry_answer::later([](retry_reply reply) {
            reply(retry_action::with_duration(1ms));
            throw std::runtime_error{"too late"};
        });
    });
    ask(box, *answers_then_throws);
    EXPECT_EQ(box.letters, 2);
    EXPECT_TRUE(box.last->has_value());
}

}  // namespace
}  // namespace holdfast::core::couchbase::strategy_test
