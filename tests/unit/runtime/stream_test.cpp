#include "runtime/stream.hpp"

#include "runtime/errc.hpp"
#include "runtime/world.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::runtime::stream_test {
namespace {

/// Takes one byte at a time, and none each second time.
class narrow_stream final : public stream {
public:
    awaitable<io_result> read_some(std::span<std::uint8_t>) override { co_return io_result{}; }
    io_result write_now(std::span<const std::uint8_t> bytes) override
    {
        EXPECT_FALSE(bytes.empty()) << "nothing was offered";
        if (taken.size() == breaks_after)
            return {asio::error::connection_reset, 0};
        open = !open;
        if (!open)
            return {
                boost::system::errc::make_error_code(boost::system::errc::operation_would_block),
                0};
        taken.push_back(bytes.front());
        return {{}, 1};
    }
    awaitable<error_code> writable() override
    {
        ++waits;
        co_return waits == fails_at_wait ? make_error_code(asio::error::operation_aborted)
                                         : error_code{};
    }
    void expires_at(time_point) override {}
    void cancel() noexcept override {}
    std::string peer() const override { return "none"; }

    std::vector<std::uint8_t> taken;
    bool open = false;
    int waits = 0;
    int fails_at_wait = -1;
    std::size_t breaks_after = 1000;
};

const std::vector<std::uint8_t> five{1, 2, 3, 4, 5};

error_code write_five_to(stream& to)
{
    proof::virtual_world world;
    std::optional<error_code> outcome;
    const auto write = [&]() -> awaitable<void> {
        const error_code why = co_await write_all(to, five);
        outcome = why;
    };
    asio::co_spawn(world.executor(), write(), asio::detached);
    world.run();
    EXPECT_TRUE(outcome.has_value());
    return outcome.value_or(error_code{});
}

TEST(write_all, short_writes_are_continued_until_complete)
{
    narrow_stream to;
    EXPECT_FALSE(write_five_to(to));
    EXPECT_EQ(to.taken, five);
    EXPECT_EQ(to.waits, 4);
}

TEST(write_all, write_error_is_returned)
{
    narrow_stream to;
    to.breaks_after = 2;
    EXPECT_EQ(write_five_to(to), asio::error::connection_reset);
    EXPECT_EQ(to.taken.size(), 2U);
}

TEST(write_all, wait_error_is_returned)
{
    narrow_stream to;
    to.fails_at_wait = 2;
    EXPECT_EQ(write_five_to(to), asio::error::operation_aborted);
    EXPECT_EQ(to.taken.size(), 2U);
    EXPECT_EQ(to.waits, 2);
}

TEST(destination, to_string_formats_host_and_port)
{
    EXPECT_EQ(to_string({"localhost", 27017}), "localhost:27017");
    EXPECT_EQ(to_string({"10.1.2.3", 1}), "10.1.2.3:1");
    EXPECT_EQ(to_string({"::1", 27017}), "[::1]:27017");
    EXPECT_EQ(to_string({"/tmp/mongodb-27017.sock", 0}), "/tmp/mongodb-27017.sock");
    EXPECT_EQ(to_string({"host", 0}), "host:0");
}

TEST(destination, host_with_a_slash_is_a_path)
{
    EXPECT_TRUE((destination{"/tmp/mongodb.sock", 0}.is_path()));
    EXPECT_TRUE((destination{"run/db.sock", 0}.is_path()));
    EXPECT_FALSE((destination{"db.example", 27017}.is_path()));
}

TEST(runtime_errors, every_code_has_a_distinct_message)
{
    std::set<std::string> messages;
    constexpr int count = static_cast<int>(errc::not_available);
    for (int value = 1; value <= count; ++value) {
        const error_code code = static_cast<errc>(value);
        EXPECT_EQ(code.value(), value);
        EXPECT_FALSE(code.message().empty());
        messages.insert(code.message());
    }
    EXPECT_EQ(messages.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(messages.count("unknown error"), 0U);
    EXPECT_EQ((error_code{count + 1, category()}.message()), "unknown error");
    EXPECT_STREQ(category().name(), "holdfast.runtime");
}

TEST(world, chance_is_uniform_in_0_to_1)
{
    proof::virtual_world world;
    int below_a_quarter = 0;
    for (int i = 0; i < 4000; ++i) {
        const double chance = world.chance();
        ASSERT_GE(chance, 0.0);
        ASSERT_LT(chance, 1.0);
        below_a_quarter += chance < 0.25;
    }
    EXPECT_NEAR(below_a_quarter, 1000, 120);
}

}  // namespace
}  // namespace holdfast::runtime::stream_test
