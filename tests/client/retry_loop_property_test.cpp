// Random operations: whatever happens to them, the promises of the loop hold.
#include "client/retry_loop_couchbase.hpp"
#include "client/retry_loop_mongo.hpp"

#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace holdfast::retry_loop_property_test {
namespace {

using namespace retry_test;
using couchbase::retry_action;
using couchbase::retry_answer;
using couchbase::retry_reason;
using couchbase::retry_reply;
using std::chrono::milliseconds;

class dice {
public:
    explicit dice(std::uint64_t seed) : numbers_{seed} {}
    std::uint64_t below(std::uint64_t end) { return numbers_() % end; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    duration up_to(int most) { return milliseconds{below(static_cast<std::uint64_t>(most) + 1)}; }

private:
    std::mt19937_64 numbers_;
};

runtime::awaitable<void> answer_in(runtime::world& in, duration delay, retry_action what,
                                   retry_reply reply)
{
    co_await runtime::sleep_until(in, in.steady_now() + delay);
    reply(std::move(what));
}

/// Answers now, later or never, throws, or drops its reply.
class moody_strategy final : public couchbase::retry_strategy {
public:
    moody_strategy(runtime::world& in, dice& chance) : world_{in}, dice_{chance} {}

    retry_answer retry_after(const couchbase::retry_request&, retry_reason) const override
    {
        const auto what = dice_.one_in(20) ? retry_action::no_retry()
                                           : retry_action::with_duration(dice_.up_to(60));
        switch (dice_.below(12)) {
        case 0:
            return retry_answer::later([this](retry_reply r) { kept_.push_back(std::move(r)); });
        case 1:
            if (dice_.one_in(2))
                throw std::runtime_error{"moody"};
            return retry_answer::later([](retry_reply) {});
        case 2:
        case 3:
        case 4:
        case 5:
            return retry_answer::later([this, what](retry_reply reply) {
                runtime::asio::co_spawn(world_.executor(),
                                        answer_in(world_, dice_.up_to(40), what, std::move(reply)),
                                        runtime::asio::detached);
            });
        default:
            return what;
        }
    }

private:
    runtime::world& world_;
    dice& dice_;
    mutable std::vector<retry_reply> kept_;
};

/// Runs it to the end, perhaps cancels it, and looks at what it left behind.
template <class Operation>
void run_and_check(virtual_world& world, Operation what, core::deadline until, ledger& book,
                   std::optional<duration> cancel_after)
{
    operation_run run{world, std::move(what), until};
    if (cancel_after) {
        world.run_for(*cancel_after);
        run.cancel();
    }
    const std::size_t attempts_before = book.dispatched.size();
    world.run();

    ASSERT_TRUE(run.over);
    ASSERT_FALSE(run.thrown);
    ASSERT_EQ(run.completions, 1);
    ASSERT_LE(run.ended, until.when());
    ASSERT_EQ(world.alarms_set(), 0U);
    ASSERT_EQ(book.checked_out, 0);
    ASSERT_EQ(book.held_while_waiting, 0);
    if (cancel_after) {
        ASSERT_EQ(book.dispatched.size(), attempts_before);
        ASSERT_LE(run.took(), *cancel_after);
    }
    // Each retry was decided, was made when it was said to be made, and before the deadline.
    ASSERT_LE(book.dispatched.size(), book.decided.size() + 1);
    for (std::size_t i = 1; i < book.dispatched.size(); ++i) {
        ASSERT_EQ(book.dispatched[i], book.decided[i - 1].when + book.decided[i - 1].wait);
        ASSERT_LT(book.dispatched[i], until.when());
    }
    if (run.succeeded())
        return;
    // The history has all attempts, in order.
    const error why = run.error();
    ASSERT_EQ(why.history().size(), static_cast<std::size_t>(book.failed));
    ASSERT_EQ(why.history().size(), book.dispatched.size());
    for (std::size_t i = 0; i < why.history().size(); ++i)
        ASSERT_EQ(why.history()[i].started, book.dispatched[i] - run.began);
}

TEST(retry_loop_property, couchbase_operations_keep_all_rules)
{
    constexpr retry_reason reasons[] = {retry_reason::kv_not_my_vbucket,
                                        retry_reason::kv_temporary_failure, retry_reason::kv_locked,
                                        retry_reason::socket_closed_while_in_flight,
                                        retry_reason::unknown};
    constexpr dispatch_phase phases[] = {dispatch_phase::answered, dispatch_phase::answered,
                                         dispatch_phase::answered, dispatch_phase::in_flight,
                                         dispatch_phase::answered};
    for (std::uint64_t seed = 0; seed < 4000 && !::testing::Test::HasFatalFailure(); ++seed) {
        SCOPED_TRACE(seed);
        dice chance{seed};
        virtual_world world;
        ledger book;
        couchbase::retry_request::settings settings;
        settings.idempotent = !chance.one_in(3);
        settings.deadline = world.steady_now() + milliseconds{1} + chance.up_to(1500);
        settings.strategy = std::make_shared<moody_strategy>(world, chance);
        const core::deadline until{*settings.deadline};
        couchbase_operation::script attempts(chance.below(12));
        for (auto& one : attempts) {
            const std::size_t kind = chance.one_in(30) ? 4 : chance.below(4);
            one.takes = chance.one_in(3) ? duration::zero() : chance.up_to(50);
            one.fails = couchbase_operation::failure{reasons[kind], phases[kind]};
        }
        std::optional<duration> cancel_after;
        if (chance.one_in(4))
            cancel_after = chance.up_to(300);
        couchbase_operation what{world, std::move(settings), std::move(attempts), book};
        run_and_check(world, std::move(what), until, book, cancel_after);
    }
}

TEST(retry_loop_property, mongo_operations_keep_all_rules)
{
    std::atomic<core::token_bucket> tokens{core::token_bucket{core::tokens::whole(20)}};
    for (std::uint64_t seed = 0; seed < 4000 && !::testing::Test::HasFatalFailure(); ++seed) {
        SCOPED_TRACE(seed);
        dice chance{seed};
        virtual_world world;
        for (std::uint64_t i = chance.below(50); i > 0; --i)
            world.chance();
        ledger book;
        core::mongo::retry_policy policy;
        policy.repeatable = !chance.one_in(4);
        policy.adaptive = chance.one_in(2);
        if (!chance.one_in(4))
            policy.until = core::deadline{world.steady_now() + milliseconds{1} +
                                          chance.up_to(1500)};
        mongo_operation::script attempts(chance.below(9));
        for (auto& one : attempts) {
            one.takes = chance.one_in(3) ? duration::zero() : chance.up_to(50);
            one.fails.emplace();
            if (chance.one_in(2)) {
                one.fails->origin = core::mongo::failure_origin::server;
                one.fails->labels = {.system_overloaded = true, .retryable = true};
            }
        }
        std::optional<duration> cancel_after;
        if (chance.one_in(4))
            cancel_after = chance.up_to(300);
        mongo_operation what{world, policy, std::move(attempts), tokens, book};
        run_and_check(world, std::move(what), policy.until, book, cancel_after);
        ASSERT_GE(tokens.load().level(), core::tokens{});
    }
}

}  // namespace
}  // namespace holdfast::retry_loop_property_test
