#include "api/mongo/access.hpp"
#include "client/traffic.hpp"
#include "shell/mongo/execute/operation_session.hpp"

#include <limits>

/// What decides whether a write carries a transaction number, and is sent again, as servers see it.
namespace holdfast::proof::write_numbers_test {
namespace {

enum class server_kind : std::uint8_t { member, router, standalone };

struct support_row {
    const char* id;
    server_kind kind;
    std::int32_t wire_version;
    bool sessions;
    std::size_t attempts;
};

const support_row support_rows[] = {
    {"RW-018", server_kind::member, 6, true, 2},
    {"RW-018", server_kind::router, 6, true, 2},
    {"RW-018", server_kind::member, 6, false, 1},
    {"RW-018", server_kind::router, 6, false, 1},
    {"RW-018", server_kind::standalone, 6, true, 1},
    {"RW-018", server_kind::standalone, 6, false, 1},
    {"RW-019", server_kind::member, 5, true, 0},
    {"RW-019", server_kind::router, 5, true, 0},
    {"RW-019", server_kind::standalone, 5, true, 0},
    {"RW-020", server_kind::member, 21, false, 1},
    {"RW-020", server_kind::router, 21, false, 1},
    {"RW-021", server_kind::standalone, 21, true, 1},
};

bson::document hello_of_standalone(const support_row& row)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("helloOk", true).add("isWritablePrimary", true);
    if (row.sessions)
        out.add("logicalSessionTimeoutMinutes", 30);
    out.add("minWireVersion", 0).add("maxWireVersion", row.wire_version).add("ok", 1.0);
    (void)out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

TEST(retryable_writes, number_and_retry_need_wire_version_6_sessions_and_no_standalone)
{
    for (const support_row& row : support_rows) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        SCOPED_TRACE(std::string{row.id} + ", wire version " + std::to_string(row.wire_version) +
                     (row.sessions ? ", sessions" : "") + ", kind " +
                     std::to_string(static_cast<int>(row.kind)));
        scene s{{.hosts = {"a"}, .sharded = row.kind == server_kind::router}};
        s.set.wire_version = row.wire_version;
        s.set.has_sessions = row.sessions;
        if (row.kind == server_kind::standalone)
            s.server("a").on_hello([&row](const scripted_command&) {
                return scripted_reply{hello_of_standalone(row)};
            });
        s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
        s.connect_to(row.kind == server_kind::member ? "mongodb://a/?replicaSet=rs"
                                                     : "mongodb://a/");
        const operation& op = s.write();
        EXPECT_EQ(op.good(), row.attempts == 2) << op.explain();
        const auto seen = s.server("a").commands("insert");
        EXPECT_EQ(seen.size(), row.attempts) << "a server with wire version 5 gets no command";
        for (const scripted_command& one : seen) {
            EXPECT_EQ(one.body["txnNumber"].type() == bson::type::int64, row.attempts == 2);
            EXPECT_EQ(one.body["txnNumber"].operator bool(), row.attempts == 2);
        }
        EXPECT_EQ(s.close(), "");
    }
}

TEST(retryable_writes, retry_writes_has_no_other_spelling)
{
    VERIFIES_BY_TRAFFIC("RW-011");
    for (const bool known : {true, false}) {
        scene s{{.hosts = {"a"}}};
        s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
        s.connect(known ? "&retryWrites=false" : "&retry_writes=false");
        EXPECT_EQ(s.write().good(), !known);
        EXPECT_EQ(s.server("a").count("insert"), known ? 1U : 2U);
        expect_clean(s);
    }
}

TEST(retryable_writes, last_txn_number_is_used_once_and_never_wraps)
{
    VERIFIES_BY_TRAFFIC("RW-073");
    scene s{{.hosts = {"a"}}};
    s.connect();
    const mongo::session given = s.client->start_session();
    const mongo::command_options write{.kind = mongo::command_kind::write, .session = &given};
    ASSERT_TRUE(s.run(insert_of(1), write).good());
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
    auto& state = *mongo::access::state_of(given);
    state.server.emplace(state.server->id(), last - 1);
    ASSERT_TRUE(s.run(insert_of(2), write).good());
    const operation& beyond = s.run(insert_of(3), write);
    ASSERT_FALSE(beyond.good());
    EXPECT_TRUE(beyond.outcome->error().labels().empty()) << beyond.explain();
    EXPECT_NE(beyond.outcome->error().context("operation"), "") << beyond.explain();
    const auto seen = s.server("a").commands("insert");
    ASSERT_EQ(seen.size(), 2U) << "nothing is sent without a number";
    EXPECT_EQ(seen[1].body["txnNumber"].as_int64(), last);
    EXPECT_TRUE(s.write(4).good()) << "other sessions go on";
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::write_numbers_test
