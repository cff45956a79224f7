#include "holdfast/mongo/client.hpp"

#include "api/mongo/access.hpp"
#include "sim/simulation.hpp"
#include "support/scripted_server.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::client_test {
namespace {

using namespace std::chrono_literals;
using proof::scripted_server;

/// What a member of a set says of itself.
bson::document member_hello(std::string_view me, std::string_view primary)
{
    return bson::doc("helloOk", true, "isWritablePrimary", me == primary, "secondary",
                     me != primary, "setName", "rs", "setVersion", 1, "hosts",
                     bson::list("a:27017", "b:27017"), "me", me, "primary", primary,
                     "maxBsonObjectSize", 16777216, "maxMessageSizeBytes", 48000000,
                     "maxWriteBatchSize", 100000, "minWireVersion", 0, "maxWireVersion", 21,
                     "logicalSessionTimeoutMinutes", 30, "ok", 1.0);
}

/// A set of two members, a client, and links that take exactly 1 ms.
class client_test : public ::testing::Test {
protected:
    client_test()
    {
        sim::link exact;
        exact.latency_min = exact.latency_max = 1ms;
        simulation.set_all_links(exact);
        start(a, server_a, "a:27017");
        start(b, server_b, "b:27017");
    }

    void start(sim::host& on, scripted_server& which, std::string me)
    {
        for (const char* const name : {"hello", "isMaster"})
            which.on(name, [this, me](bson::view) { return member_hello(me, primary); });
        which.on("insert", [](bson::view) { return bson::doc("n", 1, "ok", 1.0); });
        runtime::destination where;
        where.host = on.name();
        where.port = 27017;
        on.start(which.serve(on.world(), where));
    }

    /// The client lives in its host's world, which outlives it.
    mongo::client connect(const std::string& uri)
    {
        const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &app.world()};
        return mongo::access::in_world(world, uri).value();
    }

    static runtime::awaitable<void> run(mongo::client with, bson::document command,
                                        mongo::command_options options,
                                        std::optional<result<bson::document>>& outcome)
    {
        try {
            auto reply = co_await with.run_command("sea", command, options);
            outcome = std::move(reply);
        } catch (const failure& failed) {
            outcome = failed.error();
        }
        co_await with.close();
    }

    result<bson::document> run(const bson::document& command, mongo::command_kind kind,
                               const std::string& uri = "mongodb://a,b/?replicaSet=rs")
    {
        mongo::command_options options;
        options.kind = kind;
        std::optional<result<bson::document>> outcome;
        app.start(run(connect(uri), command, options, outcome));
        EXPECT_TRUE(simulation.run_while_not([&] { return simulation.left().tasks == 2; }));
        EXPECT_TRUE(outcome);
        return std::move(outcome).value_or(error{runtime::errc::cancelled, "never ended"});
    }

    sim::simulation simulation{7};
    sim::host& app = simulation.add_host("app");
    sim::host& a = simulation.add_host("a");
    sim::host& b = simulation.add_host("b");
    scripted_server server_a;
    scripted_server server_b;
    std::string primary = "a:27017";
};

const bson::document one_insert = bson::doc("insert", "coll", "documents",
                                            bson::list(bson::object("_id", 1)));

TEST_F(client_test, generic_command_is_sent_to_the_primary)
{
    const auto reply = run(bson::doc("ping", 1), mongo::command_kind::generic);
    ASSERT_TRUE(reply) << reply.error().explain();
    EXPECT_EQ(server_a.count("ping"), 1U);
    EXPECT_EQ(server_b.count("ping"), 0U);
}

TEST_F(client_test, write_retry_keeps_txn_number_after_network_error)
{
    std::vector<bson::document> seen;
    server_a.on("insert", [&](bson::view command) {
        seen.emplace_back(command);
        return seen.size() == 1 ? bson::document{} : bson::doc("n", 1, "ok", 1.0);
    });
    const auto reply = run(one_insert, mongo::command_kind::write);
    ASSERT_TRUE(reply) << reply.error().explain();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0].get<std::int64_t>("txnNumber").value(),
              seen[1].get<std::int64_t>("txnNumber").value());
    EXPECT_EQ(seen[0]["lsid"].as_document(), seen[1]["lsid"].as_document());
}

TEST_F(client_test, write_after_not_primary_is_retried_on_the_new_primary)
{
    server_a.on("insert", [&](bson::view) {
        primary = "b:27017";
        return bson::doc("ok", 0.0, "code", 10107, "errmsg", "not primary", "errorLabels",
                         bson::list("RetryableWriteError"));
    });
    const auto reply = run(one_insert, mongo::command_kind::write);
    ASSERT_TRUE(reply) << reply.error().explain();
    EXPECT_EQ(server_b.count("insert"), 1U);
}

TEST_F(client_test, failed_write_error_holds_the_attempt_history)
{
    server_a.on("insert", [](bson::view) {
        return bson::doc("ok", 0.0, "code", 11600, "errmsg", "shutting down", "errorLabels",
                         bson::list("RetryableWriteError"));
    });
    const auto reply = run(one_insert, mongo::command_kind::write);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code().value(), 11600);
    EXPECT_EQ(reply.error().history().size(), 2U) << reply.error().explain();
}

TEST_F(client_test, close_leaves_no_streams_or_alarms)
{
    ASSERT_TRUE(run(bson::doc("ping", 1), mongo::command_kind::generic));
    simulation.run_for(10s);
    EXPECT_EQ(simulation.left().streams, 0U);
    EXPECT_EQ(simulation.left().alarms, 0U);
}

}  // namespace
}  // namespace holdfast::client_test
