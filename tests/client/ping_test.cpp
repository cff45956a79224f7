#include "shell/mongo/connection/ping.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/uri/uri.hpp"
#include "holdfast/bson/builder.hpp"
#include "shell/mongo/connection/handshake.hpp"
#include "sim/simulation.hpp"
#include "support/canary.hpp"
#include "support/scripted_login.hpp"
#include "support/scripted_server.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::ping_test {
namespace {

using namespace std::chrono_literals;
using proof::scripted_server;

/// A client and a server host on links that take exactly 1 ms each way.
class ping_test : public ::testing::Test {
protected:
    ping_test()
    {
        sim::link exact;
        exact.latency_min = exact.latency_max = 1ms;
        world.set_all_links(exact);
    }

    void start_server(std::uint16_t port = 27017)
    {
        runtime::destination where;
        where.port = port;
        where.host = server.name();
        server.start(scripted.serve(server.world(), where));
    }

    static runtime::awaitable<void> contact(runtime::world& in, std::string uri,
                                            std::optional<result<void>>& outcome)
    {
        auto parsed = core::mongo::parse_uri(uri);
        EXPECT_TRUE(parsed) << uri;
        auto looked_up = co_await shell::mongo::look_up_seeds(in, *std::move(parsed));
        if (!looked_up) {
            outcome = std::move(looked_up).error();
            co_return;
        }
        const auto config = shell::mongo::make_connection_config(in, looked_up->settings, {});
        EXPECT_TRUE(config);
        auto made = co_await shell::mongo::perform_handshake(in, *config, looked_up->settings);
        if (!made) {
            outcome = std::move(made).error();
            co_return;
        }
        outcome = co_await shell::mongo::ping(**made);
    }

    /// How long it took, in virtual time.
    duration ping(const std::string& uri)
    {
        const time_point began = world.now();
        client.start(contact(client.world(), uri, outcome));
        EXPECT_TRUE(world.run_while_not([this] { return outcome.has_value(); }));
        return world.now() - began;
    }

    sim::simulation world{1};
    sim::host& client = world.add_host("client");
    sim::host& server = world.add_host("server");
    scripted_server scripted;
    std::optional<result<void>> outcome;
};

TEST_F(ping_test, ping_takes_connect_hello_and_ping)
{
    start_server();
    const duration took = ping("mongodb://server/");
    ASSERT_TRUE(*outcome) << outcome->error().explain();
    EXPECT_EQ(scripted.received(), (std::vector<std::string>{"isMaster", "ping"}));
    EXPECT_GE(took, 6ms);  // three round trips: connect, hello, ping
    EXPECT_LT(took, 8ms);  // and the look-up of the name
}

TEST_F(ping_test, refused_port_fails_after_server_selection_timeout_ms)
{
    EXPECT_EQ(ping("mongodb://server/?serverSelectionTimeoutMS=200"), 200ms);
    ASSERT_FALSE(*outcome);
    const std::string text = outcome->error().message();
    EXPECT_NE(text.find("within 200 ms"), std::string::npos) << text;
    EXPECT_NE(text.find("server:27017: "), std::string::npos) << text;
    EXPECT_NE(text.find("refused"), std::string::npos) << text;
    EXPECT_NE(text.find("phase connect, 19"), std::string::npos) << text;
    EXPECT_NE(text.find(" ms ago"), std::string::npos) << text;
}

TEST_F(ping_test, server_listening_after_a_second_is_found)
{
    world.at_time(world.now() + 1s, [this] { start_server(); });
    const duration took = ping("mongodb://server/");
    ASSERT_TRUE(*outcome) << outcome->error().explain();
    EXPECT_GE(took, 1s);
    EXPECT_LT(took, 1600ms);  // seeds are tried again every 500 ms
}

TEST_F(ping_test, unresolvable_name_fails_at_once)
{
    EXPECT_LT(ping("mongodb://nowhere/"), 100ms);
    ASSERT_FALSE(*outcome);
    EXPECT_NE(outcome->error().message().find("phase resolve"), std::string::npos)
        << outcome->error().message();
}

TEST_F(ping_test, unresolvable_name_is_retried_without_fail_fast)
{
    world.at_time(world.now() + 1s, [this] {
        world.set_addresses("nowhere", {server.address()});
        start_server();
    });
    EXPECT_GE(ping("mongodb://nowhere/?failFastOnTerminalErrors=false"), 1s);
    EXPECT_TRUE(*outcome) << outcome->error().explain();
}

TEST_F(ping_test, second_seed_is_used_if_the_first_refuses)
{
    start_server();
    const duration took = ping("mongodb://server:1,server/");
    EXPECT_TRUE(*outcome) << outcome->error().explain();
    EXPECT_LT(took, 20ms);
}

TEST_F(ping_test, silent_server_error_names_the_phase)
{
    start_server();
    scripted.on("isMaster", [this](bson::view) {
        world.partition(server, client);  // the reply is on its way into nowhere
        bson::byte_buffer out;
        bson::builder reply{out};
        reply.add("ok", 1.0);
        return bson::document{reply.finish().value()};
    });
    EXPECT_EQ(ping("mongodb://server/?serverSelectionTimeoutMS=300&connectTimeoutMS=100"), 300ms);
    ASSERT_FALSE(*outcome);
    const std::string text = outcome->error().message();
    EXPECT_NE(text.find("phase hello"), std::string::npos) << text;
}

TEST_F(ping_test, server_without_wire_versions_we_speak_is_refused_at_once)
{
    start_server();
    const bson::document replies[] = {
        bson::doc("ok", 1.0, "isWritablePrimary", true),
        bson::doc("ok", 1.0, "minWireVersion", 0, "maxWireVersion", 0),
        bson::doc("ok", 1.0, "minWireVersion", 999, "maxWireVersion", 1000),
    };
    for (const bson::document& reply : replies) {
        scripted.on("isMaster", [&](bson::view) { return reply; });
        outcome.reset();
        EXPECT_LT(ping("mongodb://server/"), 100ms);
        ASSERT_FALSE(*outcome);
        EXPECT_EQ(outcome->error().code(), core::mongo::errc::incompatible_server);
    }
    EXPECT_EQ(scripted.count("ping"), 0U);
}

TEST_F(ping_test, member_of_another_set_is_refused_at_once)
{
    start_server();
    EXPECT_LT(ping("mongodb://server/?replicaSet=other"), 100ms);
    ASSERT_FALSE(*outcome);
    EXPECT_NE(outcome->error().message().find("the connection string names \"other\""),
              std::string::npos)
        << outcome->error().message();
    EXPECT_EQ(scripted.count("ping"), 0U);
}

TEST_F(ping_test, wrong_password_is_sent_once)
{
    start_server();
    const auto door = std::make_shared<proof::scripted_login>();
    door->guard(scripted, [](const proof::scripted_command&) {
        proof::scripted_reply hello;
        hello.body = bson::doc("ok", 1.0, "isWritablePrimary", true, "minWireVersion", 0,
                               "maxWireVersion", 27);
        return hello;
    });
    const std::string user = proof::canary::user;
    EXPECT_LT(ping("mongodb://" + user + ":" + proof::canary::wrong_password + "@server/"), 1s);
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(outcome->error().code(), core::mongo::errc::authentication_failed);
    EXPECT_EQ(door->refusals(), 1U);

    outcome.reset();
    ping("mongodb://" + user + ":" + proof::canary::password + "@server/");
    EXPECT_TRUE(*outcome) << outcome->error().explain();
}

TEST_F(ping_test, srv_records_give_the_seeds)
{
    runtime::srv_record record;
    record.host = "server.sea.example.com";
    record.port = 27099;
    world.set_srv("_mongodb._tcp.cluster.sea.example.com", {record});
    world.set_addresses("server.sea.example.com", {server.address()});
    start_server(27099);
    ping("mongodb+srv://cluster.sea.example.com/?tls=false");
    EXPECT_TRUE(*outcome) << outcome->error().explain();
}

TEST_F(ping_test, ping_leaves_no_streams_or_alarms)
{
    start_server();
    ping("mongodb://server/");
    world.run_for(1s);
    EXPECT_EQ(world.left().streams, 0U);
    EXPECT_EQ(world.left().alarms, 0U);
}

}  // namespace
}  // namespace holdfast::ping_test
