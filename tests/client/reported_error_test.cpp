#include "client/traffic.hpp"
#include "holdfast/mongo/error.hpp"
#include "support/canary.hpp"

/// The error that the application sees if a retry fails as well: before it is sent, for want of a
/// server or while its new connection authenticates, or after.
namespace holdfast::proof::reported_error_test {
namespace {

using namespace std::chrono_literals;

struct retry_row {
    const char* id;
    scripted_reply first;   // of a, which is the primary
    scripted_reply second;  // of b, which is the next one
    int code;  // of the reported error; 0: a network error
};

TEST(retryable_writes, error_of_a_retry_that_was_sent_is_reported)
{
    const scripted_reply recovering{.body = error_reply(13436, "RetryableWriteError")};
    const scripted_reply stepped_down{.body = error_reply(189, "RetryableWriteError")};
    const scripted_reply duplicate_key{.body = error_reply(11000)};
    const retry_row rows[] = {
        {"RW-051", hang_up(), hang_up(), 0},         {"RW-051", stepped_down, hang_up(), 0},
        {"RW-052", hang_up(), recovering, 13436},    {"RW-053", stepped_down, duplicate_key, 11000},
        {"RW-053", hang_up(), duplicate_key, 11000},
    };
    for (const retry_row& row : rows) {
        VERIFIES_ROW(row.id);
        SCOPED_TRACE(std::string{row.id} + ", expecting " + std::to_string(row.code));
        scene s;
        s.server("a").on_command("insert", [&](const scripted_command&) {
            s.set.elect("b:27017");
            s.server("b").announce();
            return row.first;
        });
        s.server("b").on_command("insert", in_turn({row.second}));
        s.connect();
        s.settle();
        const operation& op = s.write();
        ASSERT_TRUE(op.done() && !op.good());
        const error& why = op.outcome->error();
        EXPECT_EQ(mongo::server_code(why).value_or(0), row.code) << why.explain();
        EXPECT_EQ(mongo::kind_of(why) == mongo::error_kind::network, row.code == 0)
            << why.explain();
        EXPECT_EQ(why.context("server"), "b:27017") << why.explain();
        EXPECT_EQ(s.server("a").count("insert"), 1U);
        EXPECT_EQ(s.server("b").count("insert"), 1U) << "one retry is the limit";
        expect_clean(s);
    }
}

struct selection_row {
    const char* id;
    bson::document command;
    mongo::command_options options;
    scripted_reply first;
};

TEST(retryable_writes, retry_without_a_server_reports_the_first_error)
{
    const bson::document count = bson::doc("count", "coll");
    const selection_row rows[] = {
        {"RW-048", insert_of(1), as_write(), hang_up()},
        {"BP-023", insert_of(1), as_write(), {.body = overload_reply()}},
        {"BP-023", count, {}, {.body = overload_reply()}},
        {"BP-023", count, as_read(), {.body = overload_reply()}},
    };
    for (const selection_row& row : rows) {
        VERIFIES_ROW(row.id);
        const std::string name{(*row.command.begin()).key()};
        SCOPED_TRACE(std::string{row.id} + ": " + name);
        scene s;
        s.server("a").on_command(name, [&](const scripted_command&) {
            s.set.elect("");
            for (const char* const member : {"a", "b"})
                s.server(member).announce();
            return row.first;
        });
        s.connect("&serverSelectionTimeoutMS=1000");
        s.settle();
        const operation& op = s.run(row.command, row.options);
        ASSERT_TRUE(op.done() && !op.good());
        const error& why = op.outcome->error();
        EXPECT_EQ(mongo::kind_of(why),
                  row.first.closes ? mongo::error_kind::network : mongo::error_kind::server)
            << why.explain();
        EXPECT_GE(op.took(), 1s) << "the retry waits for a server";
        EXPECT_EQ(s.server("a").count(name), 1U);
        EXPECT_EQ(s.server("b").count(name), 0U);
        expect_clean(s);
    }
}

/// One server with a login. The first connection authenticates; logins on later ones get `refusal`.
struct broken_login {
    explicit broken_login(scripted_reply refusal) : door{guarded(s)}
    {
        s.server("a").on_command(
            "saslContinue", [this, refusal = std::move(refusal)](const scripted_command& asked) {
                return door->logins() == 0 ? scripted_reply{door->finish(asked)} : refusal;
            });
    }

    /// The second command of this name, which the server answers with `first`. Its retry needs a
    /// new connection.
    const operation& second(const bson::document& command, mongo::command_options options,
                            scripted_reply first)
    {
        const std::string name{(*command.begin()).key()};
        s.server("a").on_command(name, in_turn({good_write(), std::move(first)}));
        s.connect_to("mongodb://" + std::string{canary::user} + ":" + canary::password +
                     "@a/?replicaSet=rs&heartbeatFrequencyMS=500");
        EXPECT_TRUE(s.run(command, options).good());
        const operation& op = s.run(command, options);
        EXPECT_FALSE(op.good());
        EXPECT_EQ(s.server("a").count(name), 2U) << "the retry was to fail before it is sent";
        return op;
    }

    scene s{{.hosts = {"a"}}};
    std::shared_ptr<scripted_login> door;
};

TEST(retryable_writes, broken_login_of_a_retry_reports_the_lost_first_attempt)
{
    VERIFIES("RW-054");
    broken_login at{hang_up()};
    const operation& op = at.second(insert_of(1), as_write(), hang_up());
    ASSERT_FALSE(op.good());
    const error& why = op.outcome->error();
    EXPECT_NE(why.message().find("insert"), std::string::npos) << why.explain();
    EXPECT_EQ(why.context("phase"), "") << why.explain();
    ASSERT_EQ(why.history().size(), 2U) << why.explain();
    EXPECT_EQ(why.history()[0].phase, dispatch_phase::in_flight);
    EXPECT_EQ(why.history()[1].phase, dispatch_phase::not_sent);
    EXPECT_TRUE(mongo::may_have_been_applied(why));
    expect_clean(at.s);
}

TEST(retryable_writes, refused_login_of_a_retry_reports_the_servers_first_error)
{
    VERIFIES("RW-054");
    broken_login at{{.body = error_reply(91)}};
    const operation& op = at.second(insert_of(1), as_write(),
                                    {.body = error_reply(91, "RetryableWriteError")});
    ASSERT_FALSE(op.good());
    const error& why = op.outcome->error();
    EXPECT_EQ(mongo::kind_of(why), mongo::error_kind::server) << why.explain();
    EXPECT_EQ(mongo::server_code(why), 91);
    EXPECT_TRUE(why.has_label("RetryableWriteError")) << why.explain();
    EXPECT_EQ(why.history().size(), 2U) << why.explain();
    expect_clean(at.s);
}

TEST(retryable_reads, broken_login_of_a_retry_reports_the_newest_error)
{
    broken_login at{hang_up()};
    const operation& op = at.second(bson::doc("find", "coll"), as_read(), hang_up());
    ASSERT_FALSE(op.good());
    const error& why = op.outcome->error();
    EXPECT_EQ(why.context("phase"), "authentication") << why.explain();
    EXPECT_EQ(why.history().size(), 2U) << why.explain();
    expect_clean(at.s);
}

}  // namespace
}  // namespace holdfast::proof::reported_error_test
