#include "client/traffic.hpp"

/// The prose tests 1 to 10 of "Server Discovery And Monitoring -- Test Plan": what the errors of
/// operations do to the topology. No operation is repeated here, so that nothing but the error
/// itself has monitors look again.
namespace holdfast::proof::sdam_errors_test {
namespace {

using namespace std::chrono_literals;

constexpr auto no_retries = "&retryReads=false&retryWrites=false&serverMonitoringMode=poll";

std::string topology(const recorder& events)
{
    const auto changes = events.of(heard::topology_changed);
    return changes.empty() ? "" : changes.back().after;
}

/// Two members, known to a client whose monitors rest.
struct calm_set {
    calm_set()
    {
        s.connect(no_retries);
        s.settle(1s);
        EXPECT_EQ(topology(s.events()), "ReplicaSetWithPrimary");
        checks_before = checks("a:27017");
    }
    std::size_t checks(std::string_view server) const
    {
        return s.events().count(heard::heartbeat_started, server);
    }
    scene s;
    std::size_t checks_before = 0;
};

TEST(prose_sdam, 1_client_can_be_created_while_all_seeds_are_down)
{
    scene s;
    s.simulation.run_for(1ms);  // they listen
    for (const char* const name : {"a", "b"})
        s.server(name).stop_listening();
    s.simulation.run_for(1ms);
    s.connect("&serverSelectionTimeoutMS=3000");
    const operation& early = s.run(ping_command());
    EXPECT_FALSE(early.good());
    EXPECT_EQ(early.took(), 3000ms);
    for (const char* const name : {"a", "b"})
        s.listen(name);
    EXPECT_TRUE(s.run(ping_command()).good());
    expect_clean(s);
}

TEST(prose_sdam, 2_network_error_of_a_write_marks_the_primary_unknown)
{
    calm_set of;
    of.s.server("a").on_command("insert", in_turn({hang_up()}));
    EXPECT_FALSE(of.s.write().good());
    EXPECT_EQ(of.s.events().type_of("a:27017"), "Unknown");
    EXPECT_EQ(topology(of.s.events()), "ReplicaSetNoPrimary");
    of.s.simulation.run_for(2s);
    EXPECT_EQ(of.checks("a:27017"), of.checks_before) << "no check before its time";
    of.s.simulation.run_for(10s);
    EXPECT_EQ(topology(of.s.events()), "ReplicaSetWithPrimary");
    for (const record& one : of.s.events().of(heard::server_changed))
        EXPECT_NE(one.before, "PossiblePrimary") << "that type is internal";
    expect_clean(of.s);
}

/// After the error the server is Unknown and is looked at again without delay.
void expect_lost_and_checked(calm_set& of, std::string_view server, std::size_t checks_before)
{
    const auto changes = of.s.events().of(heard::server_changed, server);
    ASSERT_GE(changes.size(), 2U);
    EXPECT_EQ(changes.back().after, "Unknown");
    ASSERT_TRUE(changes.back().failure);
    of.s.simulation.run_for(100ms);
    EXPECT_EQ(of.checks(server), checks_before + 1);
    EXPECT_NE(of.s.events().type_of(server), "Unknown") << "it was well all the time";
}

TEST(prose_sdam, 3_not_writable_primary_of_a_read_marks_the_primary_unknown)
{
    calm_set of;
    of.s.server("a").on("find", [](bson::view) { return error_reply(10107); });
    EXPECT_EQ(of.s.run(bson::doc("find", "coll"), as_read()).code(), 10107);
    EXPECT_EQ(topology(of.s.events()), "ReplicaSetNoPrimary");
    expect_lost_and_checked(of, "a:27017", of.checks_before);
    expect_clean(of.s);
}

TEST(prose_sdam, 4_recovering_secondary_is_marked_unknown)
{
    calm_set of;
    const std::size_t before = of.checks("b:27017");
    of.s.server("b").on("find", [](bson::view) { return error_reply(13436); });
    const operation& op = of.s.run(
        bson::doc("find", "coll"),
        {.kind = mongo::command_kind::read,
         .read_preference = mongo::read_preference{.mode = mongo::read_mode::secondary}});
    EXPECT_EQ(op.code(), 13436) << op.explain();
    EXPECT_EQ(topology(of.s.events()), "ReplicaSetWithPrimary");
    EXPECT_EQ(of.s.events().type_of("a:27017"), "RSPrimary");
    expect_lost_and_checked(of, "b:27017", before);
    expect_clean(of.s);
}

TEST(prose_sdam, 5_node_is_recovering_in_a_write_concern_error_marks_unknown)
{
    calm_set of;
    of.s.server("a").on("insert", [](bson::view) {
        return bson::doc("ok", 1.0, "n", 1, "writeConcernError",
                         bson::object("code", 91, "errmsg", "Replication is being shut down"));
    });
    (void)of.s.write();
    EXPECT_EQ(topology(of.s.events()), "ReplicaSetNoPrimary");
    expect_lost_and_checked(of, "a:27017", of.checks_before);
    expect_clean(of.s);
}

struct old_reply {
    const char* command;
    const char* message;
    mongo::read_mode mode;  // with and without "secondaryOk"
};
constexpr old_reply old_replies[] = {
    {"insert", "not master", mongo::read_mode::primary},  // 6
    {"insert", "node is recovering", mongo::read_mode::primary},
    {"find", "not master", mongo::read_mode::primary},  // 7
    {"find", "not master and slaveOk=false", mongo::read_mode::primary},
    {"find", "not master or secondary; cannot currently read from this replSet member",
     mongo::read_mode::primary_preferred},  // 8
    {"count", "not master", mongo::read_mode::primary},  // 9
    {"count", "node is recovering", mongo::read_mode::primary_preferred},  // 10
};

TEST(prose_sdam, 6_to_10_state_change_by_message_marks_unknown)
{
    for (const old_reply& row : old_replies) {
        calm_set of;
        of.s.server("a").on(
            row.command, [&](bson::view) { return bson::doc("ok", 0.0, "errmsg", row.message); });
        const bool writes = std::string_view{row.command} == "insert";
        const operation& op = of.s.run(
            writes ? insert_of(1) : bson::doc(row.command, "coll"),
            {.kind = writes ? mongo::command_kind::write : mongo::command_kind::read,
             .read_preference = mongo::read_preference{.mode = row.mode}});
        EXPECT_FALSE(op.good());
        EXPECT_EQ(topology(of.s.events()), "ReplicaSetNoPrimary") << row.message;
        const auto changes = of.s.events().of(heard::server_changed, "a:27017");
        ASSERT_TRUE(changes.back().failure) << row.message;
        EXPECT_NE(changes.back().failure->explain().find(row.message), std::string::npos)
            << changes.back().failure->explain();
        expect_clean(of.s);
    }
}

}  // namespace
}  // namespace holdfast::proof::sdam_errors_test
