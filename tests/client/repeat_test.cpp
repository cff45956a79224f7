#include "client/traffic.hpp"
#include "runtime/errc.hpp"

namespace holdfast::proof::repeat_test {
namespace {

using namespace std::chrono_literals;

scripted_reply to_text(const char* what)
{
    return {.body = bson::doc("ok", 0.0, "errmsg", what)};
}

TEST(client_retry, not_primary_message_of_an_old_server_is_retried)
{
    VERIFIES("RW-007");
    for (const char* const text : {"not master", "node is recovering"}) {
        scene s{{.hosts = {"a"}}};
        s.set.wire_version = 7;
        s.server("a").on_command("insert", in_turn({to_text(text), good_write()}));
        s.server("a").on_command("find", in_turn({to_text(text), good_write()}));
        s.connect();
        const operation& wrote = s.write();
        ASSERT_TRUE(wrote.good()) << wrote.explain();
        const auto seen = s.server("a").commands("insert");
        ASSERT_EQ(seen.size(), 2U) << text;
        EXPECT_EQ(seen[0].body["txnNumber"].as_int64(), seen[1].body["txnNumber"].as_int64());
        const operation& read = s.run(bson::doc("find", "coll"), as_read());
        ASSERT_TRUE(read.good()) << read.explain();
        EXPECT_EQ(s.server("a").count("find"), 2U) << text;
        expect_clean(s);
    }
}

struct code_row {
    const char* id;
    std::vector<int> codes;
    bool keeps_server;  // the error says nothing of the mongos
};

TEST(client_retry, listed_codes_of_an_old_server_are_retried)
{
    const code_row rows[] = {
        {"RW-005", {11600, 11602, 10107, 13435, 13436, 189, 91}, false},
        {"RW-006", {6, 7, 89, 9001}, true},
        {"RW-010", {10058}, false},
    };
    for (const code_row& row : rows) {
        VERIFIES_ROW(row.id);
        for (const int code : row.codes) {
            SCOPED_TRACE(code);
            scene s{{.hosts = {"a"}, .sharded = true}};
            s.set.wire_version = 8;
            s.server("a").on_command("insert",
                                     in_turn({{.body = error_reply(code)}, good_write()}));
            s.connect();
            s.settle();
            const operation& op = s.write();
            EXPECT_TRUE(op.good()) << op.explain();
            EXPECT_EQ(s.server("a").count("insert"), 2U);
            const auto changes = s.events().of(heard::server_changed, "a:27017");
            EXPECT_EQ(changes.size() == 1U, row.keeps_server) << "after the first check";
            if (row.keeps_server) {
                EXPECT_EQ(s.events().count(heard::pool_cleared), 0U);
            }
            expect_clean(s);
        }
    }
}

TEST(client_retry, only_retryable_writes_get_txn_number_and_retry)
{
    VERIFIES("RW-031");
    VERIFIES("RW-032");
    VERIFIES("RW-034");
    using bson::list;
    using bson::object;
    const auto statement = bson::doc("q", object(), "u", object("$inc", object("n", 1)), "multi",
                                     true);
    const auto removal = bson::doc("q", object(), "limit", 0);
    const auto change = bson::doc("update", 0, "filter", object(), "updateMods",
                                  object("$inc", object("n", 1)), "multi", true);
    const bson::document commands[] = {
        bson::doc("update", "coll", "updates", list(statement)),
        bson::doc("delete", "coll", "deletes", list(removal)),
        bson::doc("bulkWrite", 1, "ops", list(change), "nsInfo", list(object("ns", "db.coll"))),
        bson::doc("create", "coll"),
    };
    for (const bson::document& command : commands) {
        const std::string name{(*command.begin()).key()};
        scene s{{.hosts = {"a"}}};
        s.server("a").on_command(name, in_turn({hang_up(), good_write()}));
        s.connect();
        EXPECT_FALSE(s.run(command, as_write()).good()) << name;
        ASSERT_EQ(s.server("a").count(name), 1U) << name << " is not sent again";
        EXPECT_FALSE(s.server("a").commands(name).at(0).body["txnNumber"]) << name;
        expect_clean(s);
    }
}

TEST(client_retry, aggregate_with_out_or_merge_is_not_retried)
{
    VERIFIES("RW-035");
    for (const char* const last : {"$out", "$merge", "$match"}) {
        scene s{{.hosts = {"a"}}};
        s.server("a").on_command("aggregate", in_turn({hang_up(), good_write()}));
        s.connect();
        const auto stage = bson::doc(last, bson::object("into", "wrack"));
        const auto command = bson::doc("aggregate", "coll", "pipeline", bson::list(stage), "cursor",
                                       bson::object());
        const bool reads = std::string_view{last} == "$match";
        EXPECT_EQ(s.run(command, as_read()).good(), reads) << last;
        EXPECT_EQ(s.server("a").count("aggregate"), reads ? 2U : 1U) << last;
        expect_clean(s);
    }
}

TEST(client_retry, operation_in_backoff_is_ended_by_client_close)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_command("insert", in_turn({{.body = overload_reply()}}));
    s.connect();
    const operation& op = s.start_write(1);
    ASSERT_TRUE(wait_for(s, [&] { return s.server("a").count("insert") == 4; }));
    s.simulation.run_for(5ms);
    ASSERT_FALSE(op.outcome) << "it waits";
    const time_point asked = s.simulation.now();
    EXPECT_EQ(s.close(), "");
    ASSERT_TRUE(op.outcome);
    ASSERT_FALSE(op.good());
    EXPECT_EQ(op.outcome->error().code(), runtime::errc::cancelled) << op.explain();
    EXPECT_EQ(op.outcome->error().history().size(), 4U);
    EXPECT_LT(op.ended - asked, 10ms);
    EXPECT_EQ(s.server("a").count("insert"), 4U);
}

}  // namespace
}  // namespace holdfast::proof::repeat_test
