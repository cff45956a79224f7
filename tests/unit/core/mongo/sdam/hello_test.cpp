#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

namespace holdfast::core::mongo::sdam_test::hello_test {
namespace {

TEST(parse_hello, server_type_follows_the_reply_fields)
{
    struct row {
        const char* id;
        const char* reply;
        server_type expected;
    };
    const row table[] = {
        {"SD-054", R"({"isWritablePrimary": true})", server_type::unknown},
        {"SD-054", R"({"ok": 0, "errmsg": "no"})", server_type::unknown},
        {"SD-055", R"({"ok": 1})", server_type::standalone},
        {"SD-055", R"({"ok": 1.0, "isWritablePrimary": true})", server_type::standalone},
        {"SD-056", R"({"ok": 1, "msg": "isdbgrid"})", server_type::mongos},
        {"SD-056", R"({"ok": 1, "msg": "something"})", server_type::standalone},
        {"SD-057", R"({"ok": 1, "isWritablePrimary": true, "setName": "rs"})",
         server_type::rs_primary},
        {"SD-057", R"({"ok": 1, "ismaster": true, "setName": "rs"})", server_type::rs_primary},
        {"SD-053", R"({"ok": 1, "ismaster": true, "isWritablePrimary": false, "setName": "rs"})",
         server_type::rs_other},
        {"SD-053", R"({"ok": 1, "ismaster": false, "isWritablePrimary": true, "setName": "rs"})",
         server_type::rs_primary},
        {"SD-058", R"({"ok": 1, "secondary": true, "setName": "rs"})", server_type::rs_secondary},
        {"SD-059", R"({"ok": 1, "arbiterOnly": true, "setName": "rs"})", server_type::rs_arbiter},
        {"SD-060", R"({"ok": 1, "setName": "rs"})", server_type::rs_other},
        {"SD-060", R"({"ok": 1, "secondary": true, "hidden": true, "setName": "rs"})",
         server_type::rs_other},
        {"SD-061", R"({"ok": 1, "isreplicaset": true})", server_type::rs_ghost},
        {"SD-061", R"({"ok": 1, "isreplicaset": true, "secondary": true})", server_type::rs_ghost},
    };
    for (const row& r : table) {
        VERIFIES_ROW(r.id);
        EXPECT_EQ(parse_hello(at("a"), json(r.reply), {}, now).type, r.expected) << r.reply;
    }
}

TEST(parse_hello, unknown_server_has_the_specified_defaults)
{
    VERIFIES("SD-023");
    const server_description s = unknown_server(at("a"));
    EXPECT_EQ(s.type, server_type::unknown);
    EXPECT_FALSE(s.failure || s.round_trip_time || s.min_round_trip_time || s.last_write_date ||
                 s.op_time || s.me || s.set_name || s.election_id || s.set_version || s.primary ||
                 s.logical_session_timeout_minutes || s.version || s.is_cryptd);
    EXPECT_TRUE(s.hosts.empty() && s.passives.empty() && s.arbiters.empty() && s.tags.empty());
    EXPECT_EQ(s.min_wire_version, 0);
    EXPECT_EQ(s.max_wire_version, 0);
    EXPECT_EQ(s.last_update_time, time_point::min());
}

TEST(parse_hello, all_replica_set_fields_are_read)
{
    VERIFIES("SD-081");
    VERIFIES("SD-074");
    VERIFIES("SD-071");
    const server_description s = parse_hello(
        at("A"), json(R"({"ok": 1, "setName": "rs", "secondary": true, "me": "B:1",
            "hosts": ["C", "B:1"], "passives": ["D"], "arbiters": ["E"], "tags": {"dc": "ny"},
            "setVersion": 3, "electionId": {"$oid": "000000000000000000000007"}, "primary": "C",
            "minWireVersion": 2, "maxWireVersion": 9, "logicalSessionTimeoutMinutes": 30,
            "iscryptd": true, "serviceId": {"$oid": "000000000000000000000009"},
            "lastWrite": {"lastWriteDate": {"$date": {"$numberLong": "5"}}, "opTime": {"t": 1}},
            "topologyVersion": {"processId": {"$oid": "000000000000000000000001"},
                                "counter": {"$numberLong": "4"}}})"),
        {std::chrono::milliseconds{3}, std::chrono::milliseconds{2}}, now);
    EXPECT_EQ(s.address.value(), "a:27017");
    EXPECT_EQ(s.me->value(), "b:1");
    EXPECT_EQ(s.hosts, (address_list{at("b:1"), at("c")}));
    EXPECT_EQ(s.passives, address_list{at("d")});
    EXPECT_EQ(s.arbiters, address_list{at("e")});
    EXPECT_EQ(s.tags, (tag_set{{"dc", "ny"}}));
    EXPECT_EQ(s.set_version, 3);
    EXPECT_EQ(s.election_id->bytes[11], 7);
    EXPECT_EQ(s.primary->value(), "c:27017");
    EXPECT_EQ(s.min_wire_version, 2);
    EXPECT_EQ(s.max_wire_version, 9);
    EXPECT_EQ(s.logical_session_timeout_minutes, 30);
    EXPECT_EQ(s.is_cryptd, true);
    EXPECT_EQ(s.service_id->bytes[11], 9);
    EXPECT_EQ(s.last_write_date->time_since_epoch().count(), 5);
    EXPECT_EQ(*s.op_time, json(R"({"t": 1})"));
    EXPECT_EQ(s.version->counter, 4);
    EXPECT_EQ(s.version->process_id.bytes[11], 1);
    EXPECT_EQ(s.round_trip_time, std::chrono::milliseconds{3});
    EXPECT_EQ(s.min_round_trip_time, std::chrono::milliseconds{2});
    EXPECT_EQ(s.last_update_time, now);
}

TEST(parse_hello, last_write_that_is_absent_or_empty_is_null)
{
    VERIFIES("SD-071");
    for (const char* const fields : {"", R"("lastWrite": {})"}) {
        const server_description s = hello("a", fields);
        EXPECT_FALSE(s.last_write_date) << fields;
        EXPECT_FALSE(s.op_time) << fields;
    }
    const server_description dated = hello(
        "a", R"("lastWrite": {"lastWriteDate": {"$date": {"$numberLong": "5"}}})");
    EXPECT_TRUE(dated.last_write_date && !dated.op_time);
    const server_description timed = hello("a", R"("lastWrite": {"opTime": {"t": 1}})");
    EXPECT_TRUE(timed.op_time && !timed.last_write_date);
}

TEST(parse_hello, iscryptd_service_id_and_session_timeout_are_read)
{
    VERIFIES("SD-025");
    VERIFIES("SD-075");
    VERIFIES("SD-080");
    EXPECT_EQ(hello("a", R"("iscryptd": true)").is_cryptd, true);
    EXPECT_EQ(hello("a", "").is_cryptd, std::nullopt);
    EXPECT_EQ(hello("a", R"("logicalSessionTimeoutMinutes": 7)").logical_session_timeout_minutes,
              7);
    EXPECT_EQ(hello("a", "").logical_session_timeout_minutes, std::nullopt);
    EXPECT_EQ(
        hello("a", R"("serviceId": {"$oid": "000000000000000000000009"})").service_id->bytes[11],
        9);
}

TEST(parse_hello, malformed_fields_are_skipped)
{
    const server_description s = hello(
        "a", R"("setName": 7, "hosts": [1, "b"], "tags": {"x": 1, "y": "z"}, "me": null,
                      "setVersion": "x", "electionId": "y", "lastWrite": 3,
                      "topologyVersion": {"counter": 1})");
    EXPECT_EQ(s.type, server_type::standalone);
    EXPECT_EQ(s.hosts, address_list{at("b")});
    EXPECT_EQ(s.tags, (tag_set{{"y", "z"}}));
    EXPECT_FALSE(s.me || s.set_version || s.election_id || s.version || s.last_write_date);
}

TEST(parse_hello, field_of_the_wrong_type_counts_as_absent)
{
    const bson::document reply = json(R"({"ok": 1, "minWireVersion": "2", "maxWireVersion": "9",
        "hosts": {"0": "b"}, "passives": {"0": "c"}, "arbiters": "d", "tags": ["x"],
        "primary": ["b"], "lastWrite": [1], "serviceId": 5, "iscryptd": "yes",
        "logicalSessionTimeoutMinutes": "30"})");
    const server_description s = parse_hello(at("a"), reply, {}, now);
    EXPECT_EQ(s.min_wire_version, 0);
    EXPECT_EQ(s.max_wire_version, 0);
    EXPECT_TRUE(s.hosts.empty() && s.passives.empty() && s.arbiters.empty() && s.tags.empty());
    EXPECT_FALSE(s.primary || s.last_write_date || s.op_time || s.service_id ||
                 s.logical_session_timeout_minutes);
    EXPECT_EQ(s.is_cryptd, false);
}

TEST(parse_hello, ok_0_reply_is_kept_as_the_error)
{
    VERIFIES("SD-067");
    const server_description s = parse_hello(
        at("a"), json(R"({"ok": 0, "errmsg": "not today", "code": 5})"), {}, now);
    ASSERT_TRUE(s.failure);
    EXPECT_EQ(s.failure->message(), "hello failed: not today (code 5)");
}

TEST(server_description, equality_ignores_rtt_and_update_time)
{
    VERIFIES("SD-082");
    const server_description base = secondary("a", R"("a")");
    const auto changed = [&](auto change) {
        server_description other = base;
        change(other);
        return !(other == base);
    };
    using d = server_description&;
    EXPECT_FALSE(changed([](d s) { s.round_trip_time = std::chrono::seconds{1}; }));
    EXPECT_FALSE(changed([](d s) { s.min_round_trip_time = std::chrono::seconds{1}; }));
    EXPECT_FALSE(changed([](d s) { s.last_write_date = bson::datetime{}; }));
    EXPECT_FALSE(changed([](d s) { s.op_time = json("{}"); }));
    EXPECT_FALSE(changed([](d s) { s.last_update_time = time_point{}; }));
    EXPECT_TRUE(changed([](d s) { s.failure = error{bson::errc::invalid_value, "x"}; }));
    EXPECT_TRUE(changed([](d s) { s.type = server_type::rs_other; }));
    EXPECT_TRUE(changed([](d s) { s.min_wire_version = 1; }));
    EXPECT_TRUE(changed([](d s) { s.max_wire_version = 1; }));
    EXPECT_TRUE(changed([](d s) { s.me = at("a"); }));
    EXPECT_TRUE(changed([](d s) { s.hosts = address_list{}; }));
    EXPECT_TRUE(changed([](d s) { s.passives = {at("x")}; }));
    EXPECT_TRUE(changed([](d s) { s.arbiters = {at("x")}; }));
    EXPECT_TRUE(changed([](d s) { s.tags = {{"a", "b"}}; }));
    EXPECT_TRUE(changed([](d s) { s.set_name = "other"; }));
    EXPECT_TRUE(changed([](d s) { s.election_id = bson::object_id{}; }));
    EXPECT_TRUE(changed([](d s) { s.set_version = 1; }));
    EXPECT_TRUE(changed([](d s) { s.primary = at("a"); }));
    EXPECT_TRUE(changed([](d s) { s.logical_session_timeout_minutes = 1; }));
    EXPECT_TRUE(changed([](d s) { s.version = topology_version{}; }));
    EXPECT_TRUE(changed([](d s) { s.is_cryptd = false; }));
    server_description failed = base;
    failed.failure = error{bson::errc::invalid_value, "x"};
    server_description failed_otherwise = base;
    failed_otherwise.failure = error{bson::errc::invalid_value, "y"};
    EXPECT_FALSE(failed == failed_otherwise);
}

TEST(topology_version, ordering_follows_process_id_and_counter)
{
    const bson::object_id one{{1}};
    const bson::object_id two{{2}};
    using version = std::optional<topology_version>;
    struct row {
        const char* id;
        version current, reported;
        int expected;
    };
    const row table[] = {
        {"SD-077", std::nullopt, std::nullopt, -1},
        {"SD-077", std::nullopt, topology_version{one, 1}, -1},
        {"SD-077", topology_version{one, 1}, std::nullopt, -1},
        {"SD-078", topology_version{one, 9}, topology_version{two, 1}, -1},
        {"SD-079", topology_version{one, 1}, topology_version{one, 2}, -1},
        {"SD-202", topology_version{one, 2}, topology_version{one, 2}, 0},
        {"SD-202", topology_version{one, 3}, topology_version{one, 2}, 1},
    };
    for (const row& r : table) {
        VERIFIES_ROW(r.id);
        EXPECT_EQ(compare(r.current, r.reported), r.expected);
    }
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::hello_test
