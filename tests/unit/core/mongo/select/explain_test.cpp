#include "core/mongo/select/explain.hpp"

#include "holdfast/bson/errc.hpp"
#include "select_fixture.hpp"

namespace holdfast::core::mongo::select_test::explain_test {
namespace {

using namespace std::chrono_literals;

std::string why(server_description s, const selection_request& request)
{
    const topology_ptr t = topology(topology_type::replica_set_no_primary, {std::move(s)});
    return explain_no_match(*t, request, {}, now + 1500ms).at(0).why;
}

TEST(selection_explanation, unsuitable_server_has_its_reason)
{
    const error refused{bson::errc::invalid_value, "connection refused"};
    server_description failed = server("a", server_type::unknown);
    failed.failure = refused;
    EXPECT_EQ(why(failed, writes()), "connection refused, 1500 ms ago");
    failed.failure = error{refused}.with_context("phase", "connecting");
    EXPECT_EQ(why(failed, writes()), "connection refused (while connecting), 1500 ms ago");
    server_description fresh = server("a", server_type::unknown);
    EXPECT_EQ(why(fresh, writes()), "not yet known, 1500 ms ago");
    fresh.last_update_time = time_point::min();
    EXPECT_EQ(why(fresh, writes()), "not yet known, never checked");

    const selection_request secondary = reads(read_mode::secondary);
    EXPECT_EQ(why(server("a", rs_arbiter), secondary), "RSArbiter holds no data to read or write");
    EXPECT_EQ(why(server("a", rs_ghost), writes()), "RSGhost holds no data to read or write");
    EXPECT_EQ(why(server("a", rs_primary), secondary), "RSPrimary does not match");
    EXPECT_EQ(why(server("a", mongos), writes()), "Mongos does not match");
    EXPECT_EQ(why(server("a", rs_secondary), writes()), "RSSecondary is not the primary");
    EXPECT_EQ(why(server("a", rs_secondary), reads(read_mode::primary)),
              "RSSecondary is not the primary");
    EXPECT_EQ(why(server("a", rs_secondary), reads(read_mode::secondary, {{{"dc", "ny"}}})),
              "RSSecondary does not match the tags");
}

TEST(selection_explanation, stale_secondary_reports_its_staleness)
{
    const topology_ptr t = replica_set(
        {wrote(server("p", rs_primary), 500), wrote(server("s", rs_secondary), 300)});
    const auto received = explain_no_match(*t, reads(read_mode::secondary, {}, 90s), {}, now);
    ASSERT_EQ(received.size(), 2u);
    EXPECT_EQ(received[1].server, reported_address("s"));
    EXPECT_EQ(received[1].why, "RSSecondary is about 210 s stale");
    const auto exact = explain_no_match(*t, reads(read_mode::secondary, {{{"a", "b"}}}, 210s), {},
                                        now);
    EXPECT_EQ(exact[1].why, "RSSecondary does not match the tags");
}

TEST(selection_explanation, summary_names_topology_and_servers)
{
    server_description down = server("a", server_type::unknown);
    down.failure = error{bson::errc::invalid_value, "refused"};
    topology_description t = *replica_set({down, server("b", rs_secondary)});
    t.set_name = "rs";
    EXPECT_EQ(describe_no_match(t, writes(), {}, now),
              "no suitable server: a writable server was wanted, the topology is "
              "ReplicaSetNoPrimary \"rs\": a:27017: refused, 0 ms ago; b:27017: RSSecondary is not "
              "the primary");
    EXPECT_EQ(describe_no_match(*topology(topology_type::unknown, {}), writes(), {}, now),
              "no suitable server: a writable server was wanted, the topology is Unknown without "
              "any server");
    const std::string reading = describe_no_match(
        *topology(topology_type::unknown, {}),
        reads(read_mode::secondary_preferred, {{{"dc", "ny"}}}, 120s), {}, now);
    EXPECT_NE(reading.find("a server for reads with preference secondaryPreferred, at most 120 s "
                           "stale, with tags was wanted"),
              std::string::npos)
        << reading;
}

TEST(selection_explanation, server_of_another_set_is_named_though_it_was_removed)
{
    topology_description t = *topology(topology_type::replica_set_no_primary, {});
    t.set_name = "prod";
    t.removed = {{reported_address("a"), "rs0"}, {reported_address("b"), std::nullopt}};
    EXPECT_EQ(describe_no_match(t, writes(), {}, now),
              "no suitable server: a writable server was wanted, the topology is "
              "ReplicaSetNoPrimary \"prod\" without any server; a:27017 is a member of rs0, not of "
              "prod: removed; check replicaSet; b:27017 is not a member of a replica set: removed; "
              "check replicaSet");
}

TEST(selection_explanation, connection_attempt_without_an_answer_is_named)
{
    server_description fresh = server("a", server_type::unknown);
    fresh.last_update_time = time_point::min();
    const topology_ptr t = topology(topology_type::unknown, {fresh});
    running_checks running;
    running.began.emplace(fresh.address, now);
    running.limit = 10s;
    EXPECT_EQ(explain_no_match(*t, writes(), {}, now + 1500ms, running).at(0).why,
              "no answer to the connection attempt begun 1.5 s ago (connectTimeoutMS 10 s)");
}

}  // namespace
}  // namespace holdfast::core::mongo::select_test::explain_test
