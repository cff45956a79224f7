#include "core/mongo/error/errc.hpp"
#include "select_fixture.hpp"
#include "support/verifies.hpp"

namespace holdfast::core::mongo::select_test::suitable_test {
namespace {

using namespace std::chrono_literals;
using enum read_mode;

constexpr server_type all_types[] = {
    server_type::unknown, standalone, mongos,   possible_primary, rs_primary,
    rs_secondary,         rs_arbiter, rs_other, rs_ghost,         load_balancer};

/// p is the primary, s and t are secondaries.
topology_ptr whole_set()
{
    return replica_set({server("p", rs_primary), server("s", rs_secondary),
                        server("t", rs_secondary), server("x", rs_arbiter), server("g", rs_ghost),
                        server("o", rs_other), server("u", server_type::unknown)});
}

TEST(suitable_servers, writes_follow_server_and_topology_type)
{
    VERIFIES("SD-014");
    for (const server_type type : all_types) {
        const auto fits = [&](topology_type in) {
            return suitable(topology(in, {server("a", type)}), writes()) == "a";
        };
        EXPECT_FALSE(fits(topology_type::unknown)) << name_of(type);
        EXPECT_EQ(fits(topology_type::single), !is_unknown(type)) << name_of(type);
        EXPECT_EQ(fits(topology_type::replica_set_no_primary), type == rs_primary);
        EXPECT_EQ(fits(topology_type::replica_set_with_primary), type == rs_primary);
        EXPECT_EQ(fits(topology_type::sharded), type == mongos);
        EXPECT_EQ(fits(topology_type::load_balanced), type == load_balancer);
    }
}

TEST(suitable_servers, writes_ignore_the_read_preference)
{
    selection_request write = reads(secondary, {{{"dc", "ny"}}}, 1s);
    write.kind = operation_kind::write;
    EXPECT_EQ(suitable(whole_set(), write), "p");
    EXPECT_EQ(suitable(replica_set({server("s", rs_secondary)}), write), "");
}

TEST(suitable_servers, single_topology_reads_from_any_known_server)
{
    VERIFIES("SD-003");
    for (const server_type type : all_types) {
        const topology_ptr t = topology(topology_type::single, {server("a", type)});
        for (const read_mode mode : {primary, secondary, nearest})
            EXPECT_EQ(suitable(t, reads(mode)), is_unknown(type) ? "" : "a") << name_of(type);
    }
}

TEST(suitable_servers, read_modes_choose_primary_or_secondaries)
{
    VERIFIES("SD-064");
    struct row {
        read_mode mode;
        const char* whole;
        const char* only_primary;
        const char* only_secondaries;
    };
    const topology_ptr only_primary = replica_set({server("p", rs_primary)});
    const topology_ptr only_secondaries = replica_set(
        {server("s", rs_secondary), server("t", rs_secondary)});
    for (const row& r : {row{primary, "p", "p", ""}, row{primary_preferred, "p", "p", "st"},
                         row{secondary, "st", "", "st"}, row{secondary_preferred, "st", "p", "st"},
                         row{nearest, "pst", "p", "st"}}) {
        SCOPED_TRACE(name_of(r.mode));
        EXPECT_EQ(suitable(whole_set(), reads(r.mode)), r.whole);
        EXPECT_EQ(suitable(only_primary, reads(r.mode)), r.only_primary);
        EXPECT_EQ(suitable(only_secondaries, reads(r.mode)), r.only_secondaries);
    }
}

TEST(suitable_servers, sharded_topology_reads_from_any_mongos)
{
    const topology_ptr t = topology(
        topology_type::sharded,
        {server("a", mongos), server("b", mongos), server("u", server_type::unknown)});
    for (const read_mode mode : {primary, secondary, nearest})
        EXPECT_EQ(suitable(t, reads(mode)), "ab");
    EXPECT_EQ(suitable(t, writes()), "ab");
}

TEST(suitable_servers, first_matching_tag_set_is_used)
{
    const topology_ptr t = replica_set(
        {server("p", rs_primary, 5ms, {{"dc", "ny"}}),
         server("s", rs_secondary, 5ms, {{"dc", "ny"}}),
         server("t", rs_secondary, 5ms, {{"dc", "sf"}, {"rack", "1"}})});
    const tag_set ny{{"dc", "ny"}}, sf{{"dc", "sf"}}, nowhere{{"dc", "xx"}};
    const tag_set sf_rack{{"dc", "sf"}, {"rack", "1"}}, sf_other{{"dc", "sf"}, {"rack", "2"}};
    EXPECT_EQ(suitable(t, reads(secondary, {ny})), "s");
    EXPECT_EQ(suitable(t, reads(secondary, {nowhere, sf, ny})), "t");
    EXPECT_EQ(suitable(t, reads(secondary, {nowhere})), "");
    EXPECT_EQ(suitable(t, reads(secondary, {nowhere, {}})), "st");
    EXPECT_EQ(suitable(t, reads(secondary, {sf_rack})), "t");
    EXPECT_EQ(suitable(t, reads(secondary, {sf_other})), "");
    EXPECT_EQ(suitable(t, reads(nearest, {ny})), "ps");
    EXPECT_EQ(suitable(t, reads(primary_preferred, {sf})), "p") << "the primary needs no tags";
    EXPECT_EQ(suitable(t, reads(secondary_preferred, {nowhere})), "p");
    EXPECT_EQ(suitable(t, reads(primary, {ny})), "error");
    EXPECT_EQ(suitable(t, reads(primary, {{}})), "p") << "an empty set means none";
}

TEST(suitable_servers, deprioritized_servers_are_used_only_without_others)
{
    const std::vector<endpoint> s{reported_address("s")}, p{reported_address("p")};
    const std::vector<endpoint> all{reported_address("p"), reported_address("s"),
                                    reported_address("t")};
    const auto without = [](selection_request request, const std::vector<endpoint>& avoided) {
        request.deprioritised = avoided;
        return suitable(whole_set(), request);
    };
    EXPECT_EQ(without(reads(secondary), s), "t");
    EXPECT_EQ(without(reads(secondary), all), "st");
    EXPECT_EQ(without(reads(nearest), p), "st");
    EXPECT_EQ(without(reads(primary_preferred), p), "st");
    EXPECT_EQ(without(reads(secondary_preferred), s), "t");
    EXPECT_EQ(without(writes(), p), "p") << "a preference, not a ban";
    EXPECT_EQ(without(writes(), s), "p");
}

TEST(suitable_servers, custom_selector_filters_the_suitable_servers)
{
    selection_settings settings;
    settings.selector = [](std::span<const server_ptr> given) {
        return std::vector<server_ptr>{given.back()};
    };
    EXPECT_EQ(suitable(whole_set(), reads(secondary), settings), "t");
    bool asked = false;
    settings.selector = [&](std::span<const server_ptr>) {
        asked = true;
        return std::vector<server_ptr>{};
    };
    EXPECT_EQ(suitable(whole_set(), reads(nearest), settings), "");
    EXPECT_TRUE(asked);
    asked = false;
    EXPECT_EQ(suitable(replica_set({}), writes(), settings), "");
    EXPECT_FALSE(asked) << "there is nothing to choose from";
}

TEST(suitable_servers, incompatible_topology_is_an_error)
{
    topology_description t = *whole_set();
    t.compatibility_error = "too new";
    const auto found = suitable_servers(t, writes(), {});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), errc::incompatible_server);
    EXPECT_EQ(found.error().message(), "too new");
}

TEST(read_preference, invalid_max_staleness_or_tags_are_refused)
{
    const topology_ptr set = whole_set();
    const auto checked = [](const topology_ptr& t, const selection_request& r, duration beat) {
        return check_preference(r.preference, *t, beat).has_value();
    };
    EXPECT_TRUE(checked(set, reads(secondary, {}, 90s), 10s));
    EXPECT_FALSE(checked(set, reads(secondary, {}, 89s), 10s));
    EXPECT_TRUE(checked(set, reads(secondary, {}, 130s), 120s));
    EXPECT_FALSE(checked(set, reads(secondary, {}, 129s), 120s));
    EXPECT_FALSE(checked(set, reads(primary, {}, 100s), 10s));
    EXPECT_TRUE(checked(topology(topology_type::sharded, {}), reads(secondary, {}, 1s), 10s))
        << "only members of a set can be stale";
    const auto refused = check_preference(reads(nearest, {}, 89s).preference, *set, 10s);
    EXPECT_EQ(refused.error().message(),
              "maxStalenessSeconds is 89, the least is 90: 90, and "
              "heartbeatFrequencyMS plus 10 s");
    const auto more = check_preference(reads(nearest, {}, 95s).preference, *set, 90'500ms);
    EXPECT_NE(more.error().message().find("the least is 101"), std::string::npos);
}

TEST(staleness, with_primary_uses_last_write_and_update_times)
{
    const topology_ptr t = replica_set({wrote(server("p", rs_primary), 200, now),
                                        wrote(server("s", rs_secondary), 150, now + 7s),
                                        wrote(server("t", rs_secondary), 200, now)});
    const auto of = [&](const char* name) {
        return staleness(*t->find(reported_address(name)), staleness_reference_of(*t), 10s);
    };
    EXPECT_EQ(of("s"), 50s + 7s + 10s);
    EXPECT_EQ(of("t"), 10s);
}

TEST(suitable_servers, out_stage_follows_read_preference_from_wire_version_13)
{
    const auto kind = [](server_type type, std::int32_t version) {
        server_description one = server("a", type);
        one.max_wire_version = version;
        const bool set = type == rs_primary;
        const auto t = set ? replica_set({one}) : topology(topology_type::load_balanced, {one});
        return kind_in(*t, operation_kind::read, true);
    };
    EXPECT_EQ(kind(rs_primary, 12), operation_kind::write);
    EXPECT_EQ(kind(rs_primary, 13), operation_kind::read);
    EXPECT_EQ(kind(load_balancer, 0), operation_kind::read) << "it has not said";
}

TEST(staleness, without_primary_uses_the_newest_last_write)
{
    const topology_ptr t = replica_set({wrote(server("s", rs_secondary), 150, now),
                                        wrote(server("t", rs_secondary), 200, now + 99s),
                                        wrote(server("x", rs_other), 900, now),
                                        server("n", rs_secondary)});
    const auto of = [&](const char* name) {
        return staleness(*t->find(reported_address(name)), staleness_reference_of(*t), 10s);
    };
    EXPECT_EQ(of("s"), 60s);
    EXPECT_EQ(of("t"), 10s);
    EXPECT_EQ(of("n"), 10s) << "it has not said";
}

TEST(staleness, secondaries_above_max_staleness_are_excluded)
{
    const topology_ptr t = replica_set({wrote(server("p", rs_primary), 200),
                                        wrote(server("s", rs_secondary), 120),
                                        wrote(server("t", rs_secondary), 119)});
    EXPECT_EQ(suitable(t, reads(secondary, {}, 90s)), "s") << "exactly the limit is allowed";
    EXPECT_EQ(suitable(t, reads(secondary, {}, 91s)), "st");
    EXPECT_EQ(suitable(t, reads(nearest, {}, 90s)), "ps");
}

TEST(latency_window, holds_servers_within_local_threshold_of_the_fastest)
{
    const topology_ptr t = replica_set({server("a", rs_secondary, 5ms),
                                        server("b", rs_secondary, 20ms),
                                        server("c", rs_secondary, 21ms)});
    EXPECT_EQ(letters(in_latency_window(t->servers, 15ms)), "ab");
    EXPECT_EQ(letters(in_latency_window(t->servers, 16ms)), "abc");
    EXPECT_EQ(letters(in_latency_window(t->servers, 0ms)), "a");
    EXPECT_EQ(letters(in_latency_window({}, 15ms)), "");
}

}  // namespace
}  // namespace holdfast::core::mongo::select_test::suitable_test
