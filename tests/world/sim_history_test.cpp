#include "world/two_hosts.hpp"

#include <memory>

namespace holdfast::sim_history_test {
namespace {

using namespace std::chrono_literals;

/// A short conversation on links whose latency is drawn.
class conversation {
public:
    explicit conversation(std::uint64_t seed, bool draws = false) : net{seed}
    {
        net.keep_trace(true);
        server.start(serve());
        client.start(talk());
        if (draws)
            static_cast<void>(net.random());
        if (draws)
            static_cast<void>(server.world().chance());
    }

    void run() { net.run(); }

    sim::simulation net;

private:
    awaitable<void> serve()
    {
        auto at = server.world().listen({"", port});
        auto taken = co_await (*at)->accept();
        runtime::stream& with = **taken;
        std::uint8_t buffer[64];
        for (;;) {
            const auto got = co_await with.read_some(buffer);
            if (got.why)
                co_return;
            with.write_now({buffer, got.bytes});
        }
    }
    awaitable<void> talk()
    {
        runtime::destination where{"server", port};
        auto made = co_await client.world().connect(std::move(where), runtime::never);
        runtime::stream& with = **made;
        std::uint8_t buffer[64];
        for (int n = 0; n < 10; ++n) {
            with.write_now(as_bytes("hello"));
            co_await with.read_some(buffer);
        }
    }

    sim::host& client = net.add_host("client");
    sim::host& server = net.add_host("server");
};

TEST(sim_history, equal_seeds_give_equal_traces)
{
    conversation one{1}, same{1}, other{2};
    one.run();
    same.run();
    other.run();
    EXPECT_EQ(one.net.trace_hash(), same.net.trace_hash());
    EXPECT_EQ(one.net.trace(), same.net.trace());
    EXPECT_EQ(one.net.events(), same.net.events());
    EXPECT_NE(one.net.trace_hash(), other.net.trace_hash());
}

TEST(sim_history, extra_draw_on_one_host_does_not_change_others)
{
    conversation one{1}, draws{1, true};
    one.run();
    draws.run();
    EXPECT_EQ(one.net.trace_hash(), draws.net.trace_hash());
    EXPECT_NE(one.net.random(), draws.net.random());
}

TEST(sim_history, trace_hash_covers_every_note_and_byte)
{
    sim::simulation one{1}, other{1};
    EXPECT_EQ(one.trace_hash(), other.trace_hash());
    one.note("something");
    EXPECT_NE(one.trace_hash(), other.trace_hash());
    other.note("somethinG");
    EXPECT_NE(one.trace_hash(), other.trace_hash());
}

/// The numbers of a seed are part of the promise: a failing seed must fail tomorrow, elsewhere.
TEST(sim_history, random_numbers_of_a_seed_are_stable)
{
    sim::simulation net{42};
    EXPECT_EQ(net.random(), 14604335428591886115u);
    EXPECT_EQ(net.random(), 17808098502982763136u);
    EXPECT_EQ(net.random(), 5260983774225136861u);
}

TEST(sim_history, random_numbers_differ_per_host_and_restart)
{
    sim::simulation net{42};
    sim::host& one = net.add_host("one");
    sim::host& other = net.add_host("other");
    const double first = one.world().chance();
    EXPECT_NE(first, other.world().chance());
    one.crash();
    one.restart({});
    EXPECT_NE(first, one.world().chance());
}

TEST(sim_history, chance_is_uniform_in_0_to_1)
{
    sim::simulation net{5};
    int counts[10] = {};
    for (int n = 0; n < 100'000; ++n)
        ++counts[static_cast<int>(net.chance() * 10)];
    for (const int count : counts)
        EXPECT_NEAR(count, 10'000, 400);  // four standard deviations
}

class sim_trace : public two_hosts {};

TEST_F(sim_trace, trace_lines_name_time_host_and_event)
{
    net.keep_trace(true);
    connect();
    write(*at_client, "hello");
    at_client = nullptr;
    net.run_for(1s);
    net.partition_one_way(server, client);
    net.note("that was it");
    const std::vector<std::string> expected{
        "0.000 ms client alarm",
        "0.000 ms client looks up server: 1 records",
        "0.000 ms client dials 10.0.0.2:27017 #1",
        "20.000 ms client #1 connected",
        "30.000 ms server #1 from client",
        "30.000 ms client -> server:27017 #1 5 bytes",
        "40.000 ms server #1 receives 5 bytes",
        "40.000 ms server #1 end of data",
        "1030.000 ms server is cut off from client",
        "1030.000 ms that was it",
    };
    EXPECT_EQ(net.trace(), expected);
}

TEST_F(sim_trace, leftovers_count_streams_listeners_and_alarms)
{
    EXPECT_EQ(net.left(), sim::leftovers{});
    auto listening = server.world().listen({"", 1});
    connect();
    at_client->expires_at(net.now() + 1h);
    heard what;
    server.start(read_into(*at_server, what));
    net.run_for(1s);
    EXPECT_EQ(net.left(), (sim::leftovers{.streams = 2, .listeners = 1, .alarms = 1, .tasks = 1}));
    at_client = nullptr;
    EXPECT_EQ(net.left(), (sim::leftovers{.streams = 1, .listeners = 1, .tasks = 1}));
    net.run();
    at_server = nullptr;
    *listening = nullptr;
    EXPECT_EQ(net.left(), sim::leftovers{});
}

TEST_F(sim_trace, thousand_idle_seconds_cost_few_events)
{
    connect();
    const auto ping = [&]() -> awaitable<void> {
        for (;;) {
            write(*at_client, "ping");
            co_await runtime::sleep_until(client.world(), net.now() + 10s);
        }
    };
    client.start(ping());
    net.run_for(1000s);
    EXPECT_LT(net.events(), 1000u);
}

}  // namespace
}  // namespace holdfast::sim_history_test
