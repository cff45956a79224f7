// A connection that ends while it writes: what may have left counts as sent, or a change could be
// made twice.
#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/connection/kv_connection.hpp"
#include "support/memory_stream.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::couchbase_lost_write_test {
namespace {

using namespace std::chrono_literals;
using namespace shell::couchbase;
using core::couchbase::kv_opcode;
using holdfast::couchbase::errc;

/// What happens in a write, by the test.
struct writing {
    std::function<runtime::io_result(std::span<const std::uint8_t>)> write = {};
    bool keeps_uncounted = false;
    int writes = 0;
};

/// A stream whose writes the test makes; it stays writable, whatever is cancelled.
class scripted_stream final : public runtime::stream {
public:
    scripted_stream(runtime::stream_ptr under, writing* by) : under_{std::move(under)}, by_{by} {}

    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t> into) override
    {
        return under_->read_some(into);
    }
    runtime::io_result write_now(std::span<const std::uint8_t> bytes) override
    {
        ++by_->writes;
        return by_->write(bytes);
    }
    runtime::awaitable<error_code> writable() override
    {
        co_await runtime::yield();
        co_return error_code{};
    }
    bool keeps_uncounted() const noexcept override { return by_->keeps_uncounted; }
    void expires_at(time_point when) override { under_->expires_at(when); }
    void cancel() noexcept override { under_->cancel(); }
    std::string peer() const override { return under_->peer(); }

private:
    runtime::stream_ptr under_;
    writing* by_;
};

runtime::io_result would_block()
{
    return {make_error_code(boost::system::errc::operation_would_block), 0};
}

class couchbase_lost_writes : public ::testing::Test {
protected:
    couchbase_lost_writes()
    {
        kv_connection_options options;
        options.server = endpoint{"node:11210"};
        over = kv_connection::start(
            world, std::make_unique<scripted_stream>(std::move(link.client), &script),
            core::couchbase::frame_reader{}, options);
        world.run_for(1ms);
    }
    ~couchbase_lost_writes() override
    {
        close();
        world.run_for(1ms);
    }
    void close() { over->close(error{errc::request_canceled, "the end"}); }
    void add(kv_waiter& waiter)
    {
        core::couchbase::request_frame frame;
        frame.opcode = kv_opcode::upsert;
        frame.key = "key";
        ASSERT_EQ(over->enqueue(frame, {}, waiter).is, kv_connection::enqueue_result::added);
    }
    /// What a request is said to be after the connection has ended.
    bool was_sent(kv_waiter& waiter)
    {
        std::optional<runtime::wait_end> end;
        const auto wait = [](kv_waiter* on,
                             std::optional<runtime::wait_end>* into) -> runtime::awaitable<void> {
            const auto got = co_await on->wait();
            *into = got;
        };
        boost::asio::co_spawn(world.executor(), wait(&waiter, &end), boost::asio::detached);
        world.run_for(1ms);
        EXPECT_EQ(end, runtime::wait_end::notified);
        return waiter.take().was_sent;
    }

    writing script;
    proof::virtual_world world;
    proof::memory_connection link{world, {}};
    std::shared_ptr<kv_connection> over;
};

TEST_F(couchbase_lost_writes, request_in_a_write_that_the_end_overtakes_may_have_been_sent)
{
    // As another thread does that reads: the server has carried out what it got, and has closed.
    script.write = [&](std::span<const std::uint8_t> bytes) {
        close();
        return runtime::io_result{{}, bytes.size()};
    };
    kv_waiter first;
    kv_waiter second;
    add(first);
    add(second);
    over->flush();
    EXPECT_TRUE(was_sent(first));
    EXPECT_TRUE(was_sent(second));
}

TEST_F(couchbase_lost_writes, request_that_a_stream_did_not_take_was_not_sent)
{
    script.write = [](std::span<const std::uint8_t>) { return would_block(); };
    kv_waiter waiter;
    add(waiter);
    over->flush();
    close();
    EXPECT_FALSE(was_sent(waiter));
}

TEST_F(couchbase_lost_writes, request_that_a_stream_keeps_may_be_sent_later)
{
    script.keeps_uncounted = true;  // as TLS does
    script.write = [](std::span<const std::uint8_t>) { return would_block(); };
    kv_waiter kept;
    kv_waiter behind;
    add(kept);
    over->flush();
    add(behind);
    close();
    EXPECT_TRUE(was_sent(kept));
    EXPECT_FALSE(was_sent(behind));
}

TEST_F(couchbase_lost_writes, connection_that_has_ended_writes_nothing_more)
{
    script.write = [](std::span<const std::uint8_t>) { return would_block(); };
    kv_waiter waiter;
    add(waiter);
    over->flush();
    ASSERT_EQ(script.writes, 1);
    close();
    world.run_for(10ms);
    EXPECT_EQ(script.writes, 1) << "it was reported as not sent, and is sent elsewhere";
    EXPECT_FALSE(was_sent(waiter));
}

TEST_F(couchbase_lost_writes, rest_of_a_write_that_the_end_overtakes_is_not_sent)
{
    script.write = [&](std::span<const std::uint8_t>) {
        close();
        return runtime::io_result{{}, 1};
    };
    kv_waiter waiter;
    add(waiter);
    over->flush();
    EXPECT_EQ(script.writes, 1);
    EXPECT_TRUE(was_sent(waiter));
}

}  // namespace
}  // namespace holdfast::couchbase_lost_write_test
