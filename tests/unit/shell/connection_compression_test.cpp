#include "holdfast/bson/document.hpp"
#include "shell/mongo/connection/connection.hpp"
#include "support/memory_stream.hpp"
#include "support/raw_message.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::shell::mongo::connection_compression_test {
namespace {

using core::mongo::wire_compressor;
using proof::memory_pipe;

std::vector<std::uint8_t> message_of(bson::view body, std::int32_t response_to)
{
    return proof::raw_message{}.header(2013, 7, response_to).int32(0).byte(0).document(body).done();
}

runtime::awaitable<void> exchange(connection& over, std::span<const std::uint8_t> request,
                                  std::optional<result<void>>& outcome)
{
    const auto reply = co_await over.round_trip(request, request_id{1}, "ping");
    outcome = reply ? result<void>{} : result<void>{reply.error()};
}

/// What becomes of a reply that is compressed with one when the other was negotiated.
result<void> receive(wire_compressor used, wire_compressor negotiated)
{
    proof::virtual_world world;
    const auto from = std::make_shared<memory_pipe>(world, proof::memory_limits{});
    const auto to = std::make_shared<memory_pipe>(world, proof::memory_limits{});
    connection over{std::make_unique<proof::memory_stream>(world, from, to, "peer"),
                    endpoint{"a:27017"}, std::make_shared<std::atomic<std::int32_t>>(0)};
    over.set_description({}, {.with = negotiated});
    const bson::document ok = bson::doc("ok", 1);
    const bson::document ping = bson::doc("ping", 1, "$db", "admin");
    bson::byte_buffer packed;
    const auto reply = core::mongo::compress_message(message_of(ok.view(), 1), {.with = used},
                                                     packed);
    EXPECT_EQ(from->write(reply.value()).bytes, reply.value().size());
    const std::vector<std::uint8_t> request = message_of(ping.view(), 0);
    std::optional<result<void>> outcome;
    boost::asio::co_spawn(world.executor(), exchange(over, request, outcome),
                          boost::asio::detached);
    world.run();
    return outcome.value();
}

TEST(connection_compression, reply_by_a_compressor_that_was_not_negotiated_is_refused)
{
    for (const auto used :
         {wire_compressor::snappy, wire_compressor::zlib, wire_compressor::zstd}) {
        EXPECT_TRUE(receive(used, used)) << name_of(used);
        const auto refused = receive(used, wire_compressor::noop);
        ASSERT_FALSE(refused) << name_of(used);
        EXPECT_NE(refused.error().message().find("not negotiated"), std::string::npos);
    }
    EXPECT_FALSE(receive(wire_compressor::zlib, wire_compressor::snappy));
}

}  // namespace
}  // namespace holdfast::shell::mongo::connection_compression_test
