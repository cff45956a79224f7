// Strategies of the application and durable writes, on sockets.
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::couchbase_socket_strategies_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_status;
using couchbase::durability;
using couchbase::errc;
using couchbase::retry_action;
using couchbase::retry_answer;
using couchbase::retry_reason;
using couchbase::retry_reply;
using couchbase::retry_request;
using proof::answer_with;
using proof::use_awaitable;

/// Answers by a function, and counts how often it is asked.
class scripted_strategy final : public couchbase::retry_strategy {
public:
    using function = std::function<retry_answer(const retry_request&, retry_reason)>;
    explicit scripted_strategy(function by) : by_{std::move(by)} {}
    retry_answer retry_after(const retry_request& request, retry_reason reason) const override
    {
        attempts.push_back(request.retry_attempts());
        return by_(request, reason);
    }
    mutable std::vector<std::uint32_t> attempts;  // the loop has one thread

private:
    function by_;
};

std::shared_ptr<scripted_strategy> scripted(scripted_strategy::function by)
{
    return std::make_shared<scripted_strategy>(std::move(by));
}

class couchbase_socket_strategies : public ::testing::Test {
protected:
    void open(couchbase::retry_strategy_ptr strategy)
    {
        couchbase::cluster_options options;
        options.strategy = std::move(strategy);
        scene.connect(std::move(options));
        scene.warm_up();
    }
    void be_busy(std::int64_t times)
    {
        scene.fault("get", answer_with(kv_status::temporary_failure, times));
    }

    proof::socket_scene scene{{.nodes = 2}};
};

TEST_F(couchbase_socket_strategies, strategy_is_asked_with_the_count_of_retries_so_far)
{
    VERIFIES_BY_TRAFFIC("CR-012");
    VERIFIES_BY_TRAFFIC("CR-015");
    VERIFIES_BY_TRAFFIC("CR-018");
    const auto strategy = scripted(
        [](const auto&, auto) { return retry_action::with_duration(1ms); });
    open(strategy);
    be_busy(3);
    EXPECT_TRUE(scene.get("warm1")->good());
    EXPECT_EQ(strategy->attempts, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_F(couchbase_socket_strategies, vbuckets_that_moved_are_none_of_a_strategy_s_business)
{
    VERIFIES_BY_TRAFFIC("CR-006");
    VERIFIES_BY_TRAFFIC("CR-063");
    VERIFIES_BY_TRAFFIC("CR-081");
    const auto strategy = scripted([](const auto&, auto) { return retry_action::no_retry(); });
    open(strategy);
    scene.fault("get", answer_with(kv_status::not_my_vbucket, 3));
    const auto one = scene.get("warm1");
    EXPECT_TRUE(one->good()) << one->explain();
    EXPECT_GE(one->took(), 61ms);
    EXPECT_TRUE(strategy->attempts.empty());
}

/// A thread of the application's that answers when the test wants it to.
class slow_thinker {
public:
    ~slow_thinker() { think(); }
    void take(retry_reply reply)
    {
        const std::scoped_lock lock{mutex_};
        waiting_.push_back(std::move(reply));
    }
    /// On another thread, which has ended when this returns.
    void think()
    {
        std::thread{[this] {
            const std::scoped_lock lock{mutex_};
            for (retry_reply& one : waiting_)
                one(retry_action::with_duration(1ms));
            waiting_.clear();
        }}.join();
    }
    std::size_t waiting()
    {
        const std::scoped_lock lock{mutex_};
        return waiting_.size();
    }

private:
    std::mutex mutex_;
    std::vector<retry_reply> waiting_;
};

TEST_F(couchbase_socket_strategies, answer_of_another_thread_is_waited_for_and_others_are_served)
{
    VERIFIES_BY_TRAFFIC("CR-017");
    slow_thinker thinker;
    open(scripted([&](const auto&, auto) {
        return retry_answer::later([&](retry_reply reply) { thinker.take(std::move(reply)); });
    }));
    be_busy(1);
    const auto slow = scene.start(scene.documents().get("warm1", {.timeout = 20s}, use_awaitable));
    ASSERT_TRUE(scene.finish([&] { return thinker.waiting() == 1; }));
    for (int n = 0; n != 1000; ++n)
        ASSERT_TRUE(scene.get("warm2", {.timeout = 10s})->good());
    EXPECT_FALSE(slow->done());
    thinker.think();
    ASSERT_TRUE(scene.finish([&] { return slow->done(); }));
    EXPECT_TRUE(slow->good()) << slow->explain();
}

TEST_F(couchbase_socket_strategies, answers_of_many_threads_reach_their_requests)
{
    VERIFIES_BY_TRAFFIC("CR-014");
    VERIFIES_BY_TRAFFIC("CR-017");
    std::mutex mutex;
    std::vector<std::jthread> threads;
    open(scripted([&](const auto&, auto) {
        return retry_answer::later([&](retry_reply reply) {
            const std::scoped_lock lock{mutex};
            threads.emplace_back([kept = std::make_shared<retry_reply>(std::move(reply))] {
                (*kept)(retry_action::with_duration(0ms));
            });
        });
    }));
    constexpr int requests = 32;
    be_busy(2 * requests);
    std::vector<proof::kv_run<couchbase::document<couchbase::raw_json>>> all;
    for (int n = 0; n != requests; ++n)
        all.push_back(scene.start(scene.documents().get("warm" + std::to_string(n % 8),
                                                        {.timeout = 10s}, use_awaitable)));
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
    for (const auto& one : all)
        EXPECT_TRUE(one->good()) << one->explain();
}

TEST_F(couchbase_socket_strategies, answer_of_a_timer_is_waited_for)
{
    VERIFIES_BY_TRAFFIC("CR-017");
    boost::asio::io_context& loop = scene.loop;
    open(scripted([&](const auto&, auto) {
        return retry_answer::later([&](retry_reply reply) {
            const auto timer = std::make_shared<boost::asio::steady_timer>(loop, 20ms);
            const auto kept = std::make_shared<retry_reply>(std::move(reply));
            timer->async_wait(
                [timer, kept](const error_code&) { (*kept)(retry_action::with_duration(5ms)); });
        });
    }));
    be_busy(2);
    const auto one = scene.get("warm1");
    EXPECT_TRUE(one->good()) << one->explain();
    EXPECT_GE(one->took(), 2 * 25ms);
}

TEST_F(couchbase_socket_strategies, answer_that_comes_after_the_deadline_changes_nothing)
{
    VERIFIES_BY_TRAFFIC("CR-016");
    slow_thinker thinker;
    open(scripted([&](const auto&, auto) {
        return retry_answer::later([&](retry_reply reply) { thinker.take(std::move(reply)); });
    }));
    scene.count("get");
    be_busy(1);
    const auto late = scene.get("warm1", {.timeout = 30ms});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_GE(late->took(), 30ms);
    thinker.think();
    EXPECT_TRUE(scene.upsert("warm1", "{}")->good());
    EXPECT_EQ(scene.arrived("get"), 1) << "not sent again";
}

// ---- Durable writes ----

class couchbase_socket_durability : public ::testing::Test {
protected:
    couchbase_socket_durability()
    {
        scene.connect();
        scene.warm_up();
    }
    void hold_replication(bool on)
    {
        for (const char* const node : {"0", "1", "2"})
            scene.command(std::string{"hold-replication "} + node + (on ? " on" : " off"));
    }

    proof::socket_scene scene{{.nodes = 3, .replicas = 2}};
};

TEST_F(couchbase_socket_durability, durable_writes_of_every_level_are_acknowledged)
{
    for (const durability level : {durability::majority, durability::majority_and_persist_to_active,
                                   durability::persist_to_majority}) {
        const auto one = scene.upsert("a", "{}", {.durability = level});
        EXPECT_TRUE(one->good()) << one->explain();
    }
}

TEST_F(couchbase_socket_durability, change_waits_for_a_durable_one_that_is_under_way)
{
    VERIFIES_BY_TRAFFIC("CR-058");
    VERIFIES_BY_TRAFFIC("CR-084");
    hold_replication(true);
    const couchbase::raw_json first{"1"};
    const couchbase::raw_json second{"2"};
    scene.count("upsert");
    const auto durable = scene.start(
        scene.documents().upsert("a", first, {.durability = durability::majority}, use_awaitable));
    ASSERT_TRUE(scene.finish([&] { return scene.arrived("upsert") == 1; }));
    const auto other = scene.start(
        scene.documents().upsert("a", second, {.timeout = 10s}, use_awaitable));
    ASSERT_TRUE(scene.finish([&] { return scene.arrived("upsert") >= 4; }));
    EXPECT_FALSE(durable->done());
    EXPECT_FALSE(other->done());
    hold_replication(false);
    ASSERT_TRUE(scene.finish([&] { return durable->done() && other->done(); }));
    EXPECT_TRUE(durable->good()) << durable->explain();
    EXPECT_TRUE(other->good()) << other->explain();
    EXPECT_EQ((*scene.get("a")->outcome)->content, second);
}

TEST_F(couchbase_socket_durability, change_that_waits_for_replicas_in_vain_is_ambiguous)
{
    hold_replication(true);
    const auto doubt = scene.upsert("a", "1", {.timeout = 2s, .durability = durability::majority});
    EXPECT_EQ(doubt->code(), errc::durability_ambiguous) << doubt->explain();
    EXPECT_GE(doubt->took(), 1500ms) << "the least that a server is given";
    EXPECT_EQ(doubt->error().context("may_have_been_applied"), "true");
    ASSERT_EQ(doubt->error().history().size(), 1u);
    EXPECT_EQ(doubt->error().history()[0].phase, dispatch_phase::answered);
    hold_replication(false);
}

TEST_F(couchbase_socket_durability, change_that_too_few_nodes_could_have_is_impossible)
{
    ASSERT_TRUE(scene.lab.fail_over(1));
    ASSERT_TRUE(scene.lab.fail_over(2));
    const auto refused = scene.upsert("a", "1", {.durability = durability::majority});
    EXPECT_EQ(refused->code(), errc::durability_impossible) << refused->explain();
    EXPECT_EQ(refused->error().context("may_have_been_applied"), "false");
    EXPECT_TRUE(scene.upsert("a", "1")->good());
}

}  // namespace
}  // namespace holdfast::couchbase_socket_strategies_test
