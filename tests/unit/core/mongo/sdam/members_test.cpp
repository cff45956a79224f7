#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

/// Who belongs to the topology: hosts that members name, names that members give themselves, and
/// those who have to go.
namespace holdfast::core::mongo::sdam_test::members_test {
namespace {

std::string hosts_of(const topology_description& t)
{
    std::string text;
    for (const server_ptr& s : t.servers)
        text += (text.empty() ? "" : " ") + parts_of(s->address).host;
    return text;
}

TEST(replica_set_members, one_seed_discovers_all_members)
{
    VERIFIES("SD-004");
    VERIFIES("SD-033");
    const transition t = apply_check(start({"a"}),
                                     secondary("a", R"("a", "b", "c")", R"("primary": "b")"));
    EXPECT_EQ(picture(*t.after), "ReplicaSetNoPrimary a:RSSecondary b:PossiblePrimary c:Unknown");
    EXPECT_EQ(servers_of<start_monitor>(t), (names{"b", "c"}));
    const topology_ptr found = after(t.after, {primary("b", R"("a", "b", "c")")});
    EXPECT_EQ(picture(*found), "ReplicaSetWithPrimary a:RSSecondary b:RSPrimary c:Unknown");
}

TEST(replica_set_members, hosts_passives_and_arbiters_are_monitored)
{
    VERIFIES("SD-024");
    VERIFIES("SD-132");
    VERIFIES("SD-153");
    const std::string lists =
        R"("setName": "rs", "hosts": ["a"], "passives": ["p"], "arbiters": ["x"])";
    const server_description both[] = {hello("a", R"("secondary": true, )" + lists),
                                       hello("a", R"("isWritablePrimary": true, )" + lists)};
    for (const server_description& reply : both) {
        const transition t = apply_check(start({"a"}), reply);
        EXPECT_EQ(hosts_of(*t.after), "a p x");
        EXPECT_EQ(servers_of<start_monitor>(t), (names{"p", "x"}));
        EXPECT_EQ(t.after->find(at("p"))->type, server_type::unknown);
        EXPECT_EQ(count_of<server_opening>(t), 2);
    }
}

TEST(replica_set_members, host_list_of_the_primary_adds_and_removes_members)
{
    VERIFIES("SD-005");
    VERIFIES("SD-154");
    topology_ptr t = after(start({"a", "b", "c"}), {primary("a", R"("a", "b", "c")")});
    t = after(t, {unknown_server(at("c"))});
    EXPECT_EQ(hosts_of(*t), "a b c") << "a member that is down is not gone";
    const std::string others = R"("passives": ["p"], "arbiters": ["x"])";
    t = after(t, {primary("a", R"("a", "b", "c", "d")", others)});
    EXPECT_EQ(hosts_of(*t), "a b c d p x");
    const transition shrunk = apply_check(t, primary("a", R"("a", "d")", others));
    EXPECT_EQ(hosts_of(*shrunk.after), "a d p x");
    EXPECT_EQ(servers_of<stop_monitor>(shrunk), (names{"b", "c"}));
}

TEST(replica_set_members, rolling_move_to_new_hosts_is_followed)
{
    VERIFIES("SD-216");
    topology_ptr t = after(start({"a", "b"}), {primary("a", R"("a", "b")")});
    t = after(t, {primary("a", R"("a", "b", "c")"), secondary("c", R"("a", "b", "c")"),
                  primary("a", R"("a", "c")"), secondary("a", R"("a", "c")"),
                  primary("c", R"("a", "c")"), primary("c", R"("c", "d")"),
                  secondary("d", R"("c", "d")", R"("tags": {"dc": "ny"})")});
    EXPECT_EQ(picture(*t), "ReplicaSetWithPrimary c:RSPrimary d:RSSecondary");
    t = after(t, {secondary("d", R"("c", "d")", R"("tags": {"dc": "sf"})")});
    EXPECT_EQ(t->find(at("d"))->tags, (tag_set{{"dc", "sf"}}));
}

TEST(replica_set_members, seed_alias_is_replaced_by_configured_names)
{
    VERIFIES("SD-154");
    VERIFIES("SD-156");
    VERIFIES("SD-213");
    const transition t = apply_check(start({"alias"}), primary("alias", R"("host1", "host2")"));
    EXPECT_EQ(picture(*t.after), "ReplicaSetNoPrimary host1:Unknown host2:Unknown");
    EXPECT_EQ(servers_of<stop_monitor>(t), names{"alias"});
    EXPECT_EQ(servers_of<start_monitor>(t), (names{"host1", "host2"}));
    const topology_ptr found = after(t.after, {primary("host1", R"("host1", "host2")")});
    EXPECT_EQ(picture(*found), "ReplicaSetWithPrimary host1:RSPrimary host2:Unknown");
}

TEST(replica_set_members, member_whose_me_differs_is_replaced_by_me)
{
    VERIFIES("SD-134");
    VERIFIES("SD-210");
    topology_ptr t = after(start({"a", "b", "c"}),
                           {secondary("a", R"("d", "e", "f")", R"("me": "d")")});
    EXPECT_EQ(hosts_of(*t), "b c d e f");
    t = after(t, {secondary("d", R"("d", "e", "f")", R"("me": "d")")});
    EXPECT_EQ(t->find(at("d"))->type, server_type::rs_secondary) << "selectable by a query";
    t = after(t, {primary("b", R"("d", "e", "f")", R"("me": "e")")});
    EXPECT_EQ(picture(*t), "ReplicaSetNoPrimary d:RSSecondary e:Unknown f:Unknown")
        << "and still there for its getMore";
    EXPECT_EQ(hosts_of(*after(start({"a"}), {secondary("a", R"("d", "e")")})), "a d e")
        << "a member that does not say who it is stays";
}

TEST(replica_set_members, member_whose_me_differs_is_removed_under_a_primary)
{
    VERIFIES("SD-138");
    const std::string both = R"("a", "b")";
    const topology_ptr before = after(start({"a", "b"}), {primary("b", both)});
    EXPECT_EQ(picture(*after(before, {secondary("a", both, R"("me": "b")")})),
              "ReplicaSetWithPrimary b:RSPrimary");
    EXPECT_EQ(picture(*after(before, {secondary("a", both, R"("me": "a")")})),
              "ReplicaSetWithPrimary a:RSSecondary b:RSPrimary");
    EXPECT_EQ(picture(*after(before, {secondary("a", both)})),
              "ReplicaSetWithPrimary a:RSSecondary b:RSPrimary");
    EXPECT_EQ(picture(*after(before, {secondary("b", both, R"("me": "a")")})),
              "ReplicaSetNoPrimary a:Unknown")
        << "the primary itself came back under another name";
}

TEST(replica_set_members, direct_connection_keeps_its_address_despite_me)
{
    VERIFIES("SD-022");
    const topology_ptr t = after(start({"a"}, true), {secondary("a", R"("x")", R"("me": "x")")});
    EXPECT_EQ(picture(*t), "Single a:RSSecondary");
    EXPECT_EQ(t->servers[0]->me, at("x"));
}

TEST(replica_set_members, primary_hint_counts_even_from_a_removed_member)
{
    VERIFIES("SD-133");
    const auto from = [](const char* more) {
        return picture(*after(start({"a"}), {secondary("a", R"("b", "c")", more)}));
    };
    EXPECT_EQ(from(R"("me": "c", "primary": "b")"),
              "ReplicaSetNoPrimary b:PossiblePrimary c:Unknown");
    EXPECT_EQ(from(R"("me": "c", "primary": "z")"), "ReplicaSetNoPrimary b:Unknown c:Unknown");
    EXPECT_EQ(from(R"("me": "c")"), "ReplicaSetNoPrimary b:Unknown c:Unknown");
    EXPECT_EQ(
        picture(*after(start({"a", "b"}), {secondary("b", R"("a", "b")"),
                                           secondary("a", R"("a", "b")", R"("primary": "b")")})),
        "ReplicaSetNoPrimary a:RSSecondary b:RSSecondary")
        << "who is known is not demoted by hearsay";
}

TEST(replica_set_members, stepped_down_primary_hints_at_the_possible_primary)
{
    VERIFIES("SD-139");
    const std::string both = R"("a", "b")";
    const topology_ptr before = after(start({"a", "b"}), {primary("a", both)});
    EXPECT_EQ(picture(*after(before, {secondary("a", both, R"("primary": "b")")})),
              "ReplicaSetNoPrimary a:RSSecondary b:PossiblePrimary");
    EXPECT_EQ(picture(*after(before, {secondary("a", both)})),
              "ReplicaSetNoPrimary a:RSSecondary b:Unknown");
    const topology_ptr other = after(start({"a", "b"}), {primary("b", both)});
    EXPECT_EQ(picture(*after(other,
                             {unknown_server(at("a")), secondary("a", both, R"("primary": "b")")})),
              "ReplicaSetWithPrimary a:RSSecondary b:RSPrimary");
}

TEST(replica_set_members, only_the_primary_removes_members)
{
    VERIFIES("SD-135");
    VERIFIES("SD-140");
    VERIFIES("SD-206");
    topology_ptr t = after(start({"a", "b", "c"}), {secondary("a", R"("a")")});
    EXPECT_EQ(hosts_of(*t), "a b c");
    t = after(t, {secondary("b", R"("b", "x")")});
    EXPECT_EQ(hosts_of(*t), "a b c x") << "without a primary every list adds";
    t = after(t, {primary("c", R"("a", "b", "c")")});
    EXPECT_EQ(hosts_of(*t), "a b c") << "the primary's list is the set";
    t = after(t, {secondary("b", R"("b", "x")")});
    EXPECT_EQ(picture(*t), "ReplicaSetWithPrimary a:RSSecondary b:RSSecondary c:RSPrimary");
}

TEST(replica_set_members, host_list_of_an_arbiter_is_used_without_a_primary)
{
    VERIFIES("SD-205");
    topology_ptr t = after(start({"a"}), {hello("a", R"("isWritablePrimary": true,
        "setName": "rs", "hosts": ["a"], "arbiters": ["x"])")});
    t = after(t, {unknown_server(at("a")), hello("x", R"("arbiterOnly": true, "setName": "rs",
        "hosts": ["n"], "arbiters": ["x"])")});
    EXPECT_EQ(picture(*t), "ReplicaSetNoPrimary a:Unknown n:Unknown x:RSArbiter");
}

TEST(replica_set_members, rs_other_discovers_hosts_and_rs_ghost_does_not)
{
    VERIFIES("SD-065");
    VERIFIES("SD-066");
    topology_ptr t = after(start({"h"}), {hello("h", R"("hidden": true, "secondary": true,
        "setName": "rs", "hosts": ["b", "c"])")});
    EXPECT_EQ(picture(*t), "ReplicaSetNoPrimary b:Unknown c:Unknown h:RSOther");
    t = after(t, {primary("b", R"("b", "c")")});
    EXPECT_EQ(picture(*t), "ReplicaSetWithPrimary b:RSPrimary c:Unknown");
    const server_description ghost = hello("g", R"("isreplicaset": true, "hosts": ["z"])");
    EXPECT_EQ(picture(*after(start({"g"}, false, "rs"), {ghost})), "ReplicaSetNoPrimary g:RSGhost");
}

TEST(replica_set_members, member_of_another_set_name_is_removed_with_its_hosts)
{
    VERIFIES("SD-131");
    VERIFIES("SD-137");
    VERIFIES("SD-143");
    const server_description other = hello("a", R"("secondary": true, "setName": "other",
        "hosts": ["x", "y"])");
    const server_description other_primary = hello("a", R"("isWritablePrimary": true,
        "setName": "other", "hosts": ["x", "y"])");
    const topology_ptr named = start({"a", "b"}, false, "rs");
    EXPECT_EQ(picture(*after(named, {other})), "ReplicaSetNoPrimary b:Unknown");
    EXPECT_EQ(picture(*after(named, {other_primary})), "ReplicaSetNoPrimary b:Unknown");
    const std::string both = R"("a", "b")";
    EXPECT_EQ(picture(*after(named, {primary("b", both), other})),
              "ReplicaSetWithPrimary b:RSPrimary");
    EXPECT_EQ(picture(*after(named, {primary("a", both), other})), "ReplicaSetNoPrimary b:Unknown");
    EXPECT_EQ(picture(*after(named, {primary("a", both), other_primary})),
              "ReplicaSetNoPrimary b:Unknown");
}

TEST(replica_set_members, set_name_is_taken_from_the_first_member)
{
    VERIFIES("SD-130");
    VERIFIES("SD-142");
    VERIFIES("SD-036");
    EXPECT_EQ(start({"a"})->set_name, std::nullopt);
    EXPECT_EQ(after(start({"a"}), {secondary("a", R"("a")")})->set_name, "rs");
    EXPECT_EQ(after(start({"a"}), {primary("a", R"("a")")})->set_name, "rs");
    EXPECT_EQ(start({"a"}, false, "mine")->set_name, "mine");
    EXPECT_EQ(start({"a"}, false, "mine")->type, topology_type::replica_set_no_primary);
}

TEST(replica_set_members, reply_of_a_removed_server_is_ignored)
{
    VERIFIES("SD-093");
    VERIFIES("SD-157");
    const topology_ptr before = after(start({"a", "b"}), {primary("b", R"("b")")});
    const server_description late[] = {hello("a", ""), secondary("a", R"("a", "x")"),
                                       primary("a", R"("a", "x")"), unknown_server(at("a"))};
    for (const server_description& reply : late) {
        const transition t = apply_check(before, reply);
        EXPECT_EQ(t.after, before);
        EXPECT_TRUE(t.effects.empty() && t.events.empty());
    }
    const error reset{bson::errc::invalid_value, "reset"};
    EXPECT_TRUE(
        apply_failed_check(before, at("a"), reset, failure_kind::network, now).effects.empty());
}

TEST(replica_set_members, every_update_rule_ignores_removed_servers)
{
    VERIFIES("SD-126");
    VERIFIES("SD-129");
    VERIFIES("SD-136");
    const topology_ptr unknown = after(start({"a", "b"}), {hello("a", "")});
    EXPECT_EQ(picture(*after(unknown, {hello("a", "")})), "Unknown b:Unknown");
    const topology_ptr no_primary = after(start({"a", "b"}, false, "rs"), {hello("a", "")});
    EXPECT_EQ(picture(*after(no_primary, {secondary("a", R"("a", "x")")})),
              "ReplicaSetNoPrimary b:Unknown");
    const topology_ptr with_primary = after(start({"a", "b"}), {primary("b", R"("b")")});
    EXPECT_EQ(picture(*after(with_primary, {secondary("a", R"("a", "x")")})),
              "ReplicaSetWithPrimary b:RSPrimary");
}

TEST(replica_set_members, standalone_becomes_single_only_as_the_only_seed)
{
    VERIFIES("SD-127");
    VERIFIES("SD-128");
    EXPECT_EQ(picture(*after(start({"a"}), {hello("a", "")})), "Single a:Standalone");
    const topology_ptr first_gone = after(start({"a", "b"}), {hello("a", "")});
    EXPECT_EQ(picture(*first_gone), "Unknown b:Unknown");
    EXPECT_EQ(picture(*after(first_gone, {hello("b", "")})), "Unknown");
    EXPECT_EQ(picture(*after(first_gone, {primary("b", R"("b")")})),
              "ReplicaSetWithPrimary b:RSPrimary");
    EXPECT_EQ(picture(*after(start({"a", "b"}), {primary("b", R"("a", "b")"), hello("a", "")})),
              "ReplicaSetWithPrimary b:RSPrimary");
}

TEST(replica_set_members, removing_the_last_server_leaves_an_empty_topology)
{
    VERIFIES("SD-089");
    VERIFIES("SD-091");
    const transition t = apply_check(start({"a"}, false, "rs"), hello("a", ""));
    EXPECT_EQ(picture(*t.after), "ReplicaSetNoPrimary");
    EXPECT_TRUE(t.after->servers.empty());
    const auto warned = std::ranges::count_if(
        t.effects, [](const effect& e) { return std::holds_alternative<warn>(e); });
    EXPECT_EQ(warned, 1);
    EXPECT_EQ(apply_check(t.after, primary("a", R"("a")")).after, t.after);
    const transition kept = apply_check(start({"a", "b"}, false, "rs"), hello("a", ""));
    EXPECT_FALSE(std::ranges::any_of(
        kept.effects, [](const effect& e) { return std::holds_alternative<warn>(e); }));
}

TEST(replica_set_members, topology_type_follows_the_server_types)
{
    VERIFIES("SD-155");
    const std::string both = R"("a", "b")";
    topology_ptr t = after(start({"a", "b"}), {secondary("a", both)});
    EXPECT_EQ(t->type, topology_type::replica_set_no_primary);
    t = after(t, {primary("b", both), secondary("a", both)});
    EXPECT_EQ(t->type, topology_type::replica_set_with_primary);
    t = after(t, {unknown_server(at("a"))});
    EXPECT_EQ(t->type, topology_type::replica_set_with_primary);
    t = after(t, {unknown_server(at("b"))});
    EXPECT_EQ(t->type, topology_type::replica_set_no_primary);
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::members_test
