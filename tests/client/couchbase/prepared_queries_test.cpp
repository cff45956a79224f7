// Prepared statements, against nodes that forget their plans.
#include "client/couchbase/lab_services_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace holdfast::couchbase_prepared_queries_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using lab::couchbase::http_reply;
using proof::lab_services_scene;
using proof::reply_with_code;
using proof::reply_with_rows;
using proof::service_request_seen;
using proof::use_awaitable;

/// A query service as far as prepared statements go: plans are those of a node, and can be lost.
class plan_keeper {
public:
    http_reply answer(const service_request_seen& request)
    {
        const std::string prepared = request.member("prepared");
        const std::string statement = request.member("statement");
        if (!prepared.empty()) {
            ++executions;
            if (!plans[request.node].contains(prepared) || forgets(request.node)) {
                plans[request.node].erase(prepared);
                return reply_with_code(4040, "No such prepared statement: " + request.service);
            }
            return reply_with_rows({"1"});
        }
        if (!statement.starts_with("\"PREPARE"))
            return ++plain, reply_with_rows({"1"});
        ++preparations;
        if (refuses_to_prepare)
            return reply_with_code(4050, "no plan today");
        const std::string name = "\"plan" + std::to_string(preparations) + '"';
        plans[request.node].insert(name);
        if (request.member("auto_execute") == "true")
            return reply_with_rows({"1"}, ",\"prepared\":" + name);
        return reply_with_rows({R"({"name":)" + name + R"(,"encoded_plan":"H4sI"})"});
    }

    std::function<bool(std::size_t node)> forgets = [](std::size_t) { return false; };
    bool refuses_to_prepare = false;
    std::map<std::size_t, std::set<std::string>> plans;
    int preparations = 0;
    int executions = 0;
    int plain = 0;
};

class couchbase_prepared_queries : public ::testing::Test {
protected:
    void connect(std::size_t nodes = 1)
    {
        made.emplace(proof::kv_scene_options{.nodes = nodes});
        made->connect_and_wait();
        made->answer("n1ql", [this](const auto& request) { return server.answer(request); });
    }
    lab_services_scene& scene() { return *made; }
    auto run(std::string_view statement = "SELECT 1")
    {
        return scene().query(statement, {.timeout = 10s, .prepared = true, .readonly = true});
    }

    plan_keeper server;
    std::optional<lab_services_scene> made;
};

TEST_F(couchbase_prepared_queries, plan_is_made_once_and_used_from_then_on)
{
    connect();
    for (int n = 0; n != 5; ++n) {
        const auto done = run();
        ASSERT_TRUE(done->good()) << done->explain();
        EXPECT_EQ((*done->outcome)->size(), 1u);
    }
    EXPECT_EQ(server.preparations, 1);
    EXPECT_EQ(server.executions, 4);
    EXPECT_EQ(scene().asked("n1ql"), 5u) << "the first request prepares and executes";
    ASSERT_TRUE(run("SELECT 2")->good());
    EXPECT_EQ(server.preparations, 2);
}

TEST_F(couchbase_prepared_queries, older_servers_are_asked_for_the_plan_first)
{
    connect();
    scene().cluster->admin().set_capabilities("n1ql", {});
    scene().simulation.run_for(5s);
    for (int n = 0; n != 3; ++n) {
        const auto done = run();
        ASSERT_TRUE(done->good()) << done->explain();
    }
    EXPECT_EQ(server.preparations, 1);
    EXPECT_EQ(server.executions, 3);
    EXPECT_EQ(scene().seen("n1ql").back().member("encoded_plan"), R"("H4sI")");
}

TEST_F(couchbase_prepared_queries, plan_that_was_lost_once_is_made_again_and_nothing_is_seen_of_it)
{
    VERIFIES_BY_TRAFFIC("CR-086");
    connect();
    ASSERT_TRUE(run()->good());
    server.plans.clear();
    const auto done = run();
    ASSERT_TRUE(done->good()) << done->explain();
    EXPECT_EQ(server.preparations, 2);
    EXPECT_EQ(scene().asked("n1ql"), 3u);
}

TEST_F(couchbase_prepared_queries, server_that_never_keeps_a_plan_gets_the_plain_statement)
{
    VERIFIES_BY_TRAFFIC("CR-086");
    connect();
    server.refuses_to_prepare = true;
    const auto done = run();
    ASSERT_TRUE(done->good()) << done->explain();
    EXPECT_LE(server.preparations, 4);
    EXPECT_GE(server.preparations, 2);
    EXPECT_EQ(server.plain, 1);
}

TEST_F(couchbase_prepared_queries, keyspace_that_does_not_exist_is_no_lost_plan)
{
    connect();
    scene().answer("n1ql", reply_with_code(4040, "Keyspace not found: default:nowhere"));
    const auto failed = run();
    EXPECT_EQ(failed->code(), errc::planning_failure) << failed->explain();
    EXPECT_EQ(scene().asked("n1ql"), 1u);
}

TEST_F(couchbase_prepared_queries, a_thousand_runs_complete_where_all_nodes_forget_plans)
{
    VERIFIES_BY_TRAFFIC("CR-086");
    for (const bool everywhere : {true, false}) {
        server = {};
        connect(3);
        std::uint64_t drawn = 7;
        server.forgets = [&](std::size_t node) {
            drawn = drawn * 6364136223846793005u + 1442695040888963407u;
            return (everywhere || node == 1) && drawn >> 63 == 1;
        };
        int good = 0;
        int most = 0;
        for (int n = 0; n != 1'000; ++n) {
            const int before = server.preparations;
            const auto done = run("SELECT " + std::to_string(n % 7));
            good += done->good();
            most = std::max(most, server.preparations - before);
            ASSERT_LT(done->took(), 10s);
            ASSERT_TRUE(done->good()) << done->explain();
        }
        EXPECT_EQ(good, 1'000);
        EXPECT_LE(most, 4);
        EXPECT_GT(server.preparations, 7) << "plans were lost";
    }
}

}  // namespace
}  // namespace holdfast::couchbase_prepared_queries_test
