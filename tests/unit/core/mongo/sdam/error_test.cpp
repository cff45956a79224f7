#include "sdam_fixture.hpp"
#include "support/verifies.hpp"

/// What errors of the application, and of monitors, do to the topology.
namespace holdfast::core::mongo::sdam_test::error_test {
namespace {

const std::string both = R"("a", "b")";

topology_ptr with_primary(const std::string& more = {})
{
    return after(start({"a", "b"}), {primary("a", both, more)});
}

std::string version(int counter, int process = 1)
{
    return R"("topologyVersion": {"processId": {"$oid": "00000000000000000000000)" +
           std::to_string(process) + R"("}, "counter": {"$numberLong": ")" +
           std::to_string(counter) + R"("}})";
}

struct code_row {
    const char* id;
    std::optional<std::int32_t> code;
    const char* text;
    state_change expected;
};

const code_row codes[] = {
    {"SD-184", 11600, "", state_change::shutting_down},
    {"SD-184", 11602, "", state_change::recovering},
    {"SD-184", 13436, "", state_change::recovering},
    {"SD-184", 189, "", state_change::recovering},
    {"SD-184", 91, "", state_change::shutting_down},
    {"SD-185", 10107, "", state_change::not_writable_primary},
    {"SD-185", 13435, "", state_change::not_writable_primary},
    {"SD-185", 10058, "", state_change::not_writable_primary},
    {"SD-183", 1, "not master", state_change::none},
    {"SD-183", 1, "node is recovering", state_change::none},
    {"SD-183", 0, "not master", state_change::none},
    {"SD-186", std::nullopt, "the node is recovering now", state_change::recovering},
    {"SD-186", std::nullopt, "not master", state_change::not_writable_primary},
    {"SD-186", std::nullopt, "foo", state_change::none},
    {"SD-176", std::nullopt, "not master or secondary; cannot currently read",
     state_change::recovering},
    {"SD-212", 6, "not master", state_change::none},
    {"SD-212", 7, "", state_change::none},
    {"SD-212", 89, "", state_change::none},
    {"SD-212", 9001, "", state_change::none},
};

TEST(state_change, code_decides_before_the_message)
{
    for (const code_row& r : codes) {
        VERIFIES_ROW(r.id);
        EXPECT_EQ(classify_state_change(r.code, r.text), r.expected)
            << r.code.value_or(-1) << ' ' << r.text;
    }
}

struct reply_row {
    const char* id;
    const char* reply;
    state_change expected;
};

const reply_row replies[] = {
    {"SD-177", R"({"ok": 0, "errmsg": "x", "code": 10107})", state_change::not_writable_primary},
    {"SD-177", R"({"code": 10107, "ok": 0.0})", state_change::not_writable_primary},
    {"SD-177", R"({"code": 10107, "ok": false})", state_change::not_writable_primary},
    {"SD-177", R"({"ok": {"$numberLong": "0"}, "code": 91})", state_change::shutting_down},
    {"SD-177", R"({"ok": 0, "errmsg": "not master"})", state_change::not_writable_primary},
    {"SD-177", R"({"ok": "yes", "code": 10107})", state_change::not_writable_primary},
    {"SD-177", R"({"ok": 1, "err": "not master"})", state_change::not_writable_primary},
    {"SD-177", R"({"ok": 1, "err": "x", "code": 10107})", state_change::not_writable_primary},
    {"SD-177", R"({"$err": "not master"})", state_change::not_writable_primary},
    {"SD-177", R"({"$err": "x", "code": 13435})", state_change::not_writable_primary},
    {"SD-177", R"({"ok": 1})", state_change::none},
    {"SD-177", R"({"ok": true, "errmsg": "not master", "code": 10107})", state_change::none},
    {"SD-187", R"({"ok": 1, "writeConcernError": {"code": 91, "errmsg": "x"}})",
     state_change::shutting_down},
    {"SD-187", R"({"ok": 1, "writeConcernError": {"errmsg": "node is recovering"}})",
     state_change::recovering},
    {"SD-187", R"({"ok": 1, "writeConcernError": {"code": 64}})", state_change::none},
    {"SD-188", R"({"ok": 1, "writeErrors": [{"index": 0, "code": 10107}]})", state_change::none},
    {"SD-183", R"({"ok": 0, "code": 10107, "codeName": "X"})", state_change::not_writable_primary},
    {"SD-183", R"({"ok": 0, "code": 1, "codeName": "NotWritablePrimary"})", state_change::none},
    {"SD-212", R"({"ok": 1, "writeConcernError": {"code": 6}})", state_change::none},
};

TEST(state_change, error_in_a_command_or_write_concern_reply_is_classified)
{
    for (const reply_row& r : replies) {
        VERIFIES_ROW(r.id);
        const bson::document reply = json(r.reply);
        EXPECT_EQ(inspect_reply(reply).change, r.expected) << r.reply;
        const transition t = after_error(with_primary(), answering("a", reply));
        EXPECT_EQ(is_unknown(t.after->find(at("a"))->type), r.expected != state_change::none)
            << r.reply;
    }
}

TEST(state_change, inspect_reply_returns_code_and_errmsg)
{
    const bson::document reply = json(R"({"ok": 0, "errmsg": "why", "code": 189})");
    EXPECT_EQ(inspect_reply(reply).code, 189);
    EXPECT_EQ(inspect_reply(reply).message, "why");
}

TEST(state_change, marks_the_server_unknown_with_error_and_topology_version)
{
    VERIFIES("SD-168");
    VERIFIES("SD-190");
    VERIFIES("SD-171");
    for (const char* code : {"10107", "11602"}) {
        const bson::document reply = json(R"({"ok": 0, "code": )" + std::string{code} + ", " +
                                          version(2) + "}");
        const transition t = after_error(with_primary(version(1)), answering("a", reply));
        const server_ptr a = t.after->find(at("a"));
        EXPECT_EQ(picture(*t.after), "ReplicaSetNoPrimary a:Unknown b:Unknown");
        EXPECT_EQ(a->failure->message(), "it failed");
        EXPECT_EQ(a->version->counter, 2);
        EXPECT_EQ(a->last_update_time, now);
        EXPECT_EQ(servers_of<request_check>(t), names{"a"});
        EXPECT_EQ(servers_of<cancel_check>(t), names{});
    }
    const bson::document plain = json(R"({"ok": 0, "code": 10107})");
    const transition t = after_error(with_primary(version(1)), answering("a", plain));
    EXPECT_EQ(t.after->find(at("a"))->version, std::nullopt);
}

TEST(state_change, pool_is_cleared_on_shutdown_or_below_wire_version_8)
{
    VERIFIES("SD-170");
    const auto cleared = [](int code, int wire) {
        const bson::document reply = json(R"({"ok": 0, "code": )" + std::to_string(code) + "}");
        return servers_of<clear_pool>(after_error(with_primary(), answering("a", reply, wire)));
    };
    for (const int code : {91, 11600})
        EXPECT_EQ(cleared(code, 21), names{"a"}) << code;
    for (const int code : {10107, 13435, 10058, 11602, 13436, 189}) {
        EXPECT_EQ(cleared(code, 8), names{}) << code;
        EXPECT_EQ(cleared(code, 7), names{"a"}) << code;
    }
}

TEST(stale_error, topology_version_equal_to_the_known_one_is_stale)
{
    VERIFIES("SD-175");
    VERIFIES("SD-051");
    VERIFIES("SD-189");
    struct row {
        int counter, process;
        bool error_counts, hello_counts;
    };
    for (const row& r : {row{4, 1, false, false}, row{5, 1, false, true}, row{6, 1, true, true},
                         row{1, 2, true, true}}) {
        const topology_ptr before = with_primary(version(5));
        const std::string said = version(r.counter, r.process);
        const bson::document reply = json(R"({"ok": 0, "code": 10107, )" + said + "}");
        const transition failed = after_error(before, answering("a", reply));
        EXPECT_EQ(failed.after != before, r.error_counts) << said;
        EXPECT_EQ(failed.effects.empty(), !r.error_counts) << said;
        const topology_ptr heard = after(before, {secondary("a", both, said)});
        EXPECT_EQ(heard->find(at("a"))->type == server_type::rs_secondary, r.hello_counts) << said;
    }
}

TEST(stale_error, older_pool_generation_is_ignored)
{
    VERIFIES("SD-165");
    for (const failure_kind kind : {failure_kind::network, failure_kind::command,
                                    failure_kind::timeout, failure_kind::authentication}) {
        for (const connection_phase phase :
             {connection_phase::connecting, connection_phase::authenticating,
              connection_phase::ready}) {
            const topology_ptr before = with_primary();
            const bson::document reply = json(R"({"ok": 0, "code": 91})");
            application_error e = failing("a", kind, phase);
            e.reply = reply;
            e.generation = 1;
            const transition stale = after_error(before, e, 2);
            EXPECT_EQ(stale.after, before);
            EXPECT_TRUE(stale.effects.empty() && stale.events.empty());
        }
    }
    application_error fresh = failing("a", failure_kind::network);
    fresh.generation = 2;
    EXPECT_EQ(after_error(with_primary(), fresh, 2).after->type,
              topology_type::replica_set_no_primary);
}

struct phase_row {
    const char* id;
    failure_kind kind;
    connection_phase phase;
    bool lost;
};

using enum failure_kind;

const phase_row phases[] = {
    {"SD-172", network, connection_phase::connecting, true},
    {"SD-172", network, connection_phase::authenticating, true},
    {"SD-172", network, connection_phase::ready, true},
    {"SD-178", failure_kind::timeout, connection_phase::connecting, true},
    {"SD-178", failure_kind::timeout, connection_phase::authenticating, true},
    {"SD-179", failure_kind::timeout, connection_phase::ready, false},
    {"SD-192", authentication, connection_phase::authenticating, true},
    {"SD-192", command, connection_phase::authenticating, true},
    {"SD-192", authentication, connection_phase::ready, false},
    {"SD-172", command, connection_phase::ready, false},
};

TEST(lost_connection, kind_and_handshake_phase_decide_the_effects)
{
    const bson::document plain = json(R"({"ok": 0, "code": 18, "errmsg": "no"})");
    for (const phase_row& r : phases) {
        VERIFIES_ROW(r.id);
        SCOPED_TRACE(static_cast<int>(r.kind) * 10 + static_cast<int>(r.phase));
        application_error e = failing("a", r.kind, r.phase);
        e.reply = plain;
        const topology_ptr before = with_primary();
        const transition t = after_error(before, e);
        EXPECT_EQ(servers_of<clear_pool>(t), r.lost ? names{"a"} : names{});
        EXPECT_EQ(t.after != before, r.lost);
        if (r.lost) {
            EXPECT_EQ(picture(*t.after), "ReplicaSetNoPrimary a:Unknown b:Unknown");
            EXPECT_EQ(t.after->find(at("a"))->failure->message(), "it failed");
        }
    }
}

TEST(lost_connection, marks_unknown_without_requesting_a_check)
{
    VERIFIES("SD-180");
    VERIFIES("SD-182");
    const transition t = after_error(with_primary(), failing("a", network));
    EXPECT_EQ(t.after->type, topology_type::replica_set_no_primary);
    EXPECT_EQ(servers_of<request_check>(t), names{});
    EXPECT_EQ(servers_of<cancel_check>(t), names{"a"});
    EXPECT_EQ(
        servers_of<cancel_check>(after_error(
            with_primary(), failing("a", failure_kind::timeout, connection_phase::connecting))),
        names{});
}

TEST(lost_connection, while_connecting_keeps_the_server_under_the_upstream_profile)
{
    for (const failure_kind kind : {network, failure_kind::timeout}) {
        const topology_ptr before = with_primary();
        const auto lost = [&](connection_phase phase) {
            return after_error(before, failing("a", kind, phase), 0, upstream_2026_07).after !=
                   before;
        };
        EXPECT_FALSE(lost(connection_phase::connecting));
        EXPECT_TRUE(lost(connection_phase::authenticating));
        EXPECT_EQ(lost(connection_phase::ready), kind == network);
    }
}

TEST(lost_connection, that_overload_cannot_have_caused_loses_the_server_under_any_profile)
{
    application_error e = failing("a", network, connection_phase::connecting);
    e.never_overload = true;
    for (const resilience_profile& profile : {as_specified, upstream_2026_07}) {
        const transition t = after_error(with_primary(), e, 0, profile);
        EXPECT_EQ(t.after->find(at("a"))->type, server_type::unknown);
        EXPECT_EQ(servers_of<clear_pool>(t), names{"a"});
    }
}

TEST(load_balanced, error_clears_the_pool_of_one_service_id_only)
{
    VERIFIES("SD-169");
    VERIFIES("SD-173");
    topology_settings settings;
    settings.seeds = {at("a")};
    settings.load_balanced = true;
    const topology_ptr before = open_topology(settings).after;
    const bson::object_id service{{7}};
    const bson::document gone = json(R"({"ok": 0, "code": 91})");
    const bson::document stepped = json(R"({"ok": 0, "code": 10107})");
    application_error table[] = {failing("a", network), answering("a", gone),
                                 answering("a", stepped), answering("a", stepped, 7)};
    const bool clears[] = {true, true, false, true};
    for (std::size_t i = 0; i < std::size(table); ++i) {
        EXPECT_TRUE(after_error(before, table[i]).effects.empty()) << "before hello " << i;
        table[i].service_id = service;
        const transition t = after_error(before, table[i]);
        EXPECT_EQ(t.after, before);
        ASSERT_EQ(t.effects.size(), clears[i] ? 1u : 0u) << i;
        if (clears[i]) {
            EXPECT_EQ(std::get<clear_pool>(t.effects[0]).service_id, service);
        }
    }
}

TEST(failed_check, marks_unknown_clears_the_pool_and_retries_once)
{
    VERIFIES("SD-164");
    VERIFIES("SD-009");
    const error reset{bson::errc::invalid_value, "reset"};
    const auto fail = [&](const topology_ptr& t, failure_kind kind) {
        return apply_failed_check(t, at("a"), reset, kind, now);
    };
    const transition first = fail(with_primary(), network);
    const server_ptr a = first.after->find(at("a"));
    EXPECT_EQ(picture(*first.after), "ReplicaSetNoPrimary a:Unknown b:Unknown");
    EXPECT_EQ(a->failure->message(), "reset");
    EXPECT_FALSE(a->round_trip_time || a->min_round_trip_time);
    EXPECT_EQ(servers_of<clear_pool>(first), names{"a"});
    EXPECT_EQ(servers_of<request_check>(first), names{"a"});
    const transition second = fail(first.after, network);
    EXPECT_EQ(servers_of<clear_pool>(second), names{"a"});
    EXPECT_EQ(servers_of<request_check>(second), names{}) << "it was not known any more";
    EXPECT_EQ(servers_of<request_check>(fail(with_primary(), command)), names{});
    const auto interrupts = [](const transition& t) {
        return std::ranges::any_of(t.effects, [](const effect& e) {
            const auto* const clear = std::get_if<clear_pool>(&e);
            return clear && clear->interrupt_in_use;
        });
    };
    EXPECT_FALSE(interrupts(first));
    const transition timed_out = fail(with_primary(), failure_kind::timeout);
    EXPECT_TRUE(interrupts(timed_out)) << "those who wait on a silent server are freed";
    EXPECT_EQ(servers_of<request_check>(timed_out), names{"a"});
}

TEST(application_errors, of_removed_servers_are_ignored)
{
    const topology_ptr before = with_primary();
    EXPECT_EQ(after_error(before, failing("z", network)).after, before);
}

}  // namespace
}  // namespace holdfast::core::mongo::sdam_test::error_test
