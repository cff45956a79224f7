#include "client/traffic.hpp"
#include "support/canary.hpp"

#include <set>

/// Servers let a login expire (391, ReauthenticationRequired). The connection logs in again, and
/// what was refused is sent once more over it.
namespace holdfast::proof::renewal_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int32_t expired = 391;

/// A server whose logins expire when a test says so, each connection's for itself.
struct expiring {
    explicit expiring(scene& in, const std::string& more = {}) : s{in}, door{guarded(in)}
    {
        for (const char* const name : {"ping", "insert"})
            s.server("a").on_command(name, [this](const scripted_command& asked) {
                return expired_on.contains(asked.connection) ? scripted_reply{error_reply(expired)}
                                                             : good_write();
            });
        s.server("a").on_command("saslContinue", [this](const scripted_command& asked) {
            const std::size_t before = door->logins();
            const scripted_reply reply{door->finish(asked)};
            if (door->logins() != before)
                expired_on.erase(asked.connection);
            return reply;
        });
        s.connect_to("mongodb://" + std::string{canary::user} + ":" + canary::password +
                     "@a/?replicaSet=rs" + more);
    }

    /// All connections that there are.
    void expire()
    {
        for (std::size_t one = 1; one <= s.server("a").connections(); ++one)
            expired_on.insert(one);
    }

    scene& s;
    std::shared_ptr<scripted_login> door;
    std::set<std::size_t> expired_on;
};

TEST(reauthentication, expired_login_is_renewed_and_the_command_resent)
{
    for (const bool writes : {false, true}) {
        scene s{{.hosts = {"a"}}};
        expiring at{s};
        ASSERT_TRUE(s.run(ping_command()).good());
        at.expire();
        const char* const name = writes ? "insert" : "ping";
        const std::size_t before = s.server("a").count(name);
        const std::size_t received = s.server("a").commands().size();
        const operation& op = writes ? s.run(insert_of(1), as_write()) : s.run(ping_command());
        EXPECT_TRUE(op.good()) << op.explain();
        EXPECT_EQ(at.door->logins(), 2U);
        EXPECT_EQ(s.server("a").count(name), before + 2);

        // Over one connection, which was not checked in meanwhile, and in this order.
        std::vector<std::string> order;
        std::set<std::size_t> connections;
        std::set<std::int64_t> numbers;
        for (std::size_t i = received; i < s.server("a").commands().size(); ++i) {
            const scripted_command& one = s.server("a").commands()[i];
            if (is_hello(one.name))
                continue;
            order.push_back(one.name);
            connections.insert(one.connection);
            if (one.name == "insert")
                numbers.insert(one.body.get<std::int64_t>("txnNumber").value());
        }
        EXPECT_EQ(order, (std::vector<std::string>{name, "saslStart", "saslContinue", name}));
        EXPECT_EQ(connections.size(), 1U);
        EXPECT_EQ(numbers.size(), writes ? 1U : 0U) << "sent again under another number";
        EXPECT_EQ(s.events().count(heard::checked_out), 2U);
        EXPECT_EQ(s.events().count(heard::checked_in), 2U);
        EXPECT_EQ(story_of(s.events(), name), writes ? "started failed started succeeded"
                                                     : "started succeeded "
                                                       "started failed started succeeded");
        EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary") << "nothing is wrong with the server";
        EXPECT_EQ(s.events().count(heard::pool_cleared), 0U);

        EXPECT_TRUE(s.run(ping_command()).good());
        EXPECT_EQ(at.door->logins(), 2U) << "once is enough";
        expect_clean(s);
    }
}

TEST(reauthentication, every_connection_reauthenticates_separately)
{
    scene s{{.hosts = {"a"}}};
    expiring at{s, "&minPoolSize=4&maxPoolSize=4"};
    s.settle(30s);
    ASSERT_EQ(at.door->logins(), 4U);
    at.expire();
    for (int i = 0; i < 12; ++i)
        (void)s.start(ping_command());
    ASSERT_TRUE(s.finish_all());
    for (const operation& one : s.operations)
        EXPECT_TRUE(one.good()) << one.explain();
    EXPECT_EQ(at.door->logins(), 8U);
    EXPECT_EQ(s.server("a").count("ping"), 12U + 4U);
    expect_clean(s);
}

TEST(reauthentication, second_refusal_fails_and_the_next_command_logs_in)
{
    scene s{{.hosts = {"a"}}};
    expiring at{s};
    ASSERT_TRUE(s.run(ping_command()).good());
    s.server("a").on("ping", [](bson::view) { return error_reply(expired); });
    const operation& op = s.run(ping_command());
    EXPECT_EQ(op.code(), expired) << op.explain();
    EXPECT_EQ(s.server("a").count("ping"), 1U + 2U);
    EXPECT_EQ(at.door->logins(), 2U);
    s.server("a").on("ping", [](bson::view) { return bson::doc("ok", 1.0); });
    EXPECT_TRUE(s.run(ping_command()).good());
    EXPECT_EQ(at.door->logins(), 3U);
    EXPECT_EQ(s.server("a").count("ping"), 1U + 2U + 1U);
    expect_clean(s);
}

TEST(reauthentication, refused_or_broken_login_fails_the_command)
{
    VERIFIES("BP-008");
    struct row {
        const char* name;
        scripted_reply ending;
        duration took;
        bool loses_server;
    };
    const row table[] = {
        {"refused", {.body = error_reply(18)}, 4ms, false},
        {"overloaded", {.body = overload_reply()}, 4ms, false},
        {"silent", keep_silent(), 302ms, false},
        {"broken", hang_up(), 4ms, true},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.name);
        scene s{{.hosts = {"a"}}};
        expiring at{s, "&connectTimeoutMS=300"};
        // The time of an operation is no limit for those that come after it.
        ASSERT_TRUE(s.run(ping_command(), {.timeout = 20ms}).good());
        s.simulation.run_for(1s);
        at.expire();
        s.server("a").on_command("saslStart", [&](const scripted_command&) { return r.ending; });
        const operation& op = s.run(bson::doc("ping", 1));
        ASSERT_TRUE(op.done());
        EXPECT_FALSE(op.good());
        EXPECT_EQ(op.took(), r.took) << op.explain();
        EXPECT_EQ(op.explain().find(canary::password), std::string::npos);
        EXPECT_EQ(s.server("a").count("saslStart"), 1U) << "the login is not retried";
        EXPECT_EQ(s.events().type_of("a:27017") == "Unknown", r.loses_server);
        EXPECT_EQ(s.server("a").count("ping"), 2U);
        expect_clean(s);
        EXPECT_EQ(s.events().count(heard::checked_in), s.events().count(heard::checked_out));
    }
}

TEST(reauthentication, login_respects_the_deadline_of_its_operation)
{
    scene s{{.hosts = {"a"}}};
    expiring at{s};
    ASSERT_TRUE(s.run(ping_command()).good());
    at.expire();
    s.server("a").on_command("saslStart", [](const scripted_command&) { return keep_silent(); });
    const operation& op = s.run(ping_command(), {.timeout = 50ms});
    ASSERT_TRUE(op.done());
    EXPECT_FALSE(op.good());
    EXPECT_EQ(op.took(), 50ms) << op.explain();
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::renewal_test
