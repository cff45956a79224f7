#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

/// Each cell of the specification's table: a server of one type answers in a topology of another.
namespace holdfast::core::mongo::sdam_test::table_test {
namespace {

// In each topology server b is unknown until it answers; a is what makes the topology what it is.
topology_ptr in_unknown()
{
    return start({"a", "b"});
}
topology_ptr in_sharded()
{
    return after(start({"a", "b"}), {hello("a", R"("msg": "isdbgrid")")});
}
topology_ptr in_no_primary()
{
    return after(start({"a", "b"}), {secondary("a", R"("a", "b")")});
}
topology_ptr in_with_primary()
{
    return after(start({"a", "b"}), {primary("a", R"("a", "b")")});
}

server_description reply_of(server_type type)
{
    const std::string member = R"("setName": "rs", "hosts": ["a", "b"])";
    switch (type) {
    case server_type::standalone:
        return hello("b", "");
    case server_type::mongos:
        return hello("b", R"("msg": "isdbgrid")");
    case server_type::rs_primary:
        return hello("b", member + R"(, "isWritablePrimary": true)");
    case server_type::rs_secondary:
        return hello("b", member + R"(, "secondary": true)");
    case server_type::rs_arbiter:
        return hello("b", member + R"(, "arbiterOnly": true)");
    case server_type::rs_other:
        return hello("b", member);
    case server_type::rs_ghost:
        return hello("b", R"("isreplicaset": true)");
    case server_type::unknown:
    case server_type::possible_primary:
    case server_type::load_balancer:
        break;
    }
    return unknown_server(at("b"));
}

struct cell {
    const char* id;
    topology_ptr (*topology)();
    server_type reply;
    const char* expected;
};

using enum server_type;

const cell table[] = {
    {"SD-094", in_unknown, server_type::unknown, "Unknown a:Unknown b:Unknown"},
    {"SD-095", in_sharded, server_type::unknown, "Sharded a:Mongos b:Unknown"},
    {"SD-096", in_no_primary, server_type::unknown, "ReplicaSetNoPrimary a:RSSecondary b:Unknown"},
    {"SD-097", in_with_primary, server_type::unknown,
     "ReplicaSetWithPrimary a:RSPrimary b:Unknown"},
    {"SD-098", in_unknown, standalone, "Unknown a:Unknown"},
    {"SD-099", in_sharded, standalone, "Sharded a:Mongos"},
    {"SD-100", in_no_primary, standalone, "ReplicaSetNoPrimary a:RSSecondary"},
    {"SD-101", in_with_primary, standalone, "ReplicaSetWithPrimary a:RSPrimary"},
    {"SD-102", in_unknown, mongos, "Sharded a:Unknown b:Mongos"},
    {"SD-103", in_sharded, mongos, "Sharded a:Mongos b:Mongos"},
    {"SD-104", in_no_primary, mongos, "ReplicaSetNoPrimary a:RSSecondary"},
    {"SD-105", in_with_primary, mongos, "ReplicaSetWithPrimary a:RSPrimary"},
    {"SD-106", in_unknown, rs_primary, "ReplicaSetWithPrimary a:Unknown b:RSPrimary"},
    {"SD-107", in_sharded, rs_primary, "Sharded a:Mongos"},
    {"SD-108", in_no_primary, rs_primary, "ReplicaSetWithPrimary a:RSSecondary b:RSPrimary"},
    {"SD-109", in_with_primary, rs_primary, "ReplicaSetWithPrimary a:Unknown b:RSPrimary"},
    {"SD-110", in_unknown, rs_secondary, "ReplicaSetNoPrimary a:Unknown b:RSSecondary"},
    {"SD-111", in_sharded, rs_secondary, "Sharded a:Mongos"},
    {"SD-112", in_no_primary, rs_secondary, "ReplicaSetNoPrimary a:RSSecondary b:RSSecondary"},
    {"SD-113", in_with_primary, rs_secondary, "ReplicaSetWithPrimary a:RSPrimary b:RSSecondary"},
    {"SD-114", in_unknown, rs_arbiter, "ReplicaSetNoPrimary a:Unknown b:RSArbiter"},
    {"SD-115", in_sharded, rs_arbiter, "Sharded a:Mongos"},
    {"SD-116", in_no_primary, rs_arbiter, "ReplicaSetNoPrimary a:RSSecondary b:RSArbiter"},
    {"SD-117", in_with_primary, rs_arbiter, "ReplicaSetWithPrimary a:RSPrimary b:RSArbiter"},
    {"SD-118", in_unknown, rs_other, "ReplicaSetNoPrimary a:Unknown b:RSOther"},
    {"SD-119", in_sharded, rs_other, "Sharded a:Mongos"},
    {"SD-120", in_no_primary, rs_other, "ReplicaSetNoPrimary a:RSSecondary b:RSOther"},
    {"SD-121", in_with_primary, rs_other, "ReplicaSetWithPrimary a:RSPrimary b:RSOther"},
    {"SD-122", in_unknown, rs_ghost, "Unknown a:Unknown b:RSGhost"},
    {"SD-123", in_sharded, rs_ghost, "Sharded a:Mongos"},
    {"SD-124", in_no_primary, rs_ghost, "ReplicaSetNoPrimary a:RSSecondary b:RSGhost"},
    {"SD-125", in_with_primary, rs_ghost, "ReplicaSetWithPrimary a:RSPrimary b:RSGhost"},
};

TEST(sdam_table, every_topology_and_server_type_has_its_transition)
{
    for (const cell& c : table) {
        VERIFIES_ROW(c.id);
        SCOPED_TRACE(c.id);
        const topology_ptr before = c.topology();
        const server_description reply = reply_of(c.reply);
        ASSERT_EQ(reply.type, c.reply);
        EXPECT_EQ(picture(*apply_check(before, reply).after), c.expected);
    }
}

TEST(sdam_table, removed_server_of_another_set_is_remembered)
{
    const topology_ptr wrong = after(start({"a", "b"}, false, "prod"),
                                     {secondary("a", R"("a", "b")"), hello("b", "")});
    ASSERT_EQ(wrong->removed.size(), 2u);
    EXPECT_EQ(wrong->removed[0].address, at("a"));
    EXPECT_EQ(wrong->removed[0].set_name, "rs");
    EXPECT_EQ(wrong->removed[1].address, at("b"));
    EXPECT_EQ(wrong->removed[1].set_name, std::nullopt) << "a standalone server";
    const topology_ptr right = after(start({"a"}, false, "rs"), {primary("a", R"("a")")});
    EXPECT_TRUE(right->removed.empty());
}

TEST(sdam_table, replica_set_members_set_the_set_name)
{
    for (const server_type type : {rs_primary, rs_secondary, rs_arbiter, rs_other})
        EXPECT_EQ(apply_check(in_unknown(), reply_of(type)).after->set_name, "rs") << name_of(type);
    EXPECT_EQ(apply_check(in_unknown(), reply_of(rs_ghost)).after->set_name, std::nullopt);
}

TEST(sdam_table, primary_changing_to_any_type_gives_no_primary)
{
    VERIFIES("SD-097");
    VERIFIES("SD-101");
    VERIFIES("SD-105");
    for (const server_type type :
         {server_type::unknown, standalone, mongos, rs_secondary, rs_arbiter, rs_other, rs_ghost}) {
        server_description gone = reply_of(type);
        gone.address = at("a");
        EXPECT_EQ(apply_check(in_with_primary(), gone).after->type,
                  topology_type::replica_set_no_primary)
            << name_of(type);
    }
}

const cell& cell_of(topology_type in, server_type reply)
{
    return *std::ranges::find_if(
        table, [&](const cell& c) { return c.reply == reply && c.topology()->type == in; });
}

/// b, which is of one type, answers as another.
void expect_change(const topology_ptr& before, server_type reply)
{
    const server_type was = before->find(at("b"))->type;
    SCOPED_TRACE(picture(*before) + ", then b:" + std::string{name_of(reply)});
    const std::string cell = cell_of(before->type, reply).expected;
    const topology_ptr next = apply_check(before, reply_of(reply)).after;
    const server_ptr b = next->find(at("b"));
    ASSERT_EQ(b != nullptr, cell.find(" b:") != std::string::npos);
    if (b) {
        EXPECT_EQ(b->type, reply);
    }
    // In the table the primary is another server; here b may have been it.
    const bool lost = was == rs_primary && reply != rs_primary;
    EXPECT_EQ(name_of(next->type), lost ? "ReplicaSetNoPrimary" : cell.substr(0, cell.find(' ')));
}

TEST(sdam_table, server_may_change_from_any_type_to_any_other)
{
    VERIFIES("SD-063");
    int pairs = 0;
    for (const cell& first : table) {
        const topology_ptr before = apply_check(first.topology(), reply_of(first.reply)).after;
        for (const server_type second : {server_type::unknown, standalone, mongos, rs_primary,
                                         rs_secondary, rs_arbiter, rs_other, rs_ghost}) {
            const topology_ptr single = after(start({"b"}, true),
                                              {reply_of(first.reply), reply_of(second)});
            EXPECT_EQ(single->find(at("b"))->type, second) << name_of(first.reply);
            if (!before->find(at("b")))
                continue;  // it is not asked any more
            expect_change(before, second);
            ++pairs;
        }
    }
    EXPECT_EQ(pairs, 8 * (7 + 2 + 6 + 6));
}

TEST(sdam_table, single_and_load_balanced_never_change_type)
{
    VERIFIES("SD-083");
    VERIFIES("SD-088");
    for (const cell& c : table) {
        const server_description reply = reply_of(c.reply);
        const topology_ptr single = start({"b"}, true);
        const topology_ptr next = apply_check(single, reply).after;
        EXPECT_EQ(next->type, topology_type::single);
        ASSERT_EQ(next->servers.size(), 1u);
        EXPECT_EQ(next->servers[0]->type, c.reply);
    }
    topology_settings settings;
    settings.seeds = {at("b")};
    settings.load_balanced = true;
    const transition opened = open_topology(settings);
    EXPECT_EQ(picture(*opened.after), "LoadBalanced b:LoadBalancer");
    EXPECT_EQ(servers_of<start_monitor>(opened), names{});
    EXPECT_EQ(servers_of<mark_pool_ready>(opened), names{"b"});
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::table_test
