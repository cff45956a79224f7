// The connections to one HTTP server over time: how long they are kept, in which order they are
// given out, and what a deadline or a cancellation leaves of them.
#include "shell/http/http_pool.hpp"

#include "core/pool/errc.hpp"
#include "runtime/background.hpp"
#include "shell/http/request.hpp"
#include "sim/simulation.hpp"
#include "support/memory_stream.hpp"
#include "support/scripted_http.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace holdfast::http_pool_test {
namespace {

using namespace std::chrono_literals;
using proof::http_answer;
using proof::http_ok;
using proof::http_seen;
using runtime::awaitable;
using shell::http::exchange_failure;
using shell::http::failure_kind;
using shell::http::http_pool;

using connection_lease = shell::lease<shell::http::connection>;

/// A request under way, or what has come of it.
struct started {
    bool done = false;
    time_point ended{};
    std::string body = {};
    std::optional<exchange_failure> failed = {};
};
using started_ptr = std::shared_ptr<started>;

/// A server and a pool of its connections, 10 ms apart.
class http_pool_scene : public testing::Test {
protected:
    http_pool_scene()
    {
        sim::link exact;
        exact.latency_min = exact.latency_max = 10ms;
        net.set_all_links(exact);
        net.set_dns_latency({});
        far.start(server.serve_at(far.world(), {"far", 80}));
    }
    ~http_pool_scene() override
    {
        tasks.stop();
        if (pool)
            pool->close(true);
        server.stop();
        net.run_for(1s);
        EXPECT_EQ(tasks.running(), 0u);
        pool.reset();
        near.crash();
        far.crash();
    }

    void open(shell::http::http_pool_settings settings = {}, const std::string& host = "far")
    {
        pool = http_pool::make(near.world(), settings, [this, host] {
            return near.world().connect({host, 80}, net.now() + 10s);
        });
    }

    awaitable<void> exchange(started_ptr into, std::string target, duration timeout,
                             bool idempotent)
    {
        shell::http::request request;
        request.target = target;
        request.host = "far";
        bson::byte_buffer bytes;
        EXPECT_TRUE(shell::http::write_request(request, bytes));
        shell::http::exchange_order order;
        order.request = bytes.bytes();
        order.until = net.now() + timeout;
        order.idempotent = idempotent;
        auto begun = co_await pool->exchange(order);
        if (auto* const failed = std::get_if<exchange_failure>(&begun)) {
            into->failed = std::move(*failed);
        } else {
            auto& on = std::get<connection_lease>(begun);
            while (!into->done) {
                auto step = co_await on->next_piece();
                if (auto* const broken = std::get_if<exchange_failure>(&step))
                    into->failed = std::move(*broken);
                const auto* const piece = std::get_if<shell::http::body_piece>(&step);
                if (piece == nullptr || piece->empty())
                    break;
                into->body.append(reinterpret_cast<const char*>(piece->data()), piece->size());
            }
        }
        into->done = true;
        into->ended = net.now();
    }
    started_ptr start(const std::string& target = "/", duration timeout = 10s,
                      bool idempotent = false)
    {
        auto made = std::make_shared<started>();
        task = tasks.start(exchange(made, target, timeout, idempotent));
        return made;
    }
    started_ptr run(const std::string& target = "/", duration timeout = 10s,
                    bool idempotent = false)
    {
        auto made = start(target, timeout, idempotent);
        net.run_while_not([&] { return made->done; });
        return made;
    }

    sim::simulation net{1};
    sim::host& near = net.add_host("near");
    sim::host& far = net.add_host("far");
    proof::scripted_http server{[](const http_seen& what) { return http_ok(what.target); }};
    std::shared_ptr<http_pool> pool;
    runtime::background tasks{near.world()};
    runtime::background::task task;  // the last one
};

TEST_F(http_pool_scene, connection_is_used_again_within_a_second_and_closed_soon_after)
{
    open();
    EXPECT_EQ(run()->body, "/");
    net.run_for(900ms);
    EXPECT_EQ(run()->body, "/");
    EXPECT_EQ(server.connections(), 1u);
    net.run_for(1010ms);
    EXPECT_EQ(run()->body, "/");
    EXPECT_EQ(server.connections(), 2u);
    EXPECT_EQ(server.open_connections(), 1u);
    net.run_for(2100ms);
    EXPECT_EQ(server.open_connections(), 0u) << "also if there is no other request";
}

TEST_F(http_pool_scene, connection_that_was_closed_while_idle_is_not_used)
{
    open();
    EXPECT_EQ(run()->body, "/");
    server.drop_connections();
    net.run_for(20ms);
    const auto second = run();
    EXPECT_EQ(second->body, "/");
    EXPECT_EQ(server.seen().size(), 2u);
    EXPECT_EQ(server.connections(), 2u);
}

TEST_F(http_pool_scene, repeated_request_goes_over_a_fresh_connection_not_over_another_idle_one)
{
    open();
    const auto one = start(), two = start(), three = start();
    net.run_while_not([&] { return one->done && two->done && three->done; });
    EXPECT_EQ(server.connections(), 3u);
    server.on([](const http_seen& what) {
        return what.connection <= 3 ? proof::http_hang_up() : http_ok("fresh");
    });
    EXPECT_EQ(run("/", 10s, true)->body, "fresh");
    EXPECT_EQ(server.connections(), 4u);
    EXPECT_EQ(server.seen().size(), 5u);
}

TEST_F(http_pool_scene, request_is_repeated_only_once)
{
    open();
    EXPECT_EQ(run()->body, "/");
    server.on([](const http_seen&) { return proof::http_hang_up(); });
    const auto failed = run("/", 10s, true);
    ASSERT_TRUE(failed->failed);
    EXPECT_EQ(failed->failed->is, failure_kind::lost);
    EXPECT_EQ(server.seen().size(), 3u);
}

TEST_F(http_pool_scene, reply_that_has_begun_is_not_asked_for_again)
{
    open();
    EXPECT_EQ(run()->body, "/");
    server.on([](const http_seen&) -> http_answer { return {.bytes = "H", .closes = true}; });
    const auto failed = run("/", 10s, true);
    ASSERT_TRUE(failed->failed);
    EXPECT_TRUE(failed->failed->replied);
    EXPECT_EQ(server.seen().size(), 2u);
}

TEST_F(http_pool_scene, waiting_requests_are_served_in_order_and_those_beyond_the_limit_refused)
{
    server.on([](const http_seen& what) -> http_answer {
        return {.bytes = proof::http_reply_text(what.target), .delay = 100ms};
    });
    shell::http::http_pool_settings settings;
    settings.max_connections = 1;
    settings.max_waiting = 3;
    open(settings);
    const auto first = start("/0");
    net.run_for(50ms);  // it has the connection
    std::vector<started_ptr> waiting;
    for (const char* const target : {"/1", "/2", "/3"})
        waiting.push_back(start(target));
    net.run_for(1ms);
    const auto refused = run("/4");
    ASSERT_TRUE(refused->failed);
    EXPECT_EQ(refused->failed->is, failure_kind::no_connection);
    EXPECT_EQ(refused->failed->why.code(), core::pool_errc::queue_full);
    EXPECT_FALSE(refused->failed->in_flight);
    net.run_while_not([&] { return waiting.back()->done; });
    EXPECT_TRUE(first->done);
    std::string order;
    for (const http_seen& one : server.seen())
        order += one.target;
    EXPECT_EQ(order, "/0/1/2/3");
    EXPECT_EQ(server.connections(), 1u);
}

TEST_F(http_pool_scene, deadline_holds_while_connecting_waiting_for_the_head_and_reading)
{
    sim::host& dead = net.add_host("dead");
    net.partition(near, dead);
    open({}, "dead");
    const time_point began = net.now();
    const auto connecting = run("/", 300ms);
    ASSERT_TRUE(connecting->failed);
    EXPECT_EQ(connecting->failed->is, failure_kind::timed_out);
    EXPECT_FALSE(connecting->failed->in_flight);
    EXPECT_EQ(connecting->ended - began, 300ms);
    pool->close(true);
    net.run_for(1s);

    server.on([](const http_seen& what) -> http_answer {
        if (what.target == "/silent")
            return {};
        return {.bytes = proof::http_reply_text(std::string(1000, 'x')), .piece = 1, .pause = 10ms};
    });
    open();
    for (const char* const target : {"/silent", "/slow"}) {
        const time_point start_time = net.now();
        const auto late = run(target, 300ms);
        ASSERT_TRUE(late->failed) << target;
        EXPECT_EQ(late->failed->is, failure_kind::timed_out);
        EXPECT_TRUE(late->failed->in_flight);
        EXPECT_EQ(late->ended - start_time, 300ms);
        EXPECT_EQ(pool->counts().total, 0u);
    }
}

TEST_F(http_pool_scene, cancellation_before_the_request_keeps_the_connection_and_after_it_does_not)
{
    server.on([](const http_seen& what) -> http_answer {
        return {.bytes = proof::http_reply_text(what.target), .delay = 100ms};
    });
    shell::http::http_pool_settings settings;
    settings.max_connections = 1;
    open(settings);
    const auto first = start("/0");
    net.run_for(50ms);
    const auto waiting = start("/1");
    net.run_for(1ms);
    task.stop();
    net.run_for(1ms);
    ASSERT_TRUE(waiting->failed);
    EXPECT_EQ(waiting->failed->is, failure_kind::cancelled);
    EXPECT_FALSE(waiting->failed->in_flight);
    EXPECT_EQ(pool->counts().total, 1u);
    net.run_while_not([&] { return first->done; });
    EXPECT_EQ(first->body, "/0");

    const auto in_flight = start("/2");
    net.run_for(50ms);
    task.stop();
    net.run_for(1ms);
    ASSERT_TRUE(in_flight->failed);
    EXPECT_EQ(in_flight->failed->is, failure_kind::cancelled);
    EXPECT_TRUE(in_flight->failed->in_flight);
    EXPECT_EQ(pool->counts().total, 0u);
    EXPECT_EQ(server.connections(), 1u) << "the first connection was used for both";
}

TEST_F(http_pool_scene, body_is_not_read_ahead_of_its_reader)
{
    constexpr std::size_t size = 20'000'000;
    server.on([](const http_seen&) { return http_ok(std::string(size, 'x')); });
    open();
    std::size_t read = 0;
    const auto read_some = [&]() -> awaitable<void> {
        bson::byte_buffer bytes;
        shell::http::request request;
        request.host = "far";
        EXPECT_TRUE(shell::http::write_request(request, bytes));
        shell::http::exchange_order order;
        order.request = bytes.bytes();
        order.until = net.now() + 60s;
        auto begun = co_await pool->exchange(order);
        EXPECT_EQ(begun.index(), 0u);
        auto& on = std::get<connection_lease>(begun);
        for (int pieces = 0; pieces != 20; ++pieces) {
            const auto step = co_await on->next_piece();
            const auto piece = std::get<shell::http::body_piece>(step);
            EXPECT_LE(piece.size(), std::size_t{64} * 1024);
            read += piece.size();
            co_await runtime::sleep_until(near.world(), net.now() + 1s);
        }
    };
    tasks.start(read_some());
    net.run_for(30s);
    EXPECT_GT(read, 20'000u);
    // The rest waits in the windows of the network.
    EXPECT_LT(server.sent(), size);
    EXPECT_EQ(pool->counts().total, 0u) << "it was not read to its end";
}

TEST_F(http_pool_scene, closed_pool_gives_no_connection_and_ends_what_is_in_flight)
{
    server.on([](const http_seen&) -> http_answer { return {}; });
    open();
    const auto in_flight = start();
    net.run_for(100ms);
    pool->close(true);
    net.run_for(1ms);
    ASSERT_TRUE(in_flight->failed);
    EXPECT_TRUE(in_flight->failed->in_flight);
    const auto later = run();
    ASSERT_TRUE(later->failed);
    EXPECT_EQ(later->failed->why.code(), core::pool_errc::closed);
}

TEST(http_connection, request_of_which_nothing_has_left_leaves_the_connection_as_it_was)
{
    proof::virtual_world world;
    proof::memory_limits closed_window;
    closed_window.window = 0;
    for (const bool is_blocked : {true, false}) {
        proof::memory_connection wire{world, is_blocked ? closed_window : proof::memory_limits{}};
        shell::http::connection on{std::move(wire.client)};
        std::optional<exchange_failure> failed;
        const auto exchange = [&]() -> awaitable<void> {
            const std::string text = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
            auto why = co_await on.begin(
                {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, {},
                world.steady_now() + 100ms);
            failed = std::move(why);
        };
        boost::asio::co_spawn(world.executor(), exchange(), boost::asio::detached);
        world.run_for(1s);
        ASSERT_TRUE(failed);
        EXPECT_EQ(failed->is, failure_kind::timed_out);
        EXPECT_EQ(failed->in_flight, !is_blocked);
        EXPECT_EQ(on.is_idle(), is_blocked);
    }
}

}  // namespace
}  // namespace holdfast::http_pool_test
