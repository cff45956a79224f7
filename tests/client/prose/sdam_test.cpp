#include "client/prose/lab_scene.hpp"

/// The prose tests of "Server Discovery And Monitoring" that need a whole server: those of its
/// README, and 11 to 16 of the test plan.
namespace holdfast::proof::sdam_test {
namespace {

using namespace std::chrono_literals;

/// Every kind of deployment whose monitors stream.
const lab_options deployments[] = {
    {.standalone = true},
    {.members = 3},
    {.routers = 1},
};

TEST(prose_sdam, streaming_1_heartbeats_come_each_heartbeat_frequency_ms)
{
    for (const lab_options& kind : deployments) {
        lab_scene s{kind};
        s.connect("&heartbeatFrequencyMS=500");
        s.open();
        s.simulation.run_for(10s);
        const std::string server = kind.routers != 0 ? s.set->router_address(0) : s.address(0);
        const auto beats = s.events().of(heard::heartbeat_succeeded, server);
        ASSERT_GE(beats.size(), 18U) << server;
        for (std::size_t i = 3; i < beats.size(); ++i) {
            EXPECT_GE(beats[i].when - beats[i - 1].when, 450ms) << server;
            EXPECT_LE(beats[i].when - beats[i - 1].when, 550ms) << server;
        }
        s.close();
    }
}

TEST(prose_sdam, rtt_1_rtt_is_measured_while_hello_is_blocked)
{
    lab_scene s{{.members = 3}};
    s.connect("&heartbeatFrequencyMS=500&appName=streamingRttTest");
    const auto alive = s.command("admin", R"({"ping": 1})");
    ASSERT_TRUE(alive) << alive.error().explain();
    s.simulation.run_for(2s);
    for (const record& one : s.events().of(heard::server_changed)) {
        if (one.after != "Unknown") {
            EXPECT_GT(one.round_trip.value_or(0ms), 0ms);
        }
    }
    const std::size_t leads = s.primary();
    for (std::size_t member = 0; member < 3; ++member)
        s.fail_on(member, fail_command(R"({"times": 1000})",
                                       R"({"failCommands": ["hello", "isMaster", "ismaster"],
                                           "blockConnection": true, "blockTimeMS": 500,
                                           "appName": "streamingRttTest"})"));
    s.simulation.run_for(8s);
    // The RTT that was measured meanwhile is published with the next change.
    ASSERT_TRUE(s.get(s.set->step_down(s.app.world(), 10)));
    s.simulation.run_for(2s);
    const auto changes = s.events().of(heard::server_changed, s.address(leads));
    EXPECT_EQ(changes.back().after, "RSSecondary");
    EXPECT_GT(changes.back().round_trip.value_or(0ms), 250ms);
    for (std::size_t member = 0; member < 3; ++member)
        s.fail_on(member, fail_command(R"("off")", "{}"));
    s.close();
}

TEST(prose_sdam, 11_to_13_secondary_seed_is_direct_or_discovers_the_set)
{
    lab_scene s{{.members = 2}};
    const std::string seed = "mongodb://" + s.address(1 - s.primary());
    const auto write = [&](int id) {
        const bson::document what = bson::doc("_id", id);
        return s.get(s.test_collection().insert_one(what.view(), {}, use_awaitable));
    };
    s.connect_to(seed + "/?directConnection=false");  // 11: the primary is found
    const auto followed = write(1);
    EXPECT_TRUE(followed) << followed.error().explain();
    EXPECT_EQ(s.started("insert").back().server, s.address(s.primary()));
    s.close();

    s.connect_to(seed + "/?directConnection=true");  // 12: no other server is contacted
    const auto refused = write(2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(mongo::server_code(refused.error()), 10107) << refused.error().explain();
    s.close();

    s.connect_to(seed);  // 13: the option is off if it is not given
    const auto found = write(3);
    EXPECT_TRUE(found) << found.error().explain();
    EXPECT_EQ(s.started("insert").back().server, s.address(s.primary()));
    s.close();
}

TEST(prose_sdam, 14_monitors_sleep_min_heartbeat_frequency_ms_between_checks)
{
    lab_scene s;
    s.fail(R"({"times": 5})", R"({"failCommands": ["hello", "isMaster", "ismaster"],
                                  "errorCode": 1234, "appName": "SDAMMinHeartbeatFrequencyTest"})");
    s.connect_to("mongodb://" + s.address(0) +
                 "/?directConnection=true&appName=SDAMMinHeartbeatFrequencyTest"
                 "&serverSelectionTimeoutMS=5000");
    const bson::document ping = bson::doc("ping", 1);
    const auto op = s.start(s.client->run_command("admin", ping.view(), {}, use_awaitable));
    ASSERT_TRUE(s.finish([&] { return op->done(); }));
    EXPECT_TRUE(op->good()) << op->explain();
    EXPECT_GE(op->took(), 2s);
    EXPECT_LE(op->took(), 3500ms);
    EXPECT_EQ(s.events().count(heard::heartbeat_failed), 5U);
    s.close();
}

std::string check_story(const recorder& events)
{
    std::string story;
    for (const record& one : events.all()) {
        if (one.what == heard::pool_ready || one.what == heard::pool_cleared ||
            one.what == heard::heartbeat_failed)
            story += std::string{name_of(one.what)} + "; ";
        else if (one.what == heard::heartbeat_succeeded &&
                 !story.ends_with("heartbeat succeeded; "))
            story += "heartbeat succeeded; ";
    }
    return story;
}

TEST(prose_sdam, 15_pool_is_ready_and_cleared_after_heartbeats)
{
    lab_scene s;
    s.connect_to("mongodb://" + s.address(0) +
                 "/?directConnection=true&appName=SDAMPoolManagementTest&heartbeatFrequencyMS=500");
    s.open();
    s.simulation.run_for(2s);
    EXPECT_EQ(check_story(s.events()), "heartbeat succeeded; pool ready; heartbeat succeeded; ");
    s.fail(twice, R"({"failCommands": ["hello", "isMaster", "ismaster"], "errorCode": 1234,
                      "appName": "SDAMPoolManagementTest"})");
    s.simulation.run_for(5s);
    const std::string story = check_story(s.events());
    const auto failed = story.find("heartbeat failed; pool cleared; ");
    ASSERT_NE(failed, std::string::npos) << story;
    EXPECT_NE(story.find("heartbeat succeeded; pool ready; ", failed), std::string::npos) << story;
    s.close();
}

void expect_no_clear_at_a_limited_rate(bool tls)
{
    lab_scene s{{.tls = tls}};
    s.connect("&maxConnecting=100&resilienceProfile=upstream_2026_07");
    const bson::document one = bson::doc("_id", 1);
    ASSERT_TRUE(s.get(s.test_collection().insert_one(one.view(), {}, use_awaitable)));
    for (const char* const what :
         {R"({"setParameter": 1, "ingressConnectionEstablishmentRateLimiterEnabled": true})",
          R"({"setParameter": 1, "ingressConnectionEstablishmentRatePerSec": 20})",
          R"({"setParameter": 1, "ingressConnectionEstablishmentBurstCapacitySecs": 1})",
          R"({"setParameter": 1, "ingressConnectionEstablishmentMaxQueueDepth": 1})"}) {
        const auto set = s.command("admin", what);
        ASSERT_TRUE(set) << set.error().explain();
    }
    const bson::document slow = bson::doc("$where",
                                          bson::code{"function() { return sleep(2000) || true; }"});
    std::vector<pending<std::optional<bson::document>>> readers;
    for (int n = 0; n < 100; ++n)
        readers.push_back(s.start(s.test_collection().find_one(slow.view(), {}, use_awaitable)));
    ASSERT_TRUE(s.finish([&] {
        for (const auto& reader : readers) {
            if (!reader->done())
                return false;
        }
        return true;
    }));
    EXPECT_GE(s.events().count(heard::check_out_failed), 10U);
    EXPECT_EQ(s.events().count(heard::pool_cleared), 0U);
    s.simulation.run_for(1s);
    ASSERT_TRUE(s.command("admin", R"({"setParameter": 1,
        "ingressConnectionEstablishmentRateLimiterEnabled": false})"));
    s.close();
}

TEST(prose_sdam, 16_connection_rate_limit_does_not_clear_the_pool)
{
    expect_no_clear_at_a_limited_rate(false);
}

TEST(prose_sdam, 16_connection_rate_limit_with_tls_does_not_clear_the_pool)
{
    expect_no_clear_at_a_limited_rate(true);
}

}  // namespace
}  // namespace holdfast::proof::sdam_test
