// Strategies of the application, through a real cluster.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <any>
#include <chrono>
#include <mutex>
#include <stdexcept>

namespace holdfast::couchbase_strategy_traffic_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::retry_action;
using couchbase::retry_answer;
using couchbase::retry_reason;
using couchbase::retry_request;
using lab::activation;
using proof::kv_scene;
using proof::use_awaitable;

/// Answers by a function, and keeps what it was asked.
class scripted_strategy final : public couchbase::retry_strategy {
public:
    using function = std::function<retry_answer(const retry_request&, retry_reason)>;
    explicit scripted_strategy(function by) : by_{std::move(by)} {}

    retry_answer retry_after(const retry_request& request, retry_reason reason) const override
    {
        attempts.push_back(request.retry_attempts());
        reasons.push_back(reason);
        return by_(request, reason);
    }
    mutable std::vector<std::uint32_t> attempts;
    mutable std::vector<retry_reason> reasons;

private:
    function by_;
};

std::shared_ptr<scripted_strategy> scripted(scripted_strategy::function by)
{
    return std::make_shared<scripted_strategy>(std::move(by));
}

class couchbase_strategies : public ::testing::Test {
protected:
    void open(couchbase::retry_strategy_ptr strategy = {})
    {
        couchbase::cluster_options options;
        options.strategy = std::move(strategy);
        scene.connect(options);
        scene.warm_up();
    }
    void fail(std::int64_t times)
    {
        lab::couchbase::kv_fault busy;
        busy.error_code = static_cast<int>(kv_status::temporary_failure);
        scene.fault(0, kv_opcode::get, busy, activation::times(times));
    }
    kv_scene scene;
};

TEST_F(couchbase_strategies, strategy_of_the_cluster_counts_retries_and_sees_reasons)
{
    VERIFIES_BY_TRAFFIC("CR-012");
    VERIFIES_BY_TRAFFIC("CR-015");
    const auto strategy = scripted(
        [](const auto&, auto) { return retry_action::with_duration(3ms); });
    open(strategy);
    fail(3);
    const auto one = scene.get("warm1");
    ASSERT_TRUE(one->good()) << one->explain();
    EXPECT_EQ(one->took(), 3 * 3ms + 4 * 2ms);
    EXPECT_EQ(strategy->attempts, (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(strategy->reasons, std::vector<retry_reason>(3, retry_reason::kv_temporary_failure));
}

TEST_F(couchbase_strategies, strategy_of_a_request_goes_before_that_of_the_cluster)
{
    VERIFIES_BY_TRAFFIC("CR-008");
    VERIFIES_BY_TRAFFIC("CR-011");
    VERIFIES_BY_TRAFFIC("CR-016");
    const auto global = scripted([](const auto&, auto) { return retry_action::no_retry(); });
    open(global);
    fail(2);
    const auto own = scripted([](const auto&, auto) { return retry_action::with_duration(1ms); });
    const couchbase::retry_strategy_ptr given = own;
    EXPECT_TRUE(scene.get("warm1", {.strategy = &given})->good());
    EXPECT_TRUE(global->attempts.empty());
    fail(1);
    const auto refused = scene.get("warm1");
    EXPECT_EQ(refused->code(), errc::temporary_failure) << refused->explain();
    EXPECT_EQ(global->attempts.size(), 1u);
}

TEST_F(couchbase_strategies, context_of_a_request_is_seen_by_its_strategy)
{
    VERIFIES_BY_TRAFFIC("CR-019");
    const auto strategy = scripted([](const retry_request& request, retry_reason) {
        const std::any* const robot = request.context("robot");
        if (robot != nullptr && std::any_cast<bool>(*robot))
            return retry_action::no_retry();
        return retry_action::with_duration(1ms);
    });
    open(strategy);
    fail(2);
    couchbase::client_context context;
    context["robot"] = true;
    EXPECT_EQ(scene.get("warm1", {.context = &context})->code(), errc::temporary_failure);
    EXPECT_TRUE(scene.get("warm1")->good());
}

TEST_F(couchbase_strategies, answer_may_come_later_and_others_are_served_meanwhile)
{
    VERIFIES_BY_TRAFFIC("CR-017");
    std::vector<couchbase::retry_reply> waiting;
    open(scripted([&](const auto&, auto) {
        return retry_answer::later(
            [&](couchbase::retry_reply reply) { waiting.push_back(std::move(reply)); });
    }));
    fail(1);
    const auto slow = scene.start(scene.documents().get("warm1", {}, use_awaitable));
    scene.simulation.run_for(5ms);
    ASSERT_EQ(waiting.size(), 1u);
    for (int i = 0; i < 1000; ++i)
        ASSERT_TRUE(scene.get("warm2", {.timeout = 1s})->good());
    EXPECT_FALSE(slow->done());
    ASSERT_TRUE(scene.finish([&] { return slow->done(); }));
    EXPECT_EQ(slow->code(), errc::unambiguous_timeout);
    EXPECT_EQ(slow->took(), 2500ms);

    fail(1);
    const auto answered = scene.start(scene.documents().get("warm1", {}, use_awaitable));
    scene.simulation.run_for(50ms);
    waiting.back()(retry_action::with_duration(1ms));
    ASSERT_TRUE(scene.finish([&] { return answered->done(); }));
    EXPECT_TRUE(answered->good()) << answered->explain();
    EXPECT_EQ(answered->took(), 50ms + 1ms + 2ms);
}

TEST_F(couchbase_strategies, strategy_that_throws_ends_the_request_with_its_error)
{
    VERIFIES_BY_TRAFFIC("CR-017");
    open(scripted([](const auto&, auto) -> retry_answer { throw std::runtime_error{"broken"}; }));
    fail(1);
    const auto failed = scene.get("warm1");
    EXPECT_EQ(failed->code(), errc::retry_strategy_failure) << failed->explain();
    EXPECT_NE(failed->error().message().find("broken"), std::string::npos);
}

TEST_F(couchbase_strategies, strategy_that_drops_its_reply_ends_the_request)
{
    VERIFIES_BY_TRAFFIC("CR-017");
    open(scripted(
        [](const auto&, auto) { return retry_answer::later([](couchbase::retry_reply) {}); }));
    fail(1);
    EXPECT_EQ(scene.get("warm1")->code(), errc::retry_strategy_failure);
}

TEST_F(couchbase_strategies, strategy_may_choose_the_error)
{
    open(scripted([](const auto&, auto) {
        return retry_action::fail_with(error{errc::rate_limited, "enough"});
    }));
    fail(1);
    const auto failed = scene.get("warm1");
    EXPECT_EQ(failed->code(), errc::rate_limited);
    EXPECT_EQ(failed->error().message(), "enough");
    EXPECT_EQ(failed->error().history().size(), 1u);
}

TEST(couchbase_retry_budget, more_than_a_million_tokens_are_refused)
{
    sim::simulation simulation{1};
    sim::host& app = simulation.add_host("app");
    const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &app.world()};
    couchbase::cluster_options options;
    options.authenticator = kv_scene::login();
    options.retry_budget = 1'000'000;
    EXPECT_TRUE(couchbase::access::in_world(world, "couchbase://n0", options));
    options.retry_budget = 1'000'001;
    const auto refused = couchbase::access::in_world(world, "couchbase://n0", options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), errc::invalid_argument);
    EXPECT_EQ(refused.error().context("option"), "retry_budget");
}

TEST_F(couchbase_strategies, empty_retry_budget_ends_requests_until_others_succeed)
{
    couchbase::cluster_options options;
    options.retry_budget = 2;
    scene.connect(options);
    scene.warm_up();
    fail(4);
    const auto failed = scene.get("warm1");
    EXPECT_EQ(failed->code(), errc::temporary_failure) << failed->explain();
    EXPECT_EQ(failed->error().history().size(), 3u);
    EXPECT_NE(failed->error().history().back().decision.find("budget"), std::string::npos);
}

class recorded_events final : public couchbase::event_listener {
public:
    void on(const couchbase::connection_opened& what) override { add("opened", what.server); }
    void on(const couchbase::connection_lost& what) override { add("lost", what.server); }
    void on(const couchbase::config_changed& what) override { add("config", what.from); }
    void on(const couchbase::request_retried& what) override
    {
        lines.push_back(what.operation + " " + std::string{name_of(what.reason)});
    }
    void add(const char* what, const endpoint& server)
    {
        lines.push_back(std::string{what} + " " + server.value());
    }
    std::size_t count(const std::string& line) const
    {
        return static_cast<std::size_t>(std::ranges::count(lines, line));
    }
    std::vector<std::string> lines;
};

TEST_F(couchbase_strategies, listeners_hear_of_connections_configurations_and_retries)
{
    const auto events = std::make_shared<recorded_events>();
    couchbase::cluster_options options;
    options.listeners = {events};
    scene.connect(options);
    scene.warm_up();
    fail(1);
    ASSERT_TRUE(scene.get("warm1")->good());
    EXPECT_GE(events->count("opened n0:11210"), 1u);
    EXPECT_GE(events->count("config n0:11210"), 1u);
    EXPECT_EQ(events->count("get KV_TEMPORARY_FAILURE"), 1u);
    scene.simulation.reset_connections(scene.app, scene.host_of(0));
    scene.simulation.run_for(10ms);
    EXPECT_GE(events->count("lost n0:11210"), 1u);
}

}  // namespace
}  // namespace holdfast::couchbase_strategy_traffic_test
