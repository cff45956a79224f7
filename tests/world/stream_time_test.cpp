#include "world/world_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

// What a world promises about the deadlines of a stream, and about cancelling.

namespace holdfast::stream_time_test {
namespace {

using namespace std::chrono_literals;
using proof::bytes_of;
using proof::contract;
using proof::read_text;
using runtime::awaitable;
using runtime::io_result;
using runtime::sleep_until;
using runtime::stream;
using runtime::stream_ptr;
using runtime::world;
namespace asio = boost::asio;
namespace system_errc = boost::system::errc;

class stream_times : public contract {};
HOLDFAST_ALL_WORLDS(stream_times);

/// The server of most tests: echoes, so that nothing comes unless it is asked for.
awaitable<void> echo_server(world&, stream_ptr with)
{
    co_await proof::echo(*with);
}

/// Whatever happened before, the stream works and nothing was lost.
awaitable<void> expect_usable(stream& with)
{
    with.expires_at(runtime::never);
    const error_code sent = co_await write_all(with, bytes_of("still here"));
    EXPECT_FALSE(sent) << sent.message();
    const auto got = co_await read_text(with, 10);
    EXPECT_EQ(got.text, "still here") << got.why.message();
}

awaitable<io_result> read_one(stream& from)
{
    std::uint8_t byte[1];
    co_return co_await from.read_some(byte);
}

TEST_P(stream_times, past_deadline_ends_a_read_at_once)
{
    run_connected(echo_server, [](world& in, stream_ptr with) -> awaitable<void> {
        const time_point now = in.steady_now();
        with->expires_at(now - 1s);
        const auto got = co_await read_one(*with);
        EXPECT_EQ(got.why, system_errc::timed_out) << got.why.message();
        EXPECT_LT(in.steady_now(), now + 2s);
        co_await expect_usable(*with);
    });
}

TEST_P(stream_times, read_ends_at_its_deadline)
{
    run_connected(echo_server, [](world& in, stream_ptr with) -> awaitable<void> {
        const time_point until = in.steady_now() + 30ms;
        with->expires_at(until);
        for (int i = 0; i < 2; ++i) {  // and the next one at once
            const auto got = co_await read_one(*with);
            EXPECT_EQ(got.why, system_errc::timed_out) << got.why.message();
            EXPECT_EQ(got.bytes, 0U);
            EXPECT_GE(in.steady_now(), until);
            EXPECT_LT(in.steady_now(), until + 5s);
        }
        co_await expect_usable(*with);
    });
}

TEST_P(stream_times, removed_deadline_does_not_end_a_read)
{
    run_connected(
        [](world& in, stream_ptr with) -> awaitable<void> {
            co_await sleep_until(in, in.steady_now() + 80ms);
            co_await write_all(*with, bytes_of("late"));
        },
        [](world& in, stream_ptr with) -> awaitable<void> {
            with->expires_at(in.steady_now() + 20ms);
            with->expires_at(runtime::never);
            const auto got = co_await read_text(*with, 4);
            EXPECT_EQ(got.text, "late") << got.why.message();
        });
}

TEST_P(stream_times, moved_deadline_does_not_end_a_read_early)
{
    run_connected(
        [](world& in, stream_ptr with) -> awaitable<void> {
            co_await sleep_until(in, in.steady_now() + 80ms);
            co_await write_all(*with, bytes_of("late"));
            co_await proof::echo(*with);
        },
        [](world& in, stream_ptr with) -> awaitable<void> {
            with->expires_at(in.steady_now() + 20ms);
            with->expires_at(in.steady_now() + 10s);
            const auto got = co_await read_text(*with, 4);
            EXPECT_EQ(got.text, "late") << got.why.message();

            const time_point now = in.steady_now();
            with->expires_at(now + 1h);
            with->expires_at(now + 20ms);
            const auto none = co_await read_one(*with);
            EXPECT_EQ(none.why, system_errc::timed_out) << none.why.message();
            EXPECT_LT(in.steady_now(), now + 10s);
        });
}

/// A coroutine that reads while another one does `meanwhile`.
awaitable<io_result> read_while(world& in, stream& from, std::function<awaitable<void>()> meanwhile)
{
    io_result outcome;
    const auto reader = [&]() -> awaitable<void> {
        const auto got = co_await read_one(from);
        outcome = got;
    };
    std::vector<std::function<awaitable<void>()>> both_of_them{reader, meanwhile};
    co_await proof::all_of(in, both_of_them);
    co_return outcome;
}

TEST_P(stream_times, deadline_set_during_a_read_ends_it)
{
    if (blocks())
        return differs("the thread waits in the read, and no other code can set a deadline");
    run_connected(echo_server, [](world& in, stream_ptr with) -> awaitable<void> {
        const auto set = [&]() -> awaitable<void> {
            co_await sleep_until(in, in.steady_now() + 10ms);
            with->expires_at(in.steady_now() + 10ms);
        };
        const time_point start = in.steady_now();
        const auto got = co_await read_while(in, *with, set);
        EXPECT_EQ(got.why, system_errc::timed_out) << got.why.message();
        EXPECT_GE(in.steady_now(), start + 20ms);

        with->expires_at(runtime::never);
        const auto passed = [&]() -> awaitable<void> {
            co_await sleep_until(in, in.steady_now() + 10ms);
            with->expires_at(in.steady_now() - 1s);
        };
        const auto again = co_await read_while(in, *with, passed);
        EXPECT_EQ(again.why, system_errc::timed_out) << again.why.message();
        co_await expect_usable(*with);
    });
}

TEST_P(stream_times, deadline_moved_during_a_read_applies)
{
    if (blocks())
        return differs("the thread waits in the read, and no other code can move its deadline");
    run_connected(echo_server, [](world& in, stream_ptr with) -> awaitable<void> {
        const time_point start = in.steady_now();
        with->expires_at(start + 250ms);
        const auto move = [&]() -> awaitable<void> {
            co_await sleep_until(in, start + 10ms);
            with->expires_at(start + 10s);
            co_await sleep_until(in, start + 350ms);
            with->write_now(bytes_of("x"));
        };
        const auto got = co_await read_while(in, *with, move);
        EXPECT_FALSE(got.why) << got.why.message();
        EXPECT_EQ(got.bytes, 1U);
    });
}

/// Deadlines that come just when bytes do: none may be lost or come twice.
TEST_P(stream_times, timeouts_lose_no_byte)
{
    constexpr int count = 150;
    int timeouts = 0;
    run_connected(
        [](world& in, stream_ptr with) -> awaitable<void> {
            for (int i = 0; i < count; ++i) {
                const auto byte = static_cast<std::uint8_t>(i);
                co_await write_all(*with, std::span{&byte, 1});
                co_await sleep_until(in, in.steady_now() + 1ms);
            }
        },
        [&](world& in, stream_ptr with) -> awaitable<void> {
            std::vector<std::uint8_t> got;
            std::uint8_t buffer[8];
            for (;;) {
                with->expires_at(in.steady_now() + 500us);
                const auto read = co_await with->read_some(buffer);
                timeouts += read.why == system_errc::timed_out;
                if (read.why && read.why != system_errc::timed_out)
                    break;
                got.insert(got.end(), buffer, buffer + read.bytes);
            }
            REQUIRE(got.size() == count);
            for (int i = 0; i < count; ++i)
                EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
        });
    EXPECT_GT(timeouts, 10) << "too few to prove anything";
}

/// Also if there is no need to wait: who is late is late in every world.
TEST_P(stream_times, expired_deadline_refuses_operations_until_moved)
{
    runtime::event go{both->server_world()};
    const auto before = go.count();
    run_connected(
        [&](world& in, stream_ptr with) -> awaitable<void> {
            co_await go.wait(before, in.steady_now() + 10s);
            co_await write_all(*with, bytes_of("late"));
            co_await proof::echo(*with);
        },
        [&](world& in, stream_ptr with) -> awaitable<void> {
            with->expires_at(in.steady_now() + 20ms);
            auto got = co_await read_one(*with);
            EXPECT_EQ(got.why, system_errc::timed_out) << got.why.message();
            go.notify();
            co_await sleep_until(in, in.steady_now() + 50ms);
            got = co_await read_one(*with);
            EXPECT_EQ(got.why, system_errc::timed_out) << got.why.message();
            const auto sent = with->write_now(bytes_of("x"));
            EXPECT_EQ(sent.why, system_errc::timed_out) << sent.why.message();
            EXPECT_EQ(sent.bytes, 0U);
            with->expires_at(in.steady_now() + 10s);
            const auto late = co_await read_text(*with, 4);
            EXPECT_EQ(late.text, "late") << late.why.message();
            co_await expect_usable(*with);
        });
}

awaitable<void> expect_cancelled(stream& with)
{
    for (int i = 0; i < 2; ++i) {
        const auto got = co_await read_one(with);
        EXPECT_EQ(got.why, system_errc::operation_canceled) << got.why.message();
        const auto sent = with.write_now(bytes_of("x"));
        EXPECT_EQ(sent.why, system_errc::operation_canceled) << sent.why.message();
        EXPECT_EQ(sent.bytes, 0U);
        const error_code writable = co_await with.writable();
        EXPECT_EQ(writable, system_errc::operation_canceled) << writable.message();
        with.expires_at(runtime::never);  // changes nothing
    }
}

TEST_P(stream_times, cancel_ends_later_operations)
{
    run_connected(echo_server, [](world&, stream_ptr with) -> awaitable<void> {
        with->cancel();
        with->cancel();
        co_await expect_cancelled(*with);
    });
}

/// By the other party: on the blocking world that is another thread.
TEST_P(stream_times, cancel_ends_a_pending_read)
{
    std::atomic<stream*> reading = nullptr;
    runtime::event let_go{both->client_world()};  // so that no thread is inside cancel() at the end
    const auto held = let_go.count();
    run_connected(
        [&](world& in, stream_ptr with) -> awaitable<void> {
            const auto sign = co_await read_text(*with, 1);
            EXPECT_EQ(sign.text, "!");
            co_await sleep_until(in, in.steady_now() + 20ms);
            reading.load()->cancel();
            let_go.notify();
            const auto end = co_await proof::read_to_the_end(*with);
            EXPECT_TRUE(end.why);
        },
        [&](world& in, stream_ptr with) -> awaitable<void> {
            reading = with.get();
            const time_point start = in.steady_now();
            co_await write_all(*with, bytes_of("!"));
            co_await expect_cancelled(*with);
            EXPECT_LT(in.steady_now(), start + 5s);
            co_await let_go.wait(held, start + 10s);
        });
}

/// Starts it, lets it wait, cancels it by its signal alone, and gives what it said.
awaitable<error_code> cancel_while(world& in, std::function<awaitable<error_code>()> what)
{
    asio::cancellation_signal stop;
    std::optional<error_code> outcome;
    runtime::event ended{in};
    const auto before = ended.count();
    const auto run = [&]() -> awaitable<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        const error_code why = co_await what();
        outcome = why;
        ended.notify();
    };
    const auto done = [](const std::exception_ptr& thrown) { EXPECT_FALSE(thrown); };
    asio::co_spawn(in.executor(), run, asio::bind_cancellation_slot(stop.slot(), done));
    co_await sleep_until(in, in.steady_now() + 10ms);
    EXPECT_FALSE(outcome.has_value()) << "it did not wait";
    stop.emit(asio::cancellation_type::terminal);
    co_await ended.wait(before, in.steady_now() + 10s);
    co_return outcome.value_or(error_code{});
}

TEST_P(stream_times, cancelled_operation_leaves_the_stream_usable)
{
    if (blocks())
        return differs(
            "the thread is inside recv() or send(); only cancel() from another thread, "
            "or the deadline, ends that");
    run_connected(echo_server, [](world& in, stream_ptr with) -> awaitable<void> {
        for (int i = 0; i < 2; ++i) {
            const auto read = [&]() -> awaitable<error_code> {
                const auto got = co_await read_one(*with);
                co_return got.why;
            };
            const error_code why = co_await cancel_while(in, read);
            EXPECT_EQ(why, system_errc::operation_canceled) << why.message();
            co_await expect_usable(*with);
        }
    });
}

TEST_P(stream_times, read_in_a_cancelled_coroutine_loses_nothing)
{
    run_connected(echo_server, [](world& in, stream_ptr with) -> awaitable<void> {
        co_await write_all(*with, bytes_of("!still there"));
        const auto sign = co_await read_text(*with, 1);  // so the rest has come, or will soon
        EXPECT_EQ(sign.text, "!");
        co_await sleep_until(in, in.steady_now() + 20ms);
        const auto sleep_then_read = [&]() -> awaitable<error_code> {
            co_await sleep_until(in, runtime::never);
            const auto got = co_await read_one(*with);
            const error_code room = co_await with->writable();
            EXPECT_EQ(room, system_errc::operation_canceled) << room.message();
            co_return got.why;
        };
        const error_code why = co_await cancel_while(in, sleep_then_read);
        EXPECT_EQ(why, system_errc::operation_canceled) << why.message();
        const auto rest = co_await read_text(*with, 11);
        EXPECT_EQ(rest.text, "still there") << rest.why.message();
        co_await expect_usable(*with);
    });
}

TEST_P(stream_times, cancelled_wait_for_writable_leaves_the_stream_usable)
{
    if (blocks())
        return differs("writable() never waits: write_now() does");
    runtime::event go{both->server_world()};
    const auto before = go.count();
    run_connected(
        [&](world& in, stream_ptr with) -> awaitable<void> {
            co_await go.wait(before, in.steady_now() + 10s);
            const auto all = co_await proof::read_to_the_end(*with);
            EXPECT_EQ(all.text.substr(all.text.size() - 3), "end") << all.why.message();
        },
        [&](world& in, stream_ptr with) -> awaitable<void> {
            const std::string text(100'000, 'x');
            while (!with->write_now(bytes_of(text)).why) {}
            const auto wait = [&]() -> awaitable<error_code> { return with->writable(); };
            const error_code why = co_await cancel_while(in, wait);
            EXPECT_EQ(why, system_errc::operation_canceled) << why.message();
            go.notify();
            const error_code sent = co_await write_all(*with, bytes_of("end"));
            EXPECT_FALSE(sent) << sent.message();
        });
}

}  // namespace
}  // namespace holdfast::stream_time_test
