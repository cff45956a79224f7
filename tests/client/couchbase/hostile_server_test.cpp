// A connection whose server sends what no server should, or does not read.
#include "core/couchbase/wire/frame_writer.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/config/notification.hpp"
#include "shell/couchbase/connection/kv_connection.hpp"
#include "support/memory_stream.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

namespace holdfast::couchbase_hostile_server_test {
namespace {

using namespace std::chrono_literals;
using namespace shell::couchbase;
using core::couchbase::kv_datatype;
using core::couchbase::kv_feature;
using core::couchbase::kv_magic;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using holdfast::couchbase::errc;

/// The outcome of one request.
struct asked {
    std::optional<result<kv_answer>> got = {};
};

runtime::awaitable<void> ask_into(std::shared_ptr<kv_connection> over, std::string key,
                                  std::string value, time_point until, asked* into)
{
    core::couchbase::request_frame frame;
    frame.opcode = kv_opcode::get;
    frame.key = key;
    frame.value = core::couchbase::as_octets(value);
    auto got = co_await ask(over, frame, until);
    into->got.emplace(std::move(got));
}

class couchbase_hostile_server : public ::testing::Test {
protected:
    void open(proof::memory_limits to_server = {})
    {
        link.emplace(world, to_server);
        kv_connection_options options;
        options.server = endpoint{"node:11210"};
        options.features.add(kv_feature::json);
        options.on_server_request = [this](const core::couchbase::frame& one) {
            notified.push_back(parse_notification(one).has_value());
        };
        options.max_unsent = 4096;
        over = kv_connection::start(world, std::move(link->client), core::couchbase::frame_reader{},
                                    options);
        world.run_for(1ms);
    }
    asked& get(std::string value = {})
    {
        asked& into = all.emplace_back();
        boost::asio::co_spawn(
            world.executor(),
            ask_into(over, "key", std::move(value), world.steady_now() + 5s, &into),
            boost::asio::detached);
        world.run_for(1ms);
        return into;
    }
    /// What the client has sent since the last call.
    std::vector<std::uint8_t> sent()
    {
        std::vector<std::uint8_t> bytes(65536);
        const auto got = link->up->read(bytes);
        link->up->changed.notify();
        bytes.resize(got.bytes);
        return bytes;
    }
    std::uint32_t opaque_of_request()
    {
        const auto bytes = sent();
        return core::couchbase::parse_frame_header(bytes)->opaque;
    }
    void send(const bson::byte_buffer& bytes)
    {
        (void)link->server->write_now(bytes.bytes());
        world.run_for(1ms);
    }
    void reply(core::couchbase::reply_frame frame)
    {
        bson::byte_buffer out;
        ASSERT_TRUE(core::couchbase::write_reply(out, frame));
        send(out);
    }
    void expect_closed(std::string_view because)
    {
        ASSERT_TRUE(over->is_closed());
        EXPECT_NE(over->end_reason()->message().find(because), std::string::npos)
            << over->end_reason()->message();
        for (const asked& one : all) {
            ASSERT_TRUE(one.got) << "no request waits for ever";
            EXPECT_FALSE(*one.got);
        }
    }

    proof::virtual_world world;
    std::optional<proof::memory_connection> link;
    std::shared_ptr<kv_connection> over;
    std::deque<asked> all;
    std::vector<bool> notified;
};

TEST_F(couchbase_hostile_server, datatype_that_was_not_negotiated_closes_the_connection)
{
    open();
    get();
    core::couchbase::reply_frame frame{.opcode = kv_opcode::get, .opaque = opaque_of_request()};
    frame.datatype = kv_datatype::snappy;
    reply(frame);
    expect_closed("datatype");
    EXPECT_EQ(over->end_reason()->code(), errc::decoding_failure);
}

TEST_F(couchbase_hostile_server, reply_to_another_command_closes_the_connection)
{
    open();
    get();
    reply({.opcode = kv_opcode::upsert, .opaque = opaque_of_request()});
    expect_closed("another command");
}

TEST_F(couchbase_hostile_server, unknown_magic_closes_the_connection)
{
    open();
    get();
    bson::byte_buffer garbage;
    *garbage.grow(1) = 'H';
    send(garbage);
    expect_closed("0x48");
}

TEST_F(couchbase_hostile_server, request_of_a_client_closes_the_connection)
{
    open();
    get();
    bson::byte_buffer out;
    ASSERT_TRUE(core::couchbase::write_request(out, {.opcode = kv_opcode::get, .opaque = 5000}));
    send(out);
    expect_closed("only clients");
}

/// A header as no library of ours would write it.
struct raw_header {
    std::uint8_t magic = 0x81;
    std::uint8_t framing = 0;  // only in alternative frames, where the key has one byte
    std::uint16_t key = 0;
    std::uint8_t extras = 0;
    std::uint32_t body = 0;
};

bson::byte_buffer bytes_of(const raw_header& from, std::uint32_t opaque,
                           std::span<const std::uint8_t> body = {})
{
    const bool is_alternative = from.magic == 0x18 || from.magic == 0x08;
    const auto byte_of = [](std::uint32_t number, unsigned n) {
        return static_cast<std::uint8_t>(number >> (8 * n));
    };
    std::array<std::uint8_t, 24> header{};
    header[0] = from.magic;
    header[2] = is_alternative ? from.framing : byte_of(from.key, 1);
    header[3] = byte_of(from.key, 0);
    header[4] = from.extras;
    for (unsigned n = 0; n != 4; ++n) {
        header[8 + n] = byte_of(from.body, 3 - n);
        header[12 + n] = byte_of(opaque, 3 - n);
    }
    bson::byte_buffer out;
    std::ranges::copy(header, out.grow(header.size()));
    if (!body.empty())
        std::ranges::copy(body, out.grow(body.size()));
    return out;
}

TEST_F(couchbase_hostile_server, body_beyond_the_limit_closes_the_connection_before_it_arrives)
{
    for (const std::uint32_t size : {0x80000000U, 0xffffffffU, 64U * 1024 * 1024}) {
        all.clear();
        open();
        get();
        send(bytes_of({.body = size}, opaque_of_request()));
        expect_closed("beyond the limit");
    }
}

TEST_F(couchbase_hostile_server, parts_longer_than_the_body_close_the_connection)
{
    for (const raw_header& one :
         {raw_header{.key = 60000, .body = 100}, raw_header{.extras = 255, .body = 254},
          raw_header{.magic = 0x18, .framing = 200, .body = 199},
          raw_header{.magic = 0x18, .framing = 9, .key = 9, .extras = 9, .body = 26}}) {
        all.clear();
        open();
        get();
        send(bytes_of(one, opaque_of_request()));
        expect_closed("the body only");
    }
}

TEST_F(couchbase_hostile_server, damaged_framing_extras_are_no_reply)
{
    open();
    asked& one = get();
    // An info of 14 bytes, of which only one is there.
    const std::uint8_t framing[] = {0x0e, 0x00};
    send(bytes_of({.magic = 0x18, .framing = 2, .body = 2}, opaque_of_request(), framing));
    ASSERT_TRUE(one.got) << "it does not wait for ever";
    if (*one.got) {
        EXPECT_TRUE((*one.got)->frame().extras().empty());
    } else {
        EXPECT_TRUE(over->is_closed());
    }
}

TEST_F(couchbase_hostile_server, frames_that_only_clients_send_close_the_connection)
{
    for (const std::uint8_t magic : {0x80, 0x08, 0x83}) {
        all.clear();
        open();
        get();
        send(bytes_of({.magic = magic}, opaque_of_request()));
        ASSERT_TRUE(over->is_closed()) << int{magic};
        ASSERT_TRUE(all.front().got);
        EXPECT_FALSE(*all.front().got);
    }
}

TEST_F(couchbase_hostile_server, frame_that_never_ends_holds_no_request_beyond_its_deadline)
{
    open();
    asked& one = get();
    send(bytes_of({.body = 1000}, opaque_of_request()));
    world.run_for(4s);
    EXPECT_FALSE(one.got);
    world.run_for(2s);
    ASSERT_TRUE(one.got);
    EXPECT_FALSE(*one.got);
}

TEST_F(couchbase_hostile_server, reply_with_an_unknown_opaque_is_ignored)
{
    open();
    asked& one = get();
    const std::uint32_t opaque = opaque_of_request();
    reply({.opcode = kv_opcode::get, .opaque = opaque + 1024});
    EXPECT_FALSE(one.got);
    reply({.opcode = kv_opcode::get, .opaque = opaque, .status = kv_status::not_found});
    ASSERT_TRUE(one.got && *one.got);
    EXPECT_EQ((*one.got)->frame().status(), kv_status::not_found);
    EXPECT_FALSE(over->is_closed());
}

TEST_F(couchbase_hostile_server, notification_is_handed_on_and_other_requests_are_refused)
{
    open();
    bson::byte_buffer news;
    const std::uint8_t revision[] = {0, 0, 0, 7};
    core::couchbase::server_request_frame frame;
    frame.extras = revision;
    frame.key = "travel";
    ASSERT_TRUE(core::couchbase::write_server_request(news, frame));
    send(news);
    EXPECT_EQ(notified, std::vector<bool>{true});
    EXPECT_TRUE(sent().empty()) << "no answer is expected";

    bson::byte_buffer other;
    frame.opcode = static_cast<core::couchbase::kv_server_opcode>(0x77);
    frame.opaque = 42;
    ASSERT_TRUE(core::couchbase::write_server_request(other, frame));
    send(other);
    const auto answer = sent();
    const auto header = core::couchbase::parse_frame_header(answer);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->magic, kv_magic::server_response);
    EXPECT_EQ(header->opaque, 42u);
    EXPECT_EQ(static_cast<kv_status>(header->vbucket_or_status), kv_status::not_supported);
}

TEST_F(couchbase_hostile_server, peer_that_does_not_read_makes_the_connection_not_writable)
{
    proof::memory_limits small;
    small.window = 1000;
    open(small);
    for (int n = 0; n != 10; ++n)
        get(std::string(1000, 'x'));
    kv_waiter waiter;
    core::couchbase::request_frame frame;
    frame.key = "key";
    EXPECT_EQ(over->enqueue(frame, {}, waiter).is, kv_connection::enqueue_result::not_writable);
    // It reads after all: what waited is sent.
    std::size_t read = 0;
    for (int n = 0; n != 100; ++n) {
        read += sent().size();
        world.run_for(1ms);
    }
    EXPECT_EQ(read, over->statistics().written);
    EXPECT_EQ(over->enqueue(frame, {}, waiter).is, kv_connection::enqueue_result::added);
    waiter.withdraw();
    over->close(error{errc::closed, "end"});
    world.run_for(1ms);
}

TEST_F(couchbase_hostile_server, requests_that_never_left_are_reported_as_not_sent)
{
    proof::memory_limits small;
    small.window = 100;
    open(small);
    get(std::string(1000, 'x'));
    kv_waiter waiter;
    core::couchbase::request_frame frame;
    frame.key = "key";
    ASSERT_EQ(over->enqueue(frame, {}, waiter).is, kv_connection::enqueue_result::added);
    std::optional<runtime::wait_end> end;
    const auto wait = [](kv_waiter* on,
                         std::optional<runtime::wait_end>* into) -> runtime::awaitable<void> {
        const auto got = co_await on->wait();
        *into = got;
    };
    boost::asio::co_spawn(world.executor(), wait(&waiter, &end), boost::asio::detached);
    world.run_for(1ms);
    link->server.reset();
    over->close(error{errc::closed, "end"});
    world.run_for(1ms);
    ASSERT_EQ(end, runtime::wait_end::notified);
    const kv_delivery got = waiter.take();
    ASSERT_TRUE(got.closed);
    EXPECT_FALSE(got.was_sent);
    ASSERT_TRUE(all.front().got);
}

}  // namespace
}  // namespace holdfast::couchbase_hostile_server_test
