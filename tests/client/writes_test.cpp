#include "client/traffic.hpp"

namespace holdfast::proof::writes_test {
namespace {

using namespace std::chrono_literals;

TEST(retryable_writes, retry_writes_option_is_per_client)
{
    VERIFIES("RW-014");
    VERIFIES("RW-017");
    scene s;
    s.connect("&retryWrites=false");
    const mongo::client without = *s.client;
    s.connect("&retryWrites=true");
    const mongo::client with = *s.client;
    for (const mongo::client& one : {without, with, without}) {
        s.client = one;
        EXPECT_TRUE(s.write().good());
    }
    const auto seen = s.server("a").commands("insert");
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_FALSE(seen[0].body["txnNumber"]);
    EXPECT_TRUE(seen[1].body["txnNumber"]);
    EXPECT_FALSE(seen[2].body["txnNumber"]);
}

TEST(retryable_writes, server_without_sessions_gets_one_attempt)
{
    VERIFIES("RW-020");
    VERIFIES("RW-022");
    scene s;
    s.set.has_sessions = false;
    s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
    s.connect();
    const operation& op = s.write();
    ASSERT_TRUE(op.done());
    ASSERT_FALSE(op.good());
    const error& why = op.outcome->error();
    EXPECT_EQ(why.code(), boost::asio::error::eof) << why.explain();
    EXPECT_TRUE(why.labels().empty());
    const auto seen = s.server("a").commands("insert");
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_FALSE(seen[0].body["txnNumber"]);
    expect_clean(s);
}

TEST(retryable_writes, standalone_gets_no_txn_number_and_one_attempt)
{
    VERIFIES("RW-021");
    scene s{{.hosts = {"a"}}};
    s.server("a").on_hello([](const scripted_command&) {
        return scripted_reply{bson::doc("helloOk", true, "isWritablePrimary", true,
                                        "logicalSessionTimeoutMinutes", 30, "minWireVersion", 0,
                                        "maxWireVersion", 21, "ok", 1.0)};
    });
    s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
    s.connect_to("mongodb://a/");
    const operation& op = s.write();
    EXPECT_FALSE(op.good());
    const auto seen = s.server("a").commands("insert");
    ASSERT_EQ(seen.size(), 1U) << op.explain();
    EXPECT_TRUE(seen[0].body["lsid"]);
    EXPECT_FALSE(seen[0].body["txnNumber"]);
    expect_clean(s);
}

TEST(retryable_writes, connection_without_sessions_gets_no_txn_number_and_one_attempt)
{
    VERIFIES("RW-022");
    scene s{{.hosts = {"a", "b"}}};
    bool b_is_old = false;
    const auto hello_of_b = [&](const scripted_command&) {
        scripted_set seen_by_b = s.set;
        seen_by_b.has_sessions = !b_is_old;
        return scripted_reply{seen_by_b.hello_of("b:27017")};
    };
    const auto at_a = guarded(s, false);
    const auto at_b = std::make_shared<scripted_login>();
    at_b->guard(s.server("b"), hello_of_b, false);
    // The first attempt ends before it is sent, on a server that would have recognised it.
    s.server("a").on_command("saslStart", [&](const scripted_command&) {
        b_is_old = true;
        s.set.elect("b:27017");
        s.server("b").announce();
        return hang_up();
    });
    s.server("b").on_command("insert", in_turn({hang_up(), good_write()}));
    s.connect_to("mongodb://ada:lovelace@a,b/?replicaSet=rs");
    const operation& op = s.write();
    ASSERT_TRUE(op.done());
    ASSERT_FALSE(op.good());
    const error& why = op.outcome->error();
    EXPECT_EQ(why.code(), boost::asio::error::eof) << why.explain();
    EXPECT_TRUE(why.labels().empty()) << "a second attempt might apply it twice";
    const auto seen = s.server("b").commands("insert");
    ASSERT_EQ(seen.size(), 1U) << op.explain();
    EXPECT_FALSE(seen[0].body["txnNumber"]);
    EXPECT_EQ(s.server("a").count("saslStart"), 1U);
    expect_clean(s);
}

struct error_class {
    const char* what;
    scripted_reply first;
    bool retried;
};

TEST(retryable_writes, only_retryable_errors_are_retried)
{
    VERIFIES("RW-046");
    VERIFIES("RW-009");
    VERIFIES("RW-023");
    const auto refused_by_a_shard = bson::doc(
        "n", 1, "ok", 1.0, "writeErrors",
        bson::list(bson::object("index", 1, "code", 20, "errmsg",
                                "Transaction numbers are only allowed on a replica set member")));
    const std::vector<error_class> classes = {
        {"good", good_write(), false},
        {"network", hang_up(), true},
        {"half a reply", {.body = bson::doc("ok", 1.0), .only_bytes = 9}, true},
        {"labelled", {.body = error_reply(91, "RetryableWriteError")}, true},
        {"not labelled", {.body = error_reply(91)}, false},
        {"labelled otherwise", {.body = error_reply(112, "TransientTransactionError")}, false},
        {"duplicate key", {.body = error_reply(11000)}, false},
        {"bad value", {.body = error_reply(2)}, false},
        {"statement that a shard cannot retry", {.body = refused_by_a_shard}, false},
        {"WriteConcernFailed",
         {.body = bson::doc("n", 1, "ok", 1.0, "writeConcernError",
                            bson::object("code", 64, "errmsg", "waiting timed out"))},
         false},
    };
    for (const error_class& one : classes) {
        SCOPED_TRACE(one.what);
        scene s;
        s.server("a").on_command("insert", in_turn({one.first, good_write()}));
        s.connect();
        const operation& op = s.write();
        EXPECT_TRUE(op.done());
        const auto seen = s.server("a").commands("insert");
        EXPECT_EQ(seen.size(), one.retried ? 2U : 1U);
        for (const scripted_command& command : seen)
            EXPECT_EQ(command.body.get<std::int64_t>("txnNumber").value_or(0), 1);
        expect_clean(s);
    }
}

TEST(retryable_writes, sdam_handles_the_error_before_reselection)
{
    VERIFIES("RW-047");
    scene s;
    s.server("a").on("insert", [&](bson::view) {
        s.set.elect("b:27017");
        s.server("b").announce();
        return error_reply(10107, "RetryableWriteError");
    });
    s.connect();
    const operation& op = s.write();
    ASSERT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(s.server("a").count("insert"), 1U);
    EXPECT_EQ(s.server("b").count("insert"), 1U);
    std::string order;
    for (const record& one : s.events().all()) {
        if (one.what == heard::command_started)
            order += "send to " + one.server + "; ";
        if (one.what == heard::server_changed && one.before == "RSPrimary")
            order += one.server + " is " + one.after + "; ";
    }
    EXPECT_EQ(order, "send to a:27017; a:27017 is Unknown; send to b:27017; ");
    expect_clean(s);
}

TEST(retryable_writes, retry_is_not_sent_to_a_server_without_sessions)
{
    VERIFIES("RW-049");
    scene s;
    s.server("b").on_hello([&](const scripted_command&) {
        scripted_set without = s.set;
        without.has_sessions = false;
        return scripted_reply{without.hello_of("b:27017")};
    });
    s.server("a").on("insert", [&](bson::view) {
        s.set.elect("b:27017");
        s.server("b").announce();
        return error_reply(10107, "RetryableWriteError");
    });
    s.connect();
    const operation& op = s.write();
    ASSERT_TRUE(op.done());
    EXPECT_EQ(op.code(), 10107) << op.explain();
    EXPECT_EQ(s.server("b").count("insert"), 0U);
    expect_clean(s);
}

TEST(retryable_writes, failed_retry_updates_the_topology)
{
    VERIFIES("RW-050");
    scene s;
    s.server("a").on_command("insert", [&](const scripted_command&) {
        s.set.elect("b:27017");
        s.server("b").announce();
        s.server("a").stop_listening();
        return hang_up();
    });
    s.server("b").on("insert", [](bson::view) { return error_reply(10107); });
    s.connect();
    s.settle();
    const operation& op = s.write();
    ASSERT_TRUE(op.done());
    EXPECT_EQ(op.code(), 10107) << op.explain();
    EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
    EXPECT_EQ(s.events().type_of("b:27017"), "Unknown");
    expect_clean(s);
}

TEST(retryable_writes, retry_sends_the_same_command_lsid_and_txn_number)
{
    VERIFIES("RW-056");
    scene s;
    s.server("a").on_command("insert",
                             in_turn({hang_up(), {.body = good_write().body, .delay = 1s}}));
    s.connect();
    s.settle();
    const operation& op = s.start_write(1);
    ASSERT_TRUE(wait_for(s, [&] { return s.server("a").count("insert") == 2; }));
    EXPECT_TRUE(s.write(2).good());
    EXPECT_TRUE(s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    const auto started = s.events().of(heard::command_started);
    ASSERT_EQ(started.size(), 3U);
    EXPECT_EQ(started[0].body["lsid"].as_document(), started[1].body["lsid"].as_document());
    EXPECT_EQ(started[0].body["txnNumber"].as_int64(), started[1].body["txnNumber"].as_int64());
    // The session is not free before the last attempt has ended.
    EXPECT_NE(started[0].body["lsid"].as_document(), started[2].body["lsid"].as_document());
    expect_clean(s);
}

TEST(retryable_writes, retry_waits_server_selection_timeout_ms_for_a_primary)
{
    VERIFIES("RW-060");
    VERIFIES("RW-048");
    for (const bool comes : {true, false}) {
        scene s;
        s.server("a").on("insert", [&](bson::view) {
            s.set.elect("");
            s.server("b").announce();
            if (comes)
                s.simulation.at_time(s.simulation.now() + 3s, [&] {
                    s.set.elect("b:27017");
                    s.server("b").announce();
                });
            return error_reply(10107, "RetryableWriteError");
        });
        s.connect();
        s.settle();
        const operation& op = s.write();
        ASSERT_TRUE(op.done());
        if (comes) {
            EXPECT_TRUE(op.good()) << op.explain();
            EXPECT_GE(op.took(), 3s);
            EXPECT_LT(op.took(), 3s + 20ms);
        } else {
            EXPECT_EQ(op.code(), 10107) << op.explain();
            EXPECT_GE(op.took(), 30s);
            EXPECT_LT(op.took(), 30s + 20ms);
        }
        expect_clean(s);
    }
}

TEST(retryable_writes, every_attempt_publishes_started_and_one_end)
{
    VERIFIES("RW-062");
    VERIFIES("RW-063");
    VERIFIES("RW-008");
    const std::vector<std::pair<scripted_reply, std::string>> stories = {
        {hang_up(), "started failed started succeeded"},
        {{.body = error_reply(11600, "RetryableWriteError")}, "started failed started succeeded"},
        // The write was carried out: that attempt has succeeded, and is repeated all the same.
        {{.body = bson::doc("n", 1, "ok", 1.0, "writeConcernError",
                            bson::object("code", 91, "errmsg", "going down"), "errorLabels",
                            bson::list("RetryableWriteError"))},
         "started succeeded started succeeded"},
    };
    for (const auto& [first, story] : stories) {
        scene s;
        s.server("a").on_command("insert", in_turn({first, good_write()}));
        s.connect();
        const operation& op = s.write();
        EXPECT_TRUE(op.good()) << op.explain();
        EXPECT_EQ(story_of(s.events(), "insert"), story);
        expect_clean(s);
    }
}

TEST(retryable_writes, attempts_share_operation_id_across_connections)
{
    VERIFIES("RW-064");
    scene s;
    s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
    s.connect();
    EXPECT_TRUE(s.write(1).good());
    EXPECT_TRUE(s.write(2).good());
    const auto started = s.events().of(heard::command_started);
    ASSERT_EQ(started.size(), 3U);
    EXPECT_EQ(started[0].operation, started[1].operation);
    EXPECT_NE(started[1].operation, started[2].operation);
    EXPECT_NE(started[0].operation, started[0].body["txnNumber"].as_int64() - 1);
    EXPECT_NE(started[0].connection, started[1].connection);
    expect_clean(s);
}

TEST(retryable_writes, implicit_session_is_reused_with_increasing_txn_number)
{
    VERIFIES("RD-006");
    VERIFIES("RD-007");
    scene s;
    s.connect();
    for (int id = 1; id <= 100; ++id)
        ASSERT_TRUE(s.write(id).good());
    const auto seen = s.server("a").commands("insert");
    ASSERT_EQ(seen.size(), 100U);
    ASSERT_TRUE(seen[0].body["lsid"]);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].body["lsid"].as_document(), seen[0].body["lsid"].as_document());
        EXPECT_EQ(seen[i].body["txnNumber"].as_int64(), static_cast<std::int64_t>(i) + 1);
    }
    expect_clean(s);
}

TEST(retryable_writes, dirty_implicit_session_is_discarded)
{
    scene s;
    s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
    s.connect();
    EXPECT_TRUE(s.write(1).good());
    EXPECT_TRUE(s.write(2).good());
    const auto seen = s.server("a").commands("insert");
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].body["lsid"].as_document(), seen[1].body["lsid"].as_document());
    EXPECT_NE(seen[1].body["lsid"].as_document(), seen[2].body["lsid"].as_document());
    expect_clean(s);
}

TEST(retryable_writes, missing_reply_is_a_network_error_and_retried)
{
    VERIFIES("RW-004");
    const std::vector<std::pair<const char*, scripted_reply>> ways = {
        {"closed", hang_up()},
        {"half a reply", {.body = good_write().body, .only_bytes = 9}},
        {"silence", keep_silent()},
    };
    for (const auto& [name, first] : ways) {
        SCOPED_TRACE(name);
        scene s;
        s.server("a").on_command("insert", in_turn({first, good_write()}));
        s.connect("&socketTimeoutMS=100");
        const operation& op = s.write();
        EXPECT_TRUE(op.good()) << op.explain();
        const auto sent = s.server("a").commands("insert");
        ASSERT_EQ(sent.size(), 2U);
        ASSERT_TRUE(sent[0].body["txnNumber"]);
        EXPECT_EQ(sent[0].body["txnNumber"].as_int64(), sent[1].body["txnNumber"].as_int64());
        EXPECT_EQ(sent[0].body["lsid"].as_document(), sent[1].body["lsid"].as_document());
        EXPECT_NE(sent[0].connection, sent[1].connection);
        if (std::string_view{name} == "silence") {
            EXPECT_GE(sent[1].when - sent[0].when, 100ms);
            EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
            EXPECT_EQ(s.events().count(heard::pool_cleared), 0U) << "it says nothing of the server";
        }
        expect_clean(s);
    }
}

TEST(retryable_writes, checkout_timeout_of_a_retry_reports_the_first_error)
{
    VERIFIES("RW-054");
    scene s;
    s.server("a").on_command(
        "insert", in_turn({{.body = error_reply(6, "RetryableWriteError")}, good_write()}));
    s.server("a").on_command("ping", [](const scripted_command&) {
        return scripted_reply{.body = bson::doc("ok", 1.0), .delay = 1s};
    });
    s.connect("&maxPoolSize=1&waitQueueTimeoutMS=50");
    s.settle();
    const operation& op = s.start_write(1);
    s.start(ping_command());  // gets the only connection when the first attempt has ended
    ASSERT_TRUE(s.finish_all());
    EXPECT_EQ(op.code(), 6) << op.explain();
    EXPECT_EQ(s.server("a").count("insert"), 1U);
    const auto failed = s.events().of(heard::check_out_failed);
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].name, "timeout");
    EXPECT_EQ(s.server("a").count("ping"), 1U);
    EXPECT_TRUE(s.operations.back().good()) << s.operations.back().explain();
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::writes_test
