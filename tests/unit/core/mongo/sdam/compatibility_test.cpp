#include "core/mongo/select/suitable.hpp"
#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

#include <set>

/// What holds of descriptions as such: names, defaults, wire versions, session timeouts, freshness.
namespace holdfast::core::mongo::sdam_test::compatibility_test {
namespace {

using enum server_type;

constexpr server_type all_types[] = {
    server_type::unknown, standalone, mongos,   possible_primary, rs_primary,
    rs_secondary,         rs_arbiter, rs_other, rs_ghost,         load_balancer};

server_description speaking(std::string_view from, int least, int most)
{
    server_description s = hello(from, R"("msg": "isdbgrid")", most);
    s.min_wire_version = least;
    return s;
}

TEST(server_types, names_match_the_sdam_specification)
{
    VERIFIES("SD-017");
    VERIFIES("SD-018");
    VERIFIES("SD-008");
    std::set<std::string_view> servers, topologies, data;
    for (const server_type type : all_types) {
        servers.insert(name_of(type));
        if (is_data_bearing(type))
            data.insert(name_of(type));
        EXPECT_EQ(is_unknown(type), type == server_type::unknown || type == possible_primary);
    }
    for (int i = 0; i <= static_cast<int>(topology_type::load_balanced); ++i)
        topologies.insert(name_of(static_cast<topology_type>(i)));
    using text = std::set<std::string_view>;
    EXPECT_EQ(servers, (text{"Unknown", "Standalone", "Mongos", "PossiblePrimary", "RSPrimary",
                             "RSSecondary", "RSArbiter", "RSOther", "RSGhost", "LoadBalancer"}));
    EXPECT_EQ(topologies, (text{"Unknown", "Single", "ReplicaSetNoPrimary", "ReplicaSetWithPrimary",
                                "Sharded", "LoadBalanced"}));
    EXPECT_EQ(data, (text{"Mongos", "RSPrimary", "RSSecondary", "Standalone", "LoadBalancer"}));
}

TEST(topology, initial_topology_is_unknown_localhost)
{
    VERIFIES("SD-019");
    VERIFIES("SD-015");
    const topology_description t = initial_topology({});
    EXPECT_EQ(picture(t), "Unknown localhost:Unknown");
    EXPECT_EQ(t.servers[0]->address.value(), "localhost:27017");
    EXPECT_FALSE(t.set_name || t.max_election_id || t.max_set_version || t.compatibility_error ||
                 t.logical_session_timeout_minutes);
    EXPECT_TRUE(t.compatible());
}

TEST(topology, duplicate_seeds_are_one_server)
{
    const topology_ptr t = start({"a", "A", "b"});
    EXPECT_EQ(picture(*t), "Unknown a:Unknown b:Unknown");
    EXPECT_EQ(t->seed_count, 3u);
}

TEST(topology, empty_seed_list_warns)
{
    topology_settings settings;
    settings.seeds.clear();
    const transition t = open_topology(settings);
    ASSERT_EQ(t.effects.size(), 1u);
    EXPECT_TRUE(std::holds_alternative<warn>(t.effects[0]));
}

TEST(topology, load_balancer_type_comes_from_the_option_only)
{
    VERIFIES("SD-062");
    topology_settings settings;
    settings.load_balanced = true;
    EXPECT_EQ(open_topology(settings).after->servers[0]->type, load_balancer);
    EXPECT_EQ(hello("a", R"("serviceId": {"$oid": "000000000000000000000009"},
                            "msg": "isdbgrid")")
                  .type,
              mongos);
}

TEST(compatibility, wire_version_range_must_overlap)
{
    VERIFIES("SD-016");
    VERIFIES("SD-084");
    struct row {
        int least, most;
        bool fits;
    };
    for (const row& r : {row{6, 27, true}, row{0, 6, true}, row{27, 99, true}, row{0, 5, false},
                         row{28, 99, false}, row{0, 0, false}})
        EXPECT_EQ(after(start({"a"}), {speaking("a", r.least, r.most)})->compatible(), r.fits)
            << r.least << '-' << r.most;
    EXPECT_EQ(client_min_wire_version, 6);
    EXPECT_EQ(client_max_wire_version, 27);
    const wire_range narrow{10, 12};
    const auto fits = [&](int least, int most) {
        return apply_check(start({"a"}), speaking("a", least, most), narrow).after->compatible();
    };
    EXPECT_TRUE(fits(0, 10) && fits(12, 99));
    EXPECT_FALSE(fits(0, 9) || fits(13, 99));
    EXPECT_TRUE(after(start({"a"}), {unknown_server(at("a"))})->compatible());
}

TEST(compatibility, error_text_matches_the_specification)
{
    VERIFIES("SD-085");
    VERIFIES("SD-086");
    EXPECT_EQ(after(start({"a"}), {speaking("a", 999, 1000)})->compatibility_error,
              "Server at a:27017 requires wire version 999, but this version of Holdfast only "
              "supports up to 27.");
    EXPECT_EQ(after(start({"a"}), {speaking("a", 0, 5)})->compatibility_error,
              "Server at a:27017 reports wire version 5, but this version of Holdfast requires "
              "at least 6 (MongoDB 3.6).");
}

TEST(compatibility, one_incompatible_server_blocks_selection_until_removed)
{
    VERIFIES("SD-047");
    VERIFIES("SD-092");
    const auto refused = [](const topology_ptr& t) {
        const auto found = suitable_servers(*t, {.kind = operation_kind::write}, {});
        return found ? std::string{} : found.error().message();
    };
    topology_ptr t = after(start({"a", "b"}), {speaking("a", 0, 21)});
    EXPECT_TRUE(t->compatible());
    EXPECT_EQ(refused(t), "");
    t = after(t, {speaking("b", 99, 99)});
    EXPECT_FALSE(t->compatible());
    EXPECT_EQ(refused(t), *t->compatibility_error);
    t = after(t, {speaking("b", 6, 21)});
    EXPECT_TRUE(t->compatible());
    EXPECT_EQ(refused(t), "");
    t = after(t, {speaking("b", 0, 1), hello("b", "")});
    EXPECT_TRUE(t->compatible()) << "it was removed";
}

TEST(session_timeout, minimum_of_data_bearing_servers)
{
    VERIFIES("SD-159");
    VERIFIES("SD-160");
    const auto minutes = [](int n) {
        return R"("logicalSessionTimeoutMinutes": )" + std::to_string(n);
    };
    const std::string all = R"("a", "b"], "arbiters": ["x"], "passives": ["g", "o")";
    topology_ptr t = after(start({"a"}), {primary("a", all, minutes(30))});
    EXPECT_EQ(t->logical_session_timeout_minutes, 30) << "the unknown do not count";
    t = after(t, {secondary("b", all, minutes(20)),
                  hello("x", R"("arbiterOnly": true, "setName": "rs")"),
                  hello("g", R"("isreplicaset": true)"), hello("o", R"("setName": "rs")")});
    EXPECT_EQ(t->logical_session_timeout_minutes, 20);
    t = after(t, {secondary("b", all)});
    EXPECT_EQ(t->logical_session_timeout_minutes, std::nullopt);
    t = after(t, {secondary("b", all, minutes(40))});
    EXPECT_EQ(t->logical_session_timeout_minutes, 30);
    t = after(t, {unknown_server(at("a")), unknown_server(at("b"))});
    EXPECT_EQ(t->logical_session_timeout_minutes, std::nullopt);
}

TEST(single_topology, mismatching_set_name_makes_the_server_unknown)
{
    VERIFIES("SD-087");
    const topology_ptr before = start({"a"}, true, "rs");
    EXPECT_EQ(before->type, topology_type::single);
    EXPECT_EQ(picture(*after(before, {secondary("a", R"("a")")})), "Single a:RSSecondary");
    const server_description wrong[] = {hello("a", R"("secondary": true, "setName": "other")"),
                                        hello("a", ""), hello("a", R"("isreplicaset": true)")};
    for (const server_description& reply : wrong) {
        const transition t = apply_check(before, reply);
        EXPECT_EQ(picture(*t.after), "Single a:Unknown");
        EXPECT_NE(t.after->servers[0]->failure->message().find("\"rs\""), std::string::npos);
        EXPECT_EQ(servers_of<mark_pool_ready>(t), names{});
        EXPECT_EQ(t.after->servers[0]->last_update_time, now);
    }
}

TEST(pool_ready, marks_pools_of_selectable_servers_ready)
{
    VERIFIES("SD-201");
    VERIFIES("SD-162");
    const std::string in_set = R"("setName": "rs", "hosts": ["a", "b"])";
    const server_description replies[] = {hello("a", ""),
                                          hello("a", R"("msg": "isdbgrid")"),
                                          hello("a", R"("isWritablePrimary": true, )" + in_set),
                                          hello("a", R"("secondary": true, )" + in_set),
                                          hello("a", R"("arbiterOnly": true, )" + in_set),
                                          hello("a", in_set),
                                          hello("a", R"("isreplicaset": true)"),
                                          unknown_server(at("a"))};
    for (const server_description& reply : replies) {
        const auto ready = [&](const topology_ptr& t) {
            return servers_of<mark_pool_ready>(apply_check(t, reply)) == names{"a"};
        };
        EXPECT_EQ(ready(start({"a"})), is_data_bearing(reply.type)) << name_of(reply.type);
        EXPECT_EQ(ready(start({"a"}, true)), !is_unknown(reply.type)) << name_of(reply.type);
    }
    const topology_ptr known = after(start({"a"}), {hello("a", "")});
    EXPECT_EQ(servers_of<mark_pool_ready>(apply_check(known, hello("a", ""))), names{"a"})
        << "after each check, for the pool may have been cleared in between";
}

TEST(freshness, equal_hello_reply_replaces_rtt_and_update_time)
{
    VERIFIES("SD-052");
    server_description first = hello("a", "");
    first.round_trip_time = std::chrono::milliseconds{5};
    server_description second = first;
    second.round_trip_time = std::chrono::milliseconds{7};
    second.last_update_time = now + std::chrono::seconds{10};
    const topology_ptr before = after(start({"a"}), {first});
    const transition t = apply_check(before, second);
    EXPECT_EQ(t.after->servers[0]->round_trip_time, std::chrono::milliseconds{7});
    EXPECT_EQ(t.after->servers[0]->last_update_time, second.last_update_time);
    EXPECT_TRUE(t.events.empty());
}

TEST(freshness, topology_version_counter_has_64_bits)
{
    VERIFIES("SD-076");
    const bson::document reply = json(R"({"ok": 0, "code": 10107, "topologyVersion":
        {"processId": {"$oid": "0000000000000000000000AB"},
         "counter": {"$numberLong": "9000000000"}}})");
    const auto version = parse_topology_version(reply);
    ASSERT_TRUE(version);
    EXPECT_EQ(version->counter, 9'000'000'000);
    EXPECT_EQ(version->process_id.bytes[11], 0xAB);
    const server_description failed = parse_hello(at("a"), reply, {}, now);
    EXPECT_EQ(failed.type, server_type::unknown);
    EXPECT_EQ(failed.version, version);
    EXPECT_EQ(parse_topology_version(json(R"({"topologyVersion": 3})")), std::nullopt);
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::compatibility_test
