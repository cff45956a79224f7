#include "world/world_fixture.hpp"

#include <boost/asio/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// What a world promises about the bytes of a stream, and about its end.

namespace holdfast::stream_test {
namespace {

using namespace std::chrono_literals;
using proof::bytes_of;
using proof::contract;
using proof::read_text;
using runtime::awaitable;
using runtime::stream;
using runtime::stream_ptr;
using runtime::world;
namespace asio = boost::asio;
namespace system_errc = boost::system::errc;

class streams : public contract {};
HOLDFAST_ALL_WORLDS(streams);

/// FNV-1a: two texts of the same sum are the same text.
std::uint64_t sum_of(std::string_view text)
{
    std::uint64_t sum = 14695981039346656037U;
    for (const char c : text)
        sum = (sum ^ static_cast<std::uint8_t>(c)) * 1099511628211U;
    return sum;
}

awaitable<void> wait_for_the_end(stream& of)
{
    const auto rest = co_await proof::read_to_the_end(of);
    EXPECT_TRUE(rest.why);
}

awaitable<void> send(stream& to, std::string text)
{
    const error_code why = co_await write_all(to, bytes_of(text));
    EXPECT_FALSE(why) << why.message();
}

TEST_P(streams, read_returns_available_bytes_without_waiting_for_more)
{
    run_connected(
        [](world&, stream_ptr with) -> awaitable<void> {
            co_await send(*with, "abcdef");
            co_await wait_for_the_end(*with);
        },
        [](world&, stream_ptr with) -> awaitable<void> {
            std::string got;
            std::vector<std::uint8_t> small(4);
            std::vector<std::uint8_t> large(1000);
            auto read = co_await with->read_some(small);
            EXPECT_FALSE(read.why) << read.why.message();
            EXPECT_GE(read.bytes, 1U);
            EXPECT_LE(read.bytes, 4U);
            got.append(small.begin(), small.begin() + static_cast<std::ptrdiff_t>(read.bytes));
            while (got.size() < 6 && !read.why) {
                read = co_await with->read_some(large);
                EXPECT_GE(read.bytes, 1U) << read.why.message();
                got.append(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(read.bytes));
            }
            EXPECT_EQ(got, "abcdef");
        });
}

TEST_P(streams, eof_follows_all_bytes_of_a_closed_peer)
{
    const std::string text = proof::pattern(300'000, 1);
    run_connected([&](world&, stream_ptr with) -> awaitable<void> { co_await send(*with, text); },
                  [&](world& in, stream_ptr with) -> awaitable<void> {
                      co_await runtime::sleep_until(in, in.steady_now() + 5ms);
                      const auto all = co_await proof::read_to_the_end(*with);
                      EXPECT_EQ(all.why, asio::error::eof) << all.why.message();
                      EXPECT_TRUE(all.text == text)
                          << all.text.size() << " bytes of " << text.size();
                      const auto more = co_await proof::read_to_the_end(*with);
                      EXPECT_EQ(more.why, asio::error::eof) << "and it stays the end";
                  });
}

TEST_P(streams, closed_peer_is_noticed_without_reading)
{
    run_connected(
        [](world&, stream_ptr with) -> awaitable<void> {
            co_await send(*with, "x");
            const auto got = co_await read_text(*with, 1);
            EXPECT_EQ(got.text, "y");
        },
        [](world& in, stream_ptr with) -> awaitable<void> {
            co_await runtime::sleep_until(in, in.steady_now() + 5ms);
            EXPECT_FALSE(with->peer_has_closed()) << "there is only something to read";
            co_await send(*with, "y");
            for (int i = 0; i < 1000 && !with->peer_has_closed(); ++i)
                co_await runtime::sleep_until(in, in.steady_now() + 1ms);
            EXPECT_TRUE(with->peer_has_closed());
            const auto got = co_await read_text(*with, 1);
            EXPECT_EQ(got.text, "x") << "nothing was lost";
        });
}

TEST_P(streams, reset_is_an_error_and_not_eof)
{
    run_connected(
        [&](world&, stream_ptr with) -> awaitable<void> {
            const auto one = co_await read_text(*with, 1);
            EXPECT_EQ(one.text, "x");
            both->reset_connections();
            with.reset();  // with a byte unread
        },
        [](world&, stream_ptr with) -> awaitable<void> {
            co_await send(*with, "xy");
            const auto got = co_await read_text(*with, 1);
            EXPECT_EQ(got.why, system_errc::connection_reset) << got.why.message();
            EXPECT_NE(got.why, asio::error::eof);
        });
}

TEST_P(streams, write_to_a_closed_peer_ends_with_an_error)
{
    run_connected([](world&, stream_ptr) -> awaitable<void> { co_return; },
                  [](world& in, stream_ptr with) -> awaitable<void> {
                      with->expires_at(in.steady_now() + 5s);
                      const std::string text(1000, 'x');
                      error_code why;
                      for (int i = 0; i < 1000 && !why; ++i) {
                          why = co_await write_all(*with, bytes_of(text));
                          co_await runtime::sleep_until(in, in.steady_now() + 1ms);
                      }
                      EXPECT_TRUE(why) << "a megabyte went to a closed peer";
                      EXPECT_NE(why, system_errc::timed_out);
                      EXPECT_NE(why, system_errc::operation_canceled);
                      EXPECT_NE(why, asio::error::eof);
                  });
}

TEST_P(streams, ten_megabytes_each_way_arrive_intact)
{
    const std::string there = proof::pattern(10'000'000, 2);
    const std::string back = proof::pattern(10'000'000, 3);
    run_connected(
        [&](world&, stream_ptr with) -> awaitable<void> {
            const auto got = co_await read_text(*with, there.size());
            EXPECT_EQ(got.text.size(), there.size()) << got.why.message();
            EXPECT_EQ(sum_of(got.text), sum_of(there));
            co_await send(*with, back);
        },
        [&](world&, stream_ptr with) -> awaitable<void> {
            co_await send(*with, there);
            const auto got = co_await read_text(*with, back.size());
            EXPECT_EQ(got.text.size(), back.size()) << got.why.message();
            EXPECT_EQ(sum_of(got.text), sum_of(back));
        });
}

TEST_P(streams, concurrent_read_and_write_are_independent)
{
    if (blocks())
        return differs("one thread reads or writes, and cannot do both at a time");
    const std::string text = proof::pattern(1'000'000, 4);
    run_connected([](world&, stream_ptr with) -> awaitable<void> { co_await proof::echo(*with); },
                  [&](world& in, stream_ptr with) -> awaitable<void> {
                      const auto writer = [&]() -> awaitable<void> { co_await send(*with, text); };
                      const auto reader = [&]() -> awaitable<void> {
                          const auto got = co_await read_text(*with, text.size());
                          EXPECT_EQ(sum_of(got.text), sum_of(text)) << got.why.message();
                      };
                      std::vector<std::function<awaitable<void>()>> both_of_them{writer, reader};
                      co_await proof::all_of(in, both_of_them);
                  });
}

TEST_P(streams, broken_stream_delivers_the_bytes_before)
{
    const std::string text = proof::pattern(2'000'000, 5);
    run_connected(
        [&](world&, stream_ptr with) -> awaitable<void> {
            co_await send(*with, text.substr(0, text.size() / 2));
        },
        [&](world&, stream_ptr with) -> awaitable<void> {
            const auto got = co_await read_text(*with, text.size());
            EXPECT_EQ(got.why, asio::error::eof) << got.why.message();
            EXPECT_EQ(sum_of(got.text), sum_of(text.substr(0, text.size() / 2)));
        });
}

/// Writes until nothing more is taken; gives the number of bytes that were. A blocking stream says
/// so by its time limit.
std::size_t fill(stream& to, const std::string& text, error_code& why)
{
    std::size_t taken = 0;
    why.clear();
    while (!why && taken < 200'000'000) {
        const auto sent = to.write_now(bytes_of(text));
        EXPECT_TRUE(sent.bytes > 0 || sent.why) << "nothing was taken, and nothing said";
        EXPECT_LE(sent.bytes, text.size());
        taken += sent.bytes;
        why = sent.why;
    }
    return taken;
}

TEST_P(streams, writer_blocks_until_the_peer_reads)
{
    const std::string text(100'000, 'x');
    runtime::event go{both->server_world()};
    const auto before = go.count();
    std::atomic<std::size_t> taken = 0;
    run_connected(
        [&](world& in, stream_ptr with) -> awaitable<void> {
            co_await go.wait(before, in.steady_now() + 10s);
            const auto all = co_await proof::read_to_the_end(*with);
            EXPECT_EQ(all.why, asio::error::eof) << all.why.message();
            EXPECT_EQ(all.text.size(), taken) << "as many as were taken, and then those after";
        },
        [&](world& in, stream_ptr with) -> awaitable<void> {
            with->expires_at(in.steady_now() + 100ms);
            error_code why;
            taken = fill(*with, text, why);
            if (blocks()) {
                EXPECT_EQ(why, system_errc::timed_out) << why.message();
                differs("write_now() waits until all is gone, no longer than the deadline");
            } else {
                EXPECT_EQ(why, system_errc::operation_would_block) << why.message();
                const error_code late = co_await with->writable();
                EXPECT_EQ(late, system_errc::timed_out) << late.message();
            }
            go.notify();
            with->expires_at(in.steady_now() + 10s);
            const error_code ready = co_await with->writable();
            EXPECT_FALSE(ready) << ready.message();
            co_await send(*with, text);
            taken += text.size();
        });
}

TEST_P(streams, stream_may_be_destroyed_with_unread_bytes)
{
    const std::string text(100'000, 'x');
    run_connected(
        [](world&, stream_ptr with) -> awaitable<void> {
            co_await send(*with, "never read");
            const auto got = co_await read_text(*with, 1);
            EXPECT_EQ(got.text, "x");
        },
        [&](world& in, stream_ptr with) -> awaitable<void> {
            with->expires_at(in.steady_now() + 50ms);
            error_code why;
            const std::size_t taken = fill(*with, text, why);
            EXPECT_GT(taken, 0U);
            EXPECT_TRUE(why);
            co_return;
        });
}

TEST_P(streams, writes_of_all_sizes_keep_their_order)
{
    const std::string text = proof::pattern(200'000, 6);
    run_connected([](world&, stream_ptr with) -> awaitable<void> { co_await proof::echo(*with); },
                  [&](world&, stream_ptr with) -> awaitable<void> {
                      std::string got;
                      std::size_t sent = 0;
                      for (std::size_t size = 1; sent < text.size(); size = size * 3 % 7919 + 1) {
                          const std::string part = text.substr(sent, size);
                          co_await send(*with, part);
                          const auto back = co_await read_text(*with, part.size());
                          REQUIRE(!back.why);
                          got += back.text;
                          sent += part.size();
                      }
                      EXPECT_TRUE(got == text);
                  });
}

}  // namespace
}  // namespace holdfast::stream_test
