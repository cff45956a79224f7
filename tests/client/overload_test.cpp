#include "client/bent_world.hpp"
#include "client/traffic.hpp"
#include "shell/mongo/execute/client_state.hpp"

#include <set>
#include <thread>

namespace holdfast::proof::overload_test {
namespace {

using namespace std::chrono_literals;

/// Refuses so many times, then answers.
scripted_server::full_answer busy(std::size_t times, bson::document then = good_write().body)
{
    return [times, then, seen = std::size_t{0}](const scripted_command&) mutable {
        return scripted_reply{seen++ < times ? overload_reply() : then};
    };
}

constexpr std::size_t always = 1'000'000;

TEST(client_overload, overloaded_write_keeps_txn_number_over_six_attempts)
{
    VERIFIES("BP-022");
    VERIFIES("BP-051");
    scene s;
    s.server("a").on_command("insert", busy(5));
    s.connect();
    const operation& op = s.write();
    EXPECT_TRUE(op.good()) << op.explain();
    const auto seen = s.server("a").commands("insert");
    ASSERT_EQ(seen.size(), 6U);
    for (const scripted_command& one : seen) {
        EXPECT_EQ(one.body["lsid"].as_document(), seen[0].body["lsid"].as_document());
        EXPECT_EQ(one.body["txnNumber"].as_int64(), 1);
    }
    expect_clean(s);
}

TEST(client_overload, every_overloaded_attempt_publishes_started_and_failed)
{
    scene s;
    s.server("a").on_command("insert", busy(5));
    s.connect();
    EXPECT_TRUE(s.write().good());
    EXPECT_EQ(story_of(s.events(), "insert"),
              "started failed started failed started failed started failed started failed "
              "started succeeded");
    const auto started = s.events().of(heard::command_started);
    for (const record& one : started)
        EXPECT_EQ(one.operation, started[0].operation);
    expect_clean(s);
}

TEST(client_overload, connection_is_checked_in_during_backoff)
{
    VERIFIES("BP-038");
    scene s;
    s.server("a").on_command("insert", busy(5));
    s.connect("&maxPoolSize=1");
    s.settle();
    const operation& op = s.start_write(1);
    ASSERT_TRUE(wait_for(s, [&] { return s.events().count(heard::command_failed) == 2; }));
    EXPECT_FALSE(op.done());
    const operation& other = s.run(ping_command());
    EXPECT_TRUE(other.good()) << other.explain();
    EXPECT_LE(other.took(), 5ms);
    EXPECT_FALSE(op.done());
    EXPECT_TRUE(s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(s.events().count(heard::connection_created, "a:27017"), 1U);
    expect_clean(s, {.pool = 1});
}

TEST(client_overload, token_bucket_is_per_client)
{
    VERIFIES("BP-042");
    scene s;
    for (const char* const name : {"a", "b"})
        s.server(name).on_command("insert", busy(always));
    s.connect("&adaptiveRetries=true");
    const mongo::client poor = *s.client;
    for (int id = 0; id < 200; ++id)
        s.start_write(id);
    EXPECT_TRUE(s.finish_all());
    const std::size_t attempts = s.server("a").count("insert");
    EXPECT_EQ(attempts, 200U + 1000U) << "a thousand tokens";
    EXPECT_FALSE(s.write(201).good());
    EXPECT_EQ(s.server("a").count("insert"), attempts + 1) << "nothing is left";
    s.connect("&adaptiveRetries=true");
    EXPECT_FALSE(s.write(202).good());
    EXPECT_EQ(s.server("a").count("insert"), attempts + 1 + 6);
    s.client = poor;  // and has no more for another server
    s.set.elect("b:27017");
    s.server("a").announce();
    s.server("b").announce();
    s.simulation.run_for(100ms);
    EXPECT_FALSE(s.write(203).good());
    EXPECT_EQ(s.server("b").count("insert"), 1U);
}

TEST(client_overload, token_bucket_is_thread_safe)
{
    VERIFIES("BP-043");
    shell::mongo::shared_budget budget;
    constexpr int rounds = 20'000;
    std::vector<std::thread> threads;
    std::atomic<int> outside{0};
    for (int t = 0; t < 16; ++t) {
        threads.emplace_back([&] {
            const auto one = core::tokens::whole(1);
            for (int i = 0; i < rounds; ++i) {
                budget.update([&](core::token_bucket b) { return b.spend(one).value_or(b); });
                budget.update([&](core::token_bucket b) { return b.earn(one); });
                const core::token_bucket now = budget.load();
                outside += now.level() < core::tokens{} || now.level() > now.capacity() ? 1 : 0;
            }
        });
    }
    for (std::thread& one : threads)
        one.join();
    EXPECT_EQ(outside, 0);
    EXPECT_EQ(budget.load().level(), core::token_bucket::default_capacity);
}

/// What share of the longest possible wait was waited before each retry of a refused write.
std::vector<double> shares_waited(scene& s)
{
    const operation& op = s.write();
    EXPECT_EQ(op.code(), 462);
    std::vector<double> shares;
    if (!op.done() || op.good())
        return shares;
    const auto history = op.outcome->error().history();
    EXPECT_EQ(history.size(), 6U) << op.explain();
    for (std::size_t n = 0; n + 1 < history.size(); ++n)
        shares.push_back(std::chrono::duration<double>{history[n].waited} /
                         std::chrono::duration<double>{100ms * (1 << n)});
    return shares;
}

TEST(client_overload, backoff_jitter_is_drawn_for_every_retry)
{
    VERIFIES("BP-018");
    scene s;
    s.server("a").on_command("insert", busy(always));
    std::set<double> all;
    for (int client = 0; client < 2; ++client) {
        s.connect();
        for (const double share : shares_waited(s)) {
            EXPECT_GE(share, 0.0);
            EXPECT_LT(share, 1.0);
            EXPECT_TRUE(all.insert(share).second) << share << " was drawn before";
        }
        EXPECT_EQ(s.close(), "");
    }
    EXPECT_EQ(all.size(), 10U);
}

/// How one profile treats an insert that is always refused.
struct refused_insert {
    const char* options = "";
    std::size_t attempts = 6;
    bson::document reply = overload_reply();
};

/// How long it takes.
duration time_of(const refused_insert& what, std::uint8_t chance_bits)
{
    scene s;
    const auto world = std::make_shared<bent_world>(s.app.world());
    s.server("a").on_command("insert", in_turn({{.body = what.reply}}));
    s.connect_in(world, std::string{"mongodb://a,b/?replicaSet=rs"} + what.options);
    s.settle();
    world->chance_bits = chance_bits;
    const operation& op = s.write();
    EXPECT_EQ(op.code(), 462);
    EXPECT_EQ(s.server("a").count("insert"), what.attempts) << what.options;
    const duration took = op.took();
    expect_clean(s);
    return took;
}

/// All of its waits, at their longest.
duration waits_of(const refused_insert& what)
{
    const duration without = time_of(what, 0x00);
    EXPECT_LT(without, 50ms);
    return time_of(what, 0xFF) - without;
}

constexpr auto upstream = "&resilienceProfile=upstream_2026_07";

TEST(client_overload, backoff_doubles_with_every_retry)
{
    VERIFIES("BP-055");
    const duration ours = waits_of({});  // 100 + 200 + 400 + 800 + 1600 ms
    EXPECT_GT(ours, 3090ms);
    EXPECT_LE(ours, 3100ms);
    const duration theirs = waits_of({.options = upstream, .attempts = 3});  // 200 + 400 ms
    EXPECT_GT(theirs, 590ms);
    EXPECT_LE(theirs, 600ms);
}

TEST(client_overload, base_backoff_ms_of_the_server_is_used_under_upstream)
{
    const bson::document hint = bson::doc("ok", 0.0, "code", 462, "errmsg", "scripted",
                                          "baseBackoffMS", 50, "errorLabels",
                                          bson::list("SystemOverloadedError", "RetryableError"));
    const duration theirs = waits_of({.options = upstream, .attempts = 3, .reply = hint});
    EXPECT_GT(theirs, 290ms) << "100 + 200 ms";
    EXPECT_LE(theirs, 300ms);
    const duration ours = waits_of({.reply = hint});
    EXPECT_GT(ours, 3090ms) << "the specification of the default profile knows no such field";
    EXPECT_LE(ours, 3100ms);
}

TEST(client_overload, overloaded_read_without_token_bucket_is_attempted_six_times)
{
    VERIFIES("BP-055");
    scene s;
    s.server("a").on_command("find", busy(always));
    s.connect();
    const operation& op = s.run(bson::doc("find", "coll"), as_read());
    EXPECT_EQ(op.code(), 462) << op.explain();
    EXPECT_EQ(s.events().count(heard::command_started), 6U);
    expect_clean(s);
}

TEST(client_overload, token_bucket_with_two_tokens_allows_two_retries)
{
    VERIFIES("BP-055");
    VERIFIES("BP-059");
    scene s;
    s.server("a").on_command("insert", busy(always));
    s.server("a").on_command("find", busy(always));
    s.connect("&adaptiveRetries=true");
    // A thousand tokens: it starts there, and good operations do not add to it.
    for (int i = 0; i < 50; ++i)
        EXPECT_TRUE(s.run(ping_command()).good());
    for (int id = 0; id < 199; ++id)
        s.start_write(id);
    EXPECT_TRUE(s.finish_all());
    EXPECT_EQ(s.server("a").count("insert"), 199U * 6U);
    // Five are left. An operation that fails for another reason returns one: 5 - 4 + 1.
    s.server("a").on_command("insert", busy(4, error_reply(11000)));
    EXPECT_EQ(s.write(200).code(), 11000);
    const std::size_t before = s.events().count(heard::command_started);
    EXPECT_EQ(s.run(bson::doc("find", "coll"), as_read()).code(), 462);
    EXPECT_EQ(s.events().count(heard::command_started), before + 3);
}

}  // namespace
}  // namespace holdfast::proof::overload_test
