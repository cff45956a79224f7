#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

/// Which primary is accepted when two claim to be it, on both sides of wire version 17.
namespace holdfast::core::mongo::sdam_test::election_test {
namespace {

using version = std::optional<int>;

std::string term(version election, version set)
{
    std::string text;
    if (election) {
        const std::string digits = std::to_string(*election);
        text = R"("electionId": {"$oid": ")" + std::string(24 - digits.size(), '0') + digits +
               R"("})";
    }
    if (set)
        text += (text.empty() ? "" : ", ") + (R"("setVersion": )" + std::to_string(*set));
    return text;
}

/// a is the primary with one term, then b claims to be it with another.
topology_ptr contest(int wire, version e1, version v1, version e2, version v2)
{
    const std::string both = R"("a", "b")";
    return after(start({"a", "b"}),
                 {primary("a", both, term(e1, v1), wire), primary("b", both, term(e2, v2), wire)});
}

std::string maxima(const topology_description& t)
{
    const std::string id = t.max_election_id ? t.max_election_id->to_string().substr(20) : "none";
    return id + "/" + (t.max_set_version ? std::to_string(*t.max_set_version) : "none");
}

struct row {
    const char* id;
    int wire;
    version e1, v1, e2, v2;
    bool newcomer_wins;
    const char* maxima;
};

constexpr version none = std::nullopt;

const row table[] = {
    {"SD-144", 17, 1, 1, 2, 1, true, "0002/1"},
    {"SD-144", 17, 2, 1, 1, 1, false, "0002/1"},
    {"SD-144", 17, 1, 1, 1, 1, true, "0001/1"},
    {"SD-144", 17, 1, 1, 1, 2, true, "0001/2"},
    {"SD-144", 17, 1, 2, 1, 1, false, "0001/2"},
    {"SD-020", 17, 1, 50, 2, 1, true, "0002/1"},
    {"SD-145", 17, none, none, none, none, true, "none/none"},
    {"SD-145", 17, none, none, 1, none, true, "0001/none"},
    {"SD-145", 17, 2, 1, none, 9, false, "0002/1"},
    {"SD-145", 17, none, 3, none, 2, false, "none/3"},
    {"SD-146", 27, 2, 1, 1, 9, false, "0002/1"},
    {"SD-147", 16, 1, 2, 2, 1, false, "0001/2"},
    {"SD-147", 16, 2, 1, 1, 1, false, "0002/1"},
    {"SD-147", 16, 1, 1, 1, 1, true, "0001/1"},
    {"SD-147", 16, 1, 1, 2, 1, true, "0002/1"},
    {"SD-148", 16, 2, 1, 1, 2, true, "0001/2"},
    {"SD-149", 16, none, 1, none, 2, true, "none/2"},
    {"SD-149", 16, 1, 2, none, 1, true, "0001/2"},
    {"SD-149", 16, 1, 1, none, 3, true, "0001/3"},
    {"SD-149", 16, 1, none, 2, 1, true, "0002/1"},
    {"SD-149", 16, 5, 1, 2, none, true, "0005/1"},
    {"SD-207", 17, 1, 3, 2, 1, true, "0002/1"},
    {"SD-207", 16, 1, 3, 2, 1, false, "0001/3"},
};

TEST(election, primary_with_the_greater_election_id_and_set_version_wins)
{
    for (const row& r : table) {
        VERIFIES_ROW(r.id);
        SCOPED_TRACE(std::string{r.id} + " expecting " + r.maxima);
        const topology_ptr t = contest(r.wire, r.e1, r.v1, r.e2, r.v2);
        EXPECT_EQ(picture(*t), r.newcomer_wins ? "ReplicaSetWithPrimary a:Unknown b:RSPrimary"
                                               : "ReplicaSetWithPrimary a:RSPrimary b:Unknown");
        EXPECT_EQ(maxima(*t), r.maxima);
    }
}

TEST(election, operations_are_released_only_by_a_later_election)
{
    const std::string both = R"("a", "b")";
    const auto released = [&](int wire, version e1, version v1, version e2, version v2) {
        const topology_ptr before = after(start({"a", "b"}),
                                          {primary("a", both, term(e1, v1), wire)});
        return servers_of<release_operations>(
            apply_check(before, primary("b", both, term(e2, v2), wire)));
    };
    EXPECT_EQ(released(17, 1, 1, 2, 1), names{"a"});
    EXPECT_EQ(released(17, 1, 50, 2, 1), names{"a"}) << "the electionId comes first";
    EXPECT_EQ(released(17, 1, 1, 1, 2), names{"a"});
    EXPECT_EQ(released(16, 2, 1, 1, 2), names{"a"}) << "the setVersion comes first";
    EXPECT_EQ(released(17, 1, 1, 1, 1), names{}) << "no election lies between them";
    EXPECT_EQ(released(17, none, none, 1, 1), names{}) << "no election is known of a";
    EXPECT_EQ(released(17, none, none, none, none), names{});
    EXPECT_EQ(released(16, 1, 1, none, 3), names{}) << "nor of b";
    EXPECT_EQ(released(17, 2, 1, 1, 1), names{}) << "b is stale";
}

TEST(election, later_primary_releases_operations_of_one_that_was_lost_before)
{
    const std::string both = R"("a", "b")";
    const topology_ptr before = after(start({"a", "b"}), {primary("a", both, term(1, 1))});
    const transition silent = apply_failed_check(before, at("a"), error{error_code{}, "silence"},
                                                 failure_kind::network, time_point{});
    EXPECT_EQ(servers_of<release_operations>(silent), names{}) << "no other primary is known yet";
    const auto released = [](const topology_ptr& t, const server_description& newcomer) {
        return servers_of<release_operations>(apply_check(t, newcomer));
    };
    EXPECT_EQ(released(silent.after, primary("b", both, term(2, 1))), names{"a"});
    EXPECT_EQ(released(silent.after, primary("a", both, term(2, 1))), names{}) << "it is back";
    EXPECT_EQ(released(silent.after, primary("b", both, term(1, 1))), names{}) << "no election";

    const topology_ptr hinted = after(silent.after,
                                      {secondary("b", both, R"("primary": "a:27017")")});
    EXPECT_EQ(released(hinted, primary("b", both, term(2, 1))), names{"a"});

    const topology_ptr taken = after(silent.after, {primary("b", both, term(2, 1))});
    EXPECT_EQ(released(taken, primary("b", both, term(2, 1))), names{}) << "once is enough";
}

TEST(election, primary_that_steps_down_keeps_its_operations)
{
    const std::string both = R"("a", "b")";
    const topology_ptr before = after(start({"a", "b"}), {primary("a", both, term(1, 1))});
    const transition stepped_down = apply_check(before, secondary("a", both));
    EXPECT_EQ(servers_of<release_operations>(stepped_down), names{});
    EXPECT_EQ(servers_of<release_operations>(
                  apply_check(stepped_down.after, primary("b", both, term(2, 1)))),
              names{})
        << "it answers them itself";
}

TEST(election, election_ids_compare_as_unsigned_bytes)
{
    VERIFIES("SD-207");
    const auto wins = [](const std::string& first, const std::string& second) {
        const auto claim = [](const char* from, const std::string& id) {
            return primary(from, R"("a", "b")",
                           R"("setVersion": 1, "electionId": {"$oid": ")" + id + R"("})");
        };
        return after(start({"a", "b"}), {claim("a", first), claim("b", second)})
                   ->find(at("b"))
                   ->type == server_type::rs_primary;
    };
    EXPECT_TRUE(wins("000000000000000000000000", "000000000000000000000001"));
    EXPECT_FALSE(wins("000000000000000000000001", "000000000000000000000000"));
    EXPECT_TRUE(wins("FE0000000000000000000000", "FF0000000000000000000000"));
    EXPECT_FALSE(wins("FF0000000000000000000000", "7F0000000000000000000000"));
}

TEST(election, stale_primary_becomes_unknown_and_changes_no_other_server)
{
    VERIFIES("SD-146");
    const topology_ptr before = after(start({"a", "b"}), {primary("b", R"("a", "b")", term(2, 1))});
    const transition t = apply_check(before, primary("a", R"("a", "b", "c")", term(1, 1)));
    EXPECT_EQ(picture(*t.after), "ReplicaSetWithPrimary a:Unknown b:RSPrimary");
    const server_ptr a = t.after->find(at("a"));
    ASSERT_TRUE(a->failure);
    EXPECT_EQ(a->failure->message(),
              "primary marked stale due to electionId/setVersion mismatch, it reported "
              "(000000000000000000000001, 1), the latest known is (000000000000000000000002, 1)");
    EXPECT_TRUE(a->hosts.empty() && !a->set_name && !a->election_id && !a->set_version);
    EXPECT_TRUE(servers_of<request_check>(t).empty() && servers_of<start_monitor>(t).empty());
}

TEST(election, stale_primary_is_never_published_as_rs_primary)
{
    const topology_ptr before = after(start({"a", "b"}), {primary("b", R"("a", "b")", term(2, 1))});
    const server_description stale = primary("a", R"("a", "b")", term(1, 1));
    const transition first = apply_check(before, stale);
    ASSERT_EQ(count_of<server_description_changed>(first), 1);
    EXPECT_EQ(std::get<server_description_changed>(first.events[0]).current->type,
              server_type::unknown);
    EXPECT_TRUE(apply_check(first.after, stale).events.empty()) << "nothing new the second time";
}

TEST(election, old_primary_becomes_unknown_and_is_rechecked_at_once)
{
    VERIFIES("SD-150");
    VERIFIES("SD-151");
    const std::string both = R"("a", "b")";
    const topology_ptr before = after(start({"a", "b"}), {primary("a", both, term(1, 1))});
    const transition t = apply_check(before, primary("b", both, term(2, 1)));
    const server_ptr a = t.after->find(at("a"));
    EXPECT_EQ(a->type, server_type::unknown);
    EXPECT_TRUE(a->hosts.empty() && !a->set_name && !a->election_id && !a->round_trip_time);
    ASSERT_TRUE(a->failure);
    EXPECT_EQ(a->failure->message(),
              "primary marked stale due to discovery of newer primary b:27017");
    EXPECT_EQ(servers_of<request_check>(t), names{"a"});
}

TEST(election, deposed_primary_pool_is_cleared_below_wire_version_8)
{
    VERIFIES("SD-152");
    const auto cleared = [](int wire) {
        const std::string both = R"("a", "b")";
        const topology_ptr before = after(start({"a", "b"}),
                                          {primary("a", both, term(1, 1), wire)});
        return servers_of<clear_pool>(apply_check(before, primary("b", both, term(2, 2))));
    };
    EXPECT_EQ(cleared(7), names{"a"});
    EXPECT_EQ(cleared(8), names{});
    EXPECT_EQ(cleared(21), names{});
}

TEST(election, set_version_of_secondaries_is_ignored)
{
    VERIFIES("SD-211");
    const std::string both = R"("a", "b")";
    topology_ptr t = after(start({"a", "b"}),
                           {primary("a", both, term(1, 4)), secondary("b", both, term(7, 99))});
    EXPECT_EQ(maxima(*t), "0001/4");
    // A takes a new configuration and crashes before anybody hears of it; B is elected without.
    t = after(t, {primary("a", both, term(1, 5)), unknown_server(at("a")),
                  primary("b", both, term(2, 4))});
    EXPECT_EQ(picture(*t), "ReplicaSetWithPrimary a:Unknown b:RSPrimary");
    EXPECT_EQ(maxima(*t), "0002/4");
}

TEST(election, removed_primary_does_not_change_max_election_id)
{
    VERIFIES("SD-141");
    const topology_ptr before = after(start({"a", "b"}), {primary("b", R"("b")", term(2, 2))});
    const transition t = apply_check(before, primary("a", R"("a")", term(9, 9)));
    EXPECT_EQ(t.after, before);
    EXPECT_EQ(maxima(*t.after), "0002/2");
    EXPECT_TRUE(t.effects.empty() && t.events.empty());
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::election_test
