#include "client/traffic.hpp"

namespace holdfast::proof::connection_test {
namespace {

using namespace std::chrono_literals;

struct member_kind {
    const char* type;
    bson::document hello;
};

std::vector<member_kind> all_kinds()
{
    const auto says = [](const auto&... parts) {
        return bson::doc("helloOk", true, "minWireVersion", 0, "maxWireVersion", 21, parts..., "ok",
                         1.0);
    };
    return {
        {"Standalone", says("isWritablePrimary", true)},
        {"Mongos", says("isWritablePrimary", true, "msg", "isdbgrid")},
        {"RSPrimary", says("isWritablePrimary", true, "setName", "rs", "hosts",
                           bson::list("a:27017"), "me", "a:27017")},
        {"RSSecondary",
         says("secondary", true, "setName", "rs", "hosts", bson::list("a:27017"), "me", "a:27017")},
        {"RSArbiter", says("arbiterOnly", true, "setName", "rs", "hosts", bson::list("b:27017"))},
        {"RSOther",
         says("hidden", true, "secondary", true, "setName", "rs", "hosts", bson::list("b:27017"))},
        {"RSGhost", says("isreplicaset", true)},
    };
}

TEST(client_connection, direct_connection_works_for_every_server_type)
{
    VERIFIES("SD-001");
    for (const member_kind& kind : all_kinds()) {
        SCOPED_TRACE(kind.type);
        scene s{{.hosts = {"a"}}};
        s.server("a").on_hello([&](const scripted_command&) { return scripted_reply{kind.hello}; });
        s.server("a").on("replSetInitiate", [](bson::view) { return bson::doc("ok", 1.0); });
        s.connect_to("mongodb://a/?directConnection=true");
        const operation& op = s.run(bson::doc("replSetInitiate", 1));
        EXPECT_TRUE(op.good()) << op.explain();
        EXPECT_EQ(s.events().type_of("a:27017"), kind.type);
        EXPECT_EQ(s.server("a").count("replSetInitiate"), 1U);
        EXPECT_EQ(s.events().count(heard::pool_ready, "a:27017"), 1U);
        expect_clean(s);
    }
}

TEST(client_connection, direct_connection_to_a_secondary_returns_its_errors)
{
    VERIFIES("SD-002");
    scene s;
    s.server("b").on("count", [](bson::view) { return error_reply(13435); });
    s.connect_to("mongodb://b/?directConnection=true");
    EXPECT_TRUE(s.run(ping_command()).good());
    const operation& op = s.run(bson::doc("count", "coll"));
    EXPECT_EQ(op.code(), 13435) << op.explain();
    expect_clean(s);
}

TEST(client_connection, pools_are_created_for_data_bearing_servers_only)
{
    VERIFIES("SD-161");
    scene s{{.hosts = {"a", "b", "c"}}};
    s.set.arbiters = {"c:27017"};
    s.connect("&minPoolSize=1");
    s.settle(30s);
    for (const char* const data : {"a:27017", "b:27017"}) {
        EXPECT_EQ(s.events().count(heard::pool_created, data), 1U);
        EXPECT_EQ(s.events().count(heard::pool_ready, data), 1U);
        EXPECT_EQ(s.events().count(heard::connection_created, data), 1U);
    }
    EXPECT_EQ(s.events().type_of("c:27017"), "RSArbiter");
    expect_clean(s);
    for (const record& one : s.events().all()) {
        const bool of_pool = one.what >= heard::pool_created && one.what <= heard::checked_in;
        EXPECT_FALSE(of_pool && one.server == "c:27017") << describe(one, s.start_time());
    }
    EXPECT_EQ(s.events().count(heard::pool_closed, "a:27017"), 1U);

    scene routers{{.hosts = {"a", "b"}, .sharded = true}};
    routers.simulation.run_for(1ms);
    routers.server("b").stop_listening();
    routers.connect_to("mongodb://a,b/");
    EXPECT_TRUE(routers.run(ping_command()).good());
    EXPECT_EQ(routers.events().count(heard::pool_created, "a:27017"), 1U);
    EXPECT_EQ(routers.events().count(heard::pool_created, "b:27017"), 0U) << "it was not checked";
    routers.listen("b");
    routers.simulation.run_for(30s);
    EXPECT_EQ(routers.events().type_of("b:27017"), "Mongos");
    EXPECT_EQ(routers.events().count(heard::pool_created, "b:27017"), 1U);
    expect_clean(routers);

    scene direct{{.hosts = {"a", "c"}}};
    direct.set.arbiters = {"c:27017"};
    direct.connect_to("mongodb://c/?directConnection=true");
    EXPECT_TRUE(direct.run(ping_command()).good());
    EXPECT_EQ(direct.events().count(heard::pool_created, "c:27017"), 1U);
    EXPECT_EQ(direct.events().count(heard::pool_ready, "c:27017"), 1U);
    expect_clean(direct);
}

TEST(client_connection, scram_login_works_with_and_without_speculative_authenticate)
{
    for (const bool speculative : {true, false}) {
        scene s{{.hosts = {"a"}}};
        const auto door = guarded(s, speculative);
        s.connect_to("mongodb://ada:lovelace@a/?replicaSet=rs&maxPoolSize=1");
        const operation& op = s.run(ping_command());
        EXPECT_TRUE(op.good()) << op.explain();
        EXPECT_EQ(door->logins(), 1U);
        EXPECT_EQ(door->speculations(), speculative ? 1U : 0U);
        EXPECT_EQ(s.server("a").count("saslStart"), speculative ? 0U : 1U);
        EXPECT_TRUE(s.run(ping_command()).good());
        EXPECT_EQ(door->logins(), 1U);
        expect_clean(s);
    }
}

TEST(client_connection, wrong_password_fails_at_once_for_each_operation)
{
    VERIFIES("SD-193");
    for (const bool speculative : {true, false}) {
        scene s{{.hosts = {"a"}, .streams = false}};
        const auto door = guarded(s, speculative);
        s.connect_to("mongodb://ada:babbage@a/?replicaSet=rs&heartbeatFrequencyMS=60000");
        s.settle();
        const operation& first = s.run(ping_command());
        ASSERT_TRUE(first.done());
        ASSERT_FALSE(first.good());
        EXPECT_LT(first.took(), 20ms);
        EXPECT_EQ(first.outcome->error().context("code"), "18") << first.explain();
        EXPECT_EQ(first.explain().find("babbage"), std::string::npos);
        EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
        EXPECT_EQ(door->refusals(), 1U);
        const std::size_t checks = s.events().count(heard::heartbeat_succeeded);
        const operation& second = s.run(ping_command());
        EXPECT_EQ(second.outcome->error().context("code"), "18") << second.explain();
        EXPECT_LT(second.took(), 600ms);
        EXPECT_EQ(door->refusals(), 2U);
        EXPECT_EQ(s.events().count(heard::heartbeat_succeeded), checks + 1);
        EXPECT_EQ(s.server("a").count("ping"), 0U);
        expect_clean(s);
    }
}

TEST(client_connection, network_error_during_login_marks_the_server_unknown)
{
    VERIFIES("SD-193");
    const std::vector<scripted_reply> endings = {
        {.body = error_reply(91)}, hang_up(), keep_silent()};
    for (const scripted_reply& ending : endings) {
        scene s{{.hosts = {"a"}, .streams = false}};
        const auto door = guarded(s, true);
        s.server("a").on_command("saslContinue", [&](const scripted_command&) { return ending; });
        s.connect_to("mongodb://ada:lovelace@a/?replicaSet=rs&connectTimeoutMS=300");
        s.settle();
        const operation& op = s.run(ping_command());
        ASSERT_TRUE(op.done());
        EXPECT_FALSE(op.good());
        EXPECT_LE(op.took(), 300ms);
        EXPECT_EQ(op.outcome->error().context("phase"), "authentication") << op.explain();
        EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
        EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
        guarded(s, true);  // the server is well again
        const operation& later = s.run(ping_command());
        EXPECT_TRUE(later.good()) << later.explain();
        EXPECT_LT(later.took(), 600ms);
        expect_clean(s);
    }
}

TEST(client_connection, messages_are_compressed_with_a_common_compressor)
{
    for (const std::string name : {"zlib", "snappy", "zstd", "none"}) {
        scene s{{.hosts = {"a"}}};
        s.server("a").on_hello([&](const scripted_command& asked) {
            bson::byte_buffer bytes;
            bson::builder out{bytes};
            out.merge(s.set.hello_of("a:27017").view());
            if (asked.body["compression"] && name != "none")
                out.add("compression", bson::arr(name).view());
            (void)out.finish().value();
            return scripted_reply{bson::document::adopt(std::move(bytes))};
        });
        s.connect("&compressors=zstd,snappy,zlib");
        const bson::document long_insert = bson::doc(
            "insert", "coll", "documents",
            bson::list(bson::object("text", std::string(2000, 'k'))));
        const operation& op = s.run(long_insert, as_write());
        EXPECT_TRUE(op.good()) << op.explain();
        for (const scripted_command& one : s.server("a").commands())
            EXPECT_EQ(one.compressed, !is_hello(one.name) && name != "none") << one.name;
        const auto seen = s.server("a").commands("insert");
        ASSERT_EQ(seen.size(), 1U);
        EXPECT_EQ(seen[0].bytes < 1000, name != "none");
        EXPECT_EQ(seen[0].body.get<std::string>("documents.0.text").value().size(), 2000U);
        expect_clean(s);
    }
}

TEST(client_connection, first_hello_has_client_metadata_and_hello_ok)
{
    VERIFIES("BP-046");
    scene s;
    s.connect("&appName=demo");
    EXPECT_TRUE(s.run(ping_command()).good());
    s.simulation.run_for(30s);
    ASSERT_EQ(s.server("a").connections(), 3U);  // two of the monitor, one of the pool
    for (std::size_t number = 1; number <= 3; ++number) {
        const bson::document hello = s.server("a").first_hello(number);
        EXPECT_EQ(hello.get<std::string>("client.application.name").value_or(""), "demo");
        EXPECT_TRUE(hello["client"].as_document()["driver"]);
        EXPECT_EQ(hello["backpressure"].type(), bson::type::boolean);
        EXPECT_EQ(hello.get<bool>("backpressure").value_or(false), true);
    }
    expect_clean(s);
}

TEST(client_connection, plain_connection_that_the_server_closes_hints_at_tls)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_hello([](const scripted_command&) { return hang_up(); });
    s.connect("&serverSelectionTimeoutMS=100");
    const operation& op = s.run(ping_command());
    ASSERT_FALSE(op.good());
    EXPECT_NE(op.explain().find("the server closed the connection; perhaps it expects TLS: "
                                "tls=true"),
              std::string::npos)
        << op.explain();
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::connection_test
