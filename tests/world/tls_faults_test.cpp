#include "net/tls/failure.hpp"
#include "runtime/errc.hpp"
#include "support/tls_pair.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <chrono>
#include <vector>

namespace holdfast::tls_faults_test {
namespace {

using namespace std::chrono_literals;
using bytes = std::vector<std::uint8_t>;
using proof::memory_limits;
using proof::open_pair;
using proof::server_layer;
using proof::some_bytes;
using proof::virtual_world;
namespace asio = boost::asio;
namespace sys = boost::system;

TEST(tls_faults, truncated_record_is_connection_reset)
{
    std::size_t handshake = 0;
    std::size_t whole = 0;
    {
        open_pair ends;
        handshake = ends.to_server->written();
        ends.client->write_now(some_bytes(20));
        whole = ends.to_server->written();
    }
    // A resumed handshake, as all later ones are, may differ in size: each is measured anew.
    for (std::size_t kept = 0; kept <= whole - handshake; ++kept) {
        open_pair ends;
        ends.client->write_now(some_bytes(20));
        const std::size_t size = whole - handshake;
        bytes record(size);
        // Between the ends there is a third party that lets a part of the record through.
        const auto taken = ends.to_server->read(record);
        ASSERT_EQ(taken.bytes, size);
        ends.to_server->write(std::span{record}.first(kept));
        ends.to_server->end();
        bytes heard(100);
        const auto got = ends.read(*ends.server, heard);
        SCOPED_TRACE(kept);
        if (kept == 0)
            EXPECT_EQ(got.why, asio::error::eof);
        else if (kept < size)
            EXPECT_EQ(got.why, asio::error::connection_reset);
        else
            EXPECT_EQ(got.bytes, 20u);
    }
}

TEST(tls_faults, corrupted_record_is_refused_at_every_byte)
{
    for (std::size_t at = 0; at < 42; ++at) {
        open_pair ends;
        ends.client->write_now(some_bytes(20));
        bytes record(42);  // 5 of header, 20 of text, its type, 16 of checksum
        ASSERT_EQ(ends.to_server->read(record).bytes, record.size());
        record[at] ^= 0x55;
        ends.to_server->write(record);
        ends.to_server->end();
        bytes heard(100);
        const auto got = ends.read(*ends.server, heard);
        EXPECT_EQ(got.bytes, 0u) << at;
        EXPECT_EQ(got.why, sys::errc::connection_reset) << at;
        EXPECT_EQ(ends.read(*ends.server, heard).why, got.why);  // and stays so
        // A length that promises more than comes is a cut, and no failure of our own sending.
        if (got.why.category() == net::tls_category()) {
            EXPECT_EQ(ends.server->write_now(heard).why, got.why);
        }
    }
}

TEST(tls_faults, truncated_handshake_fails_at_every_byte)
{
    const auto fresh = proof::layer(proof::trusting("ca.pem"));  // reads no ticket in here
    for (const bool from_server : {false, true}) {
        bool complete = false;
        for (std::size_t after = 0; !complete; ++after) {
            ASSERT_LT(after, 5000u);
            virtual_world world;
            const memory_limits cut{.cut_after = after};
            const memory_limits free{};
            const auto ends = proof::shake_hands(world, fresh, server_layer(), "localhost",
                                                 from_server ? free : cut,
                                                 from_server ? cut : free);
            ASSERT_TRUE(ends.client && ends.server) << "hangs, cut after " << after;
            complete = ends.good();
            EXPECT_TRUE(*ends.client || ends.client_error().code() == runtime::errc::tls_failed);
            EXPECT_TRUE(*ends.server || ends.server_error().code() == runtime::errc::tls_failed);
        }
    }
}

TEST(tls_faults, corrupted_handshake_fails_at_every_byte)
{
    const auto fresh = proof::layer(proof::trusting("ca.pem"));
    std::size_t failed = 0;
    for (const bool from_server : {false, true}) {
        for (std::size_t at = 0; at < 900; at += 2) {
            virtual_world world;
            const memory_limits spoilt{.spoil_at = at};
            const memory_limits free{};
            proof::memory_connection pipes{world, from_server ? free : spoilt,
                                           from_server ? spoilt : free};
            pipes.client->expires_at(world.steady_now() + 3s);  // a longer record may be announced
            pipes.server->expires_at(world.steady_now() + 3s);
            proof::tls_outcome ends;
            proof::start(world, fresh->connect(std::move(pipes.client), "localhost"), ends.client);
            proof::start(world, server_layer()->accept(std::move(pipes.server)), ends.server);
            world.run();
            ASSERT_TRUE(ends.client && ends.server) << "hangs, spoilt at " << at;
            failed += !ends.good();
        }
    }
    EXPECT_GT(failed, 400u);  // what comes after the handshake may be spoilt, and is found later
}

TEST(tls_faults, foreign_openssl_errors_are_ignored)
{
    open_pair ends;
    ends.client->write_now(some_bytes(20));
    bytes part(30);
    ASSERT_EQ(ends.to_server->read(part).bytes, part.size());
    bytes rest(100);
    rest.resize(ends.to_server->read(rest).bytes);
    bytes heard(100);
    std::optional<runtime::io_result> got;
    proof::start(ends.world, ends.server->read_some(heard), got);
    ends.to_server->write(part);
    ERR_raise(ERR_LIB_USER, 1);
    ends.world.run();
    EXPECT_FALSE(got);  // half a record, and no error
    ERR_raise(ERR_LIB_USER, 1);
    ends.to_server->write(rest);
    ends.to_server->changed.notify();
    ends.world.run();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->bytes, 20u);
    ERR_clear_error();
}

/// As at the root of every operation: a cancellation comes out as a result, not as an exception.
template <class T>
runtime::awaitable<void> operation(runtime::awaitable<T> what, std::optional<T>& into)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    T value = co_await std::move(what);
    into.emplace(std::move(value));
}

TEST(tls_faults, handshake_can_be_cancelled_at_every_step)
{
    const auto fresh = proof::layer(proof::trusting("ca.pem"));
    const memory_limits odd{.window = 100, .write_chunk = 60, .read_chunk = 30};
    std::size_t cancelled = 0;
    bool complete = false;
    for (int steps = 0; !complete; ++steps) {
        ASSERT_LT(steps, 10'000);
        virtual_world world;
        proof::memory_connection pipes{world, odd, odd};
        proof::tls_outcome ends;
        asio::cancellation_signal stop;
        asio::co_spawn(world.executor(),
                       operation(fresh->connect(std::move(pipes.client), "localhost"), ends.client),
                       asio::bind_cancellation_slot(stop.slot(), asio::detached));
        proof::start(world, server_layer()->accept(std::move(pipes.server)), ends.server);
        for (int n = 0; n < steps && !ends.client; ++n)
            world.step();
        complete = ends.client.has_value();
        stop.emit(asio::cancellation_type::terminal);
        world.run();
        ASSERT_TRUE(ends.client && ends.server) << "hangs, cancelled at step " << steps;
        EXPECT_EQ(world.alarms_set(), 0u);
        if (!*ends.client) {
            EXPECT_EQ(ends.client_error().code(), runtime::errc::cancelled);
            ++cancelled;
        }
    }
    EXPECT_GT(cancelled, 15u);
}

TEST(tls_faults, world_may_end_at_every_handshake_step)
{
    const auto fresh = proof::layer(proof::trusting("ca.pem"));
    const memory_limits odd{.window = 100, .write_chunk = 60, .read_chunk = 30};
    bool complete = false;
    for (int steps = 0; !complete; ++steps) {
        ASSERT_LT(steps, 10'000);
        proof::tls_outcome ends;
        virtual_world world;
        proof::memory_connection pipes{world, odd, odd};
        const auto up = pipes.up;
        proof::start(world, fresh->connect(std::move(pipes.client), "localhost"), ends.client);
        proof::start(world, server_layer()->accept(std::move(pipes.server)), ends.server);
        for (int n = 0; n < steps && !ends.good(); ++n)
            world.step();
        complete = ends.good();
        world.queue.stop();
        ends = {};
        EXPECT_EQ(up.use_count(), 2);  // the streams are gone; we and `pipes` look on
    }
}

}  // namespace
}  // namespace holdfast::tls_faults_test
