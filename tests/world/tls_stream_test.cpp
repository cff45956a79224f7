#include "net/tls/engine.hpp"
#include "support/tls_pair.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <vector>

namespace holdfast::tls_stream_test {
namespace {

using namespace std::chrono_literals;
using bytes = std::vector<std::uint8_t>;
using proof::client_layer;
using proof::memory_limits;
using proof::open_pair;
using proof::server_layer;
using proof::some_bytes;
using proof::virtual_world;
namespace asio = boost::asio;
namespace sys = boost::system;

runtime::awaitable<std::size_t> echo(runtime::stream& at)
{
    std::size_t total = 0;
    error_code why;
    bytes buffer(10000);
    while (!why) {
        const runtime::io_result got = co_await at.read_some(buffer);
        total += got.bytes;
        why = got.why;
        if (!why)
            why = co_await runtime::write_all(at, std::span{buffer}.first(got.bytes));
    }
    co_return total;
}

/// Sends and receives at the same time: true if all came back as it was.
bool comes_back(open_pair& ends, const bytes& sent)
{
    bytes heard(sent.size());
    std::optional<error_code> wrote;
    std::optional<error_code> read;
    std::optional<std::size_t> echoed;
    proof::start(ends.world, echo(*ends.server), echoed);
    proof::start(ends.world, runtime::write_all(*ends.client, sent), wrote);
    proof::start(ends.world, proof::receive(*ends.client, heard), read);
    ends.world.run();
    EXPECT_TRUE(wrote && !*wrote);
    EXPECT_TRUE(read && !*read);
    ends.client.reset();
    ends.world.run();
    EXPECT_EQ(echoed, sent.size());
    return heard == sent;
}

TEST(tls_stream, bytes_round_trip_with_any_chunk_size)
{
    const memory_limits free{};
    const memory_limits single{.window = 1, .write_chunk = 1, .read_chunk = 1};
    const memory_limits odd{.window = 1000, .write_chunk = 333, .read_chunk = 77};
    struct row {
        memory_limits up, down;
        std::size_t size;
    };
    const row table[] = {
        {free, free, 1},         {free, free, 100},     {free, free, 16384},
        {free, free, 16385},     {free, free, 65536},   {free, free, 65537},
        {free, free, 5'000'000}, {single, free, 20000}, {free, single, 20000},
        {single, single, 20000}, {odd, odd, 300'000},   {odd, free, 300'000},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.size);
        open_pair ends{r.up, r.down};
        EXPECT_TRUE(comes_back(ends, some_bytes(r.size)));
    }
}

TEST(tls_stream, megabytes_pass_through_a_small_window)
{
    const memory_limits small{.window = 20000};
    open_pair ends{small, small};
    EXPECT_TRUE(comes_back(ends, some_bytes(5'000'000)));
}

TEST(tls_stream, blocked_write_is_neither_lost_nor_repeated)
{
    open_pair ends{{.window = 3000}, {}};
    const bytes sent = some_bytes(5000);
    const auto refused = ends.client->write_now(sent);
    EXPECT_EQ(refused.why, sys::errc::operation_would_block);
    EXPECT_EQ(refused.bytes, 0u);
    EXPECT_EQ(ends.client->write_now(sent).why, sys::errc::operation_would_block);

    bytes heard(6000);
    std::optional<runtime::io_result> got;
    proof::start(ends.world, ends.server->read_some(heard), got);
    ends.world.run();
    EXPECT_FALSE(got);  // a record counts as a whole
    const auto taken = ends.client->write_now(sent);
    EXPECT_FALSE(taken.why);
    EXPECT_EQ(taken.bytes, sent.size());
    ends.world.run();
    ASSERT_TRUE(got);
    heard.resize(got->bytes);
    EXPECT_EQ(heard, sent);
}

TEST(tls_stream, partial_write_reports_the_bytes_sent)
{
    constexpr std::size_t chunk = net::tls_engine::max_plain;
    open_pair ends{{.window = 2 * chunk + 10000}, {}};
    const bytes sent = some_bytes(3 * chunk);
    const auto first = ends.client->write_now(sent);
    EXPECT_FALSE(first.why);
    EXPECT_EQ(first.bytes, 2 * chunk);

    bytes heard(sent.size());
    std::optional<error_code> read;
    std::optional<error_code> wrote;
    proof::start(ends.world, proof::receive(*ends.server, heard), read);
    proof::start(ends.world, runtime::write_all(*ends.client, std::span{sent}.subspan(first.bytes)),
                 wrote);
    ends.world.run();
    EXPECT_TRUE(wrote && !*wrote && read && !*read);
    EXPECT_EQ(heard, sent);
}

TEST(tls_stream, one_read_returns_all_available_records)
{
    open_pair ends;
    const bytes sent = some_bytes(50'000);
    EXPECT_EQ(ends.client->write_now(sent).bytes, sent.size());
    bytes heard(60'000);
    EXPECT_EQ(ends.read(*ends.server, heard).bytes, sent.size());
}

TEST(tls_stream, timed_out_read_loses_nothing)
{
    open_pair ends{{.cut_after = memory_limits::none}, {}};
    bytes heard(100);
    ends.server->expires_at(ends.world.steady_now() + 2s);
    const auto before = ends.world.steady_now();
    EXPECT_EQ(ends.read(*ends.server, heard).why, sys::errc::timed_out);
    EXPECT_EQ(ends.world.steady_now() - before, 2s);
    ends.server->expires_at(runtime::never);
    ends.client->write_now(some_bytes(100));
    const auto got = ends.read(*ends.server, heard);
    EXPECT_FALSE(got.why);
    EXPECT_EQ(heard, some_bytes(100));
}

TEST(tls_stream, cancelled_operation_loses_nothing)
{
    open_pair ends;
    bytes heard(100);
    std::optional<runtime::io_result> got;
    asio::cancellation_signal stop;
    asio::co_spawn(ends.world.executor(), proof::keep(ends.server->read_some(heard), got),
                   asio::bind_cancellation_slot(stop.slot(), asio::detached));
    ends.world.run();
    EXPECT_FALSE(got);
    stop.emit(asio::cancellation_type::terminal);
    ends.world.run();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->why, sys::errc::operation_canceled);
    ends.client->write_now(some_bytes(100));
    EXPECT_FALSE(ends.read(*ends.server, heard).why);
    EXPECT_EQ(heard, some_bytes(100));

    got.reset();
    proof::start(ends.world, ends.server->read_some(heard), got);
    ends.world.run();
    ends.server->cancel();
    ends.world.run();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->why, sys::errc::operation_canceled);
    EXPECT_EQ(ends.server->write_now(heard).why, sys::errc::operation_canceled);
}

TEST(tls_stream, closed_peer_is_eof_with_and_without_close_notify)
{
    std::uint8_t byte[1];
    {
        open_pair ends;
        const std::size_t before = ends.to_server->written();
        ends.client.reset();
        EXPECT_GT(ends.to_server->written(), before);  // close_notify
        EXPECT_EQ(ends.read(*ends.server, byte).why, asio::error::eof);
        EXPECT_EQ(ends.read(*ends.server, byte).why, asio::error::eof);
    }
    {
        open_pair ends;
        ends.client->write_now(some_bytes(1));
        ends.to_server->end();
        EXPECT_EQ(ends.read(*ends.server, byte).bytes, 1u);
        EXPECT_EQ(ends.read(*ends.server, byte).why, asio::error::eof);
    }
}

TEST(tls_stream, close_notify_is_eof_on_an_open_connection)
{
    for (const bool alone : {false, true}) {
        open_pair ends{{.never_ends = true}, {}};
        bytes heard(100);
        ends.client->write_now(some_bytes(10));
        if (!alone)
            ends.client.reset();
        EXPECT_EQ(ends.read(*ends.server, heard).bytes, 10u);
        ends.client.reset();
        EXPECT_EQ(ends.read(*ends.server, heard).why, asio::error::eof);
        EXPECT_EQ(ends.read(*ends.server, heard).why, asio::error::eof);
    }
}

TEST(tls_stream, close_notify_is_read_after_all_bytes)
{
    open_pair ends;
    const bytes sent = some_bytes(30'000);
    ends.client->write_now(sent);
    ends.client.reset();
    bytes heard(sent.size());
    const auto read = proof::run(ends.world, proof::receive(*ends.server, heard));
    EXPECT_TRUE(read && !*read);
    EXPECT_EQ(heard, sent);
    EXPECT_EQ(ends.read(*ends.server, heard).why, asio::error::eof);
}

runtime::awaitable<void> send_and_count(runtime::stream& to, const bytes& what, int& left)
{
    const error_code why = co_await runtime::write_all(to, what);
    EXPECT_FALSE(why);
    --left;
}

runtime::awaitable<void> receive_and_compare(runtime::stream& from, const bytes& expected)
{
    bytes heard(expected.size());
    const error_code why = co_await proof::receive(from, heard);
    EXPECT_FALSE(why);
    EXPECT_EQ(heard, expected);
}

TEST(tls_stream, read_and_write_on_different_threads_are_safe)
{
    open_pair ends{{.window = 30000}, {.window = 30000}};
    const bytes sent = some_bytes(2'000'000);
    int up = 1;
    int down = 1;
    asio::thread_pool pool{4};
    asio::co_spawn(pool, send_and_count(*ends.client, sent, up), asio::detached);
    asio::co_spawn(pool, send_and_count(*ends.server, sent, down), asio::detached);
    asio::co_spawn(pool, receive_and_compare(*ends.client, sent), asio::detached);
    asio::co_spawn(pool, receive_and_compare(*ends.server, sent), asio::detached);
    pool.join();
    EXPECT_EQ(up + down, 0);
}

runtime::awaitable<void> connect_and_say(runtime::tls_ptr layer, runtime::stream_ptr over, int& ok)
{
    auto made = co_await layer->connect(std::move(over), "localhost");
    EXPECT_TRUE(made);
    if (!made)
        co_return;
    bytes heard(10);
    const error_code why = co_await proof::receive(**made, heard);
    ok = !why && heard == some_bytes(10) ? 1 : 0;
}

runtime::awaitable<void> accept_and_say(runtime::tls_ptr layer, runtime::stream_ptr over)
{
    auto made = co_await layer->accept(std::move(over));
    EXPECT_TRUE(made);
    if (made)
        (*made)->write_now(some_bytes(10));
}

TEST(tls_stream, tls_layer_is_safe_for_many_threads)
{
    virtual_world world;
    std::vector<int> ok(100);
    asio::thread_pool pool{4};
    for (int& mine : ok) {
        proof::memory_connection ends{world};
        asio::co_spawn(pool, connect_and_say(client_layer(), std::move(ends.client), mine),
                       asio::detached);
        asio::co_spawn(pool, accept_and_say(server_layer(), std::move(ends.server)),
                       asio::detached);
    }
    pool.join();
    EXPECT_EQ(std::accumulate(ok.begin(), ok.end(), 0), 100);
}

}  // namespace
}  // namespace holdfast::tls_stream_test
