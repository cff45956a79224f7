#include "world/two_hosts.hpp"

#include <functional>
#include <memory>

namespace holdfast::sim_crash_test {
namespace {

using namespace std::chrono_literals;

/// One way for a coroutine of the client to wait. It holds `alive` while it does.
struct row {
    const char* name;
    std::function<awaitable<void>(runtime::world&, runtime::stream*)> wait;
};

awaitable<void> in_read(runtime::world&, runtime::stream* with)
{
    std::uint8_t byte = 0;
    co_await with->read_some({&byte, 1});
}

awaitable<void> in_writable(runtime::world&, runtime::stream* with)
{
    const std::vector<std::uint8_t> much(1 << 20);
    with->write_now(much);
    co_await with->writable();
}

awaitable<void> in_accept(runtime::world& in, runtime::stream*)
{
    auto at = in.listen({"", 1});
    if (!at)
        co_return;  // the host has crashed already
    auto taken = co_await (*at)->accept();
}

awaitable<void> in_connect(runtime::world& in, runtime::stream*)
{
    runtime::destination nowhere{"10.9.9.9", 1};
    auto made = co_await in.connect(std::move(nowhere), in.steady_now() + 1h);
}

awaitable<void> in_sleep(runtime::world& in, runtime::stream*)
{
    co_await runtime::sleep_until(in, in.steady_now() + 1h);
}

awaitable<void> in_event(runtime::world& in, runtime::stream*)
{
    runtime::event never_notified{in};
    co_await never_notified.wait(never_notified.count(), in.steady_now() + 1h);
}

awaitable<void> in_resolve(runtime::world& in, runtime::stream*)
{
    auto found = co_await in.resolve("server", in.steady_now() + 1h);
}

const row all_waits[] = {{"read", in_read},       {"writable", in_writable}, {"accept", in_accept},
                         {"connect", in_connect}, {"sleep", in_sleep},       {"event", in_event},
                         {"resolve", in_resolve}};

class sim_crash : public two_hosts, public testing::WithParamInterface<row> {
protected:
    /// A connection of its own, and then the wait.
    awaitable<void> connected_wait(std::shared_ptr<int> alive)
    {
        runtime::destination where{"server", port};
        auto made = co_await client.world().connect(std::move(where), runtime::never);
        net.set_dns_latency(1h);
        waiting = true;
        co_await GetParam().wait(client.world(), made->get());
        waiting = false;
        alive = nullptr;
    }
    awaitable<void> serve()
    {
        auto at = server.world().listen({"", port});
        auto taken = co_await (*at)->accept();
        at_server = std::move(taken).value();
    }

    bool waiting = false;
};

TEST_P(sim_crash, crash_destroys_waiting_coroutines)
{
    for (const bool silent : {false, true}) {
        net.set_dns_latency({});
        server.start(serve());
        auto alive = std::make_shared<int>();
        const std::weak_ptr<int> watch = alive;
        client.start(connected_wait(std::move(alive)));
        net.run_for(10s);
        ASSERT_TRUE(waiting);
        ASSERT_FALSE(watch.expired());
        EXPECT_EQ(net.left().tasks, 1u);

        client.crash(silent);
        EXPECT_TRUE(waiting);
        EXPECT_TRUE(watch.expired());
        at_server = nullptr;
        EXPECT_EQ(net.left(), sim::leftovers{});
        net.run();
        EXPECT_EQ(net.left(), sim::leftovers{});
        client.restart({});
    }
}

TEST_P(sim_crash, coroutine_may_crash_its_own_host)
{
    server.start(serve());
    auto alive = std::make_shared<int>();
    const std::weak_ptr<int> watch = alive;
    const auto suicide = [&](std::shared_ptr<int> holds) -> awaitable<void> {
        runtime::destination where{"server", port};
        auto made = co_await client.world().connect(std::move(where), runtime::never);
        runtime::world& before = client.world();
        client.crash();
        EXPECT_EQ(write(**made, "a ghost").why, connection_reset);
        co_await GetParam().wait(before, made->get());
        waiting = true;  // not reached, except where nothing has to be waited for
        co_await runtime::sleep_until(before, net.now() + 1h);
        holds = nullptr;
    };
    client.start(suicide(std::move(alive)));
    net.run();
    EXPECT_TRUE(watch.expired());
    at_server = nullptr;
    net.run();
    EXPECT_EQ(net.left(), sim::leftovers{});
}

TEST_P(sim_crash, destroyed_simulation_destroys_waiting_coroutines)
{
    auto alive = std::make_shared<int>();
    const std::weak_ptr<int> watch = alive;
    {
        sim::simulation own{1};
        sim::host& here = own.add_host("here");
        const auto serve_and_wait = [&](std::shared_ptr<int> holds) -> awaitable<void> {
            auto at = here.world().listen({"", 2});
            runtime::destination self{here.address(), 2};
            auto made = co_await here.world().connect(std::move(self), runtime::never);
            own.set_dns_latency(1h);
            co_await GetParam().wait(here.world(), made->get());
            holds = nullptr;
        };
        here.start(serve_and_wait(std::move(alive)));
        own.run_for(1s);
        EXPECT_FALSE(watch.expired());
    }
    EXPECT_TRUE(watch.expired());
}

INSTANTIATE_TEST_SUITE_P(every_wait, sim_crash, testing::ValuesIn(all_waits),
                         [](const auto& of) { return std::string{of.param.name}; });

}  // namespace
}  // namespace holdfast::sim_crash_test
