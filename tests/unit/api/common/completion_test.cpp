#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/error.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

namespace holdfast::completion_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::cancellation_type;

/// An operation that waits twice, and notices no cancellation in between.
asio::awaitable<result<int>> two_waits(int& waited)
{
    for (int i = 0; i < 2; ++i) {
        const auto executor = co_await asio::this_coro::executor;
        co_await asio::post(executor, asio::use_awaitable);
        ++waited;
    }
    co_return waited;
}

asio::awaitable<result<int>> hanging(bool& cancelled)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
    boost::system::error_code error_code;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error_code));
    cancelled = error_code == asio::error::operation_aborted;
    co_return error{error_code, "waited"};
}

TEST(completion, insert_one_cancelled_before_start_completes_once)
{
    asio::io_context io;
    const mongo::client client{io.get_executor(), "mongodb://127.0.0.1:1/"};
    asio::cancellation_signal stop;
    std::optional<error> why;
    client["sea"]["coll"].insert_one(
        bson::doc("_id", 1), {},
        asio::bind_cancellation_slot(stop.slot(), [&](result<mongo::insert_one_result> outcome) {
            why = std::move(outcome).error();
        }));
    stop.emit(cancellation_type::terminal);
    while (!why && io.run_one() > 0) {}
    ASSERT_TRUE(why);
    EXPECT_EQ(mongo::kind_of(*why), mongo::error_kind::cancelled) << why->explain();
    asio::co_spawn(io, client.close(), asio::detached);
    io.run();
}

TEST(completion, cancellation_between_two_awaits_is_reported_not_thrown)
{
    for (int emitted_at = 0; emitted_at < 4; ++emitted_at) {
        SCOPED_TRACE(emitted_at);
        asio::io_context io;
        asio::cancellation_signal stop;
        int waited = 0;
        int calls = 0;
        holdfast::initiate(io.get_executor(), two_waits(waited),
                           asio::bind_cancellation_slot(stop.slot(), [&](result<int> got) {
                               ++calls;
                               EXPECT_TRUE(got);
                           }));
        for (int i = 0; i < emitted_at; ++i)
            io.run_one();
        stop.emit(cancellation_type::terminal);
        io.run();
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(waited, 2);
    }
}

TEST(completion, cancellation_slot_is_empty_when_the_handler_runs)
{
    asio::io_context io;
    asio::cancellation_signal stop;
    bool cancelled = false;
    int waited = 0;
    int calls = 0;
    const auto again = [&](result<int>) {
        EXPECT_FALSE(stop.slot().has_handler());
        holdfast::initiate(
            io.get_executor(), hanging(cancelled),
            asio::bind_cancellation_slot(stop.slot(), [&](result<int>) { ++calls; }));
    };
    holdfast::initiate(io.get_executor(), two_waits(waited),
                       asio::bind_cancellation_slot(stop.slot(), again));
    io.poll();
    stop.emit(cancellation_type::terminal);
    io.run();
    EXPECT_TRUE(cancelled);
    EXPECT_EQ(calls, 1);
}

TEST(completion, handler_that_is_move_only_is_accepted)
{
    asio::io_context io;
    const mongo::client client{io.get_executor(), "mongodb://127.0.0.1:1/"};
    int calls = 0;
    const auto handler = [&calls] {
        return [&calls, only = std::make_unique<int>(1)](const auto&) { calls += *only; };
    };
    asio::co_spawn(io, client.close(), asio::detached);
    io.run();
    io.restart();
    const auto test_collection = client["sea"]["coll"];
    test_collection.insert_one(bson::doc("_id", 1), {}, handler());
    test_collection.find_one(bson::doc(), {}, handler());
    client.run_command("sea", bson::doc("ping", 1), {}, handler());
    client["sea"].list_collection_names({}, handler());
    mongo::cursor all = test_collection.find(bson::doc());
    all.next(handler());
    io.run();
    EXPECT_EQ(calls, 5);
}

TEST(completion, handler_with_bound_executor_keeps_its_context_running)
{
    asio::io_context io;
    asio::io_context other;
    int waited = 0;
    bool called = false;
    holdfast::initiate(io.get_executor(), two_waits(waited),
                       asio::bind_executor(other, [&](result<int>) { called = true; }));
    std::thread runs_other{[&] { other.run(); }};
    std::this_thread::sleep_for(20ms);
    io.run();
    runs_other.join();
    EXPECT_TRUE(called);
}

}  // namespace
}  // namespace holdfast::completion_test
