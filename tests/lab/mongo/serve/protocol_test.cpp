#include "core/mongo/wire/compression.hpp"
#include "core/mongo/wire/legacy_query.hpp"
#include "lab/mongo/serve/served_node.hpp"
#include "support/raw_message.hpp"

namespace holdfast::lab::mongo::protocol_test {
namespace {

using core::mongo::message_flags;
using core::mongo::op_code;
using core::mongo::wire_compressor;
using proof::raw_message;

class protocol : public served_node {
protected:
    void SetUp() override { start(); }

    bson::document ping_ = bson::doc("ping", 1, "$db", "admin");
};

TEST_F(protocol, a_ping_is_answered)
{
    auto client = connect();
    const auto reply = run(*client, ping_);
    EXPECT_EQ(text_of(reply), R"({"ok":1.0})");
    EXPECT_EQ(client->last_response_to, 101);
    EXPECT_FALSE(client->more_to_come);
}

TEST_F(protocol, several_messages_in_one_write_are_answered_in_order)
{
    auto client = connect();
    for (int i = 0; i < 5; ++i)
        send(*client, ping_);
    for (int i = 101; i <= 105; ++i) {
        EXPECT_TRUE(ok(receive(*client)));
        EXPECT_EQ(client->last_response_to, i);
    }
}

TEST_F(protocol, message_with_more_to_come_gets_no_reply)
{
    auto client = connect();
    message_flags flags;
    flags.more_to_come = true;
    send(*client, bson::doc("noSuchThing", 1, "$db", "admin"), flags);
    send(*client, ping_);
    EXPECT_TRUE(ok(receive(*client)));
    EXPECT_EQ(client->last_response_to, 102);
}

TEST_F(protocol, a_checksum_is_checked_and_answered_with_one)
{
    auto client = connect();
    message_flags flags;
    flags.checksum_present = true;
    send(*client, ping_, flags);
    const auto bytes = receive_bytes(*client);
    const auto reply = core::mongo::parse_message(bytes);
    ASSERT_TRUE(reply);
    EXPECT_TRUE(reply->flags.checksum_present);

    bson::byte_buffer out;
    core::mongo::message_builder message{out, request_id{1}, flags};
    message.command().merge(ping_);
    const auto made = message.finish().value();
    std::vector<std::uint8_t> wrong(made.begin(), made.end());
    wrong.back() ^= 1;
    send_bytes(*client, wrong);
    EXPECT_TRUE(receive_bytes(*client).empty());
    EXPECT_TRUE(client->closed);
}

TEST_F(protocol, op_query_hello_gets_an_op_reply)
{
    auto client = connect();
    bson::byte_buffer out;
    core::mongo::legacy_query_builder query{out, request_id{7}};
    query.command().add("isMaster", 1).add("helloOk", true);
    send_bytes(*client, query.finish().value());
    const auto reply = receive(*client);
    EXPECT_EQ(client->last_code, op_code::reply);
    EXPECT_EQ(client->last_response_to, 7);
    EXPECT_TRUE(ok(reply)) << text_of(reply);
    EXPECT_TRUE(reply.get<bool>("ismaster").value_or(false));
    EXPECT_TRUE(reply.get<bool>("helloOk").value_or(false));
    EXPECT_EQ(reply.get<int>("maxWireVersion").value_or(0), 27);
}

TEST_F(protocol, a_wrapped_legacy_hello_is_unwrapped)
{
    auto client = connect();
    bson::byte_buffer out;
    core::mongo::legacy_query_builder query{out, request_id{7}};
    query.command().add("$query", bson::doc("ismaster", 1));
    send_bytes(*client, query.finish().value());
    EXPECT_TRUE(ok(receive(*client)));
}

TEST_F(protocol, op_query_is_accepted_for_hello_only)
{
    auto client = connect();
    bson::byte_buffer out;
    core::mongo::legacy_query_builder query{out, request_id{7}};
    query.command().add("ping", 1);
    send_bytes(*client, query.finish().value());
    EXPECT_EQ(code_of(receive(*client)), 352);
}

TEST_F(protocol, replies_are_compressed_as_the_request_was)
{
    for (const auto with :
         {wire_compressor::snappy, wire_compressor::zlib, wire_compressor::zstd}) {
        auto client = connect();
        bson::byte_buffer plain;
        core::mongo::message_builder message{plain, request_id{9}};
        message.command().merge(ping_);
        const auto made = message.finish().value();
        bson::byte_buffer packed;
        core::mongo::compression compressor;
        compressor.with = with;
        send_bytes(*client, core::mongo::compress_message(made, compressor, packed).value());
        const auto bytes = receive_bytes(*client);
        ASSERT_GT(bytes.size(), 25U);
        EXPECT_EQ(core::mongo::parse_header(bytes).value().code, op_code::compressed);
        EXPECT_EQ(bytes[24], static_cast<std::uint8_t>(with));
        bson::byte_buffer unpacked;
        const auto inner = core::mongo::decompress_message(bytes, unpacked);
        ASSERT_TRUE(inner);
        const auto reply = core::mongo::parse_message(*inner);
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->header.response_to.value(), 9);
        EXPECT_EQ(reply->body.get<double>("ok").value_or(0), 1);
    }
}

TEST_F(protocol, secrets_are_not_compressed)
{
    auto client = connect();
    bson::byte_buffer plain;
    core::mongo::message_builder message{plain, request_id{9}};
    message.command().add("saslContinue", 1).add("conversationId", 1).add("$db", "admin");
    const auto made = message.finish().value();
    bson::byte_buffer packed;
    core::mongo::compression compressor;
    compressor.with = wire_compressor::zlib;
    send_bytes(*client, core::mongo::compress_message(made, compressor, packed).value());
    EXPECT_EQ(code_of(receive(*client)), 17);
    EXPECT_EQ(client->last_code, op_code::msg);
}

TEST_F(protocol, an_exhaust_command_answers_again_and_again)
{
    auto client = connect();
    message_flags flags;
    flags.exhaust_allowed = true;
    send(*client, bson::doc("stream", 1, "$db", "admin"), flags);
    std::int32_t before = 101;
    for (int part = 1; part <= 3; ++part) {
        const auto reply = receive(*client);
        EXPECT_EQ(reply.get<std::int64_t>("part").value_or(0), part);
        EXPECT_EQ(client->more_to_come, part < 3);
        EXPECT_EQ(client->last_response_to, before);
        before = client->last_request;
    }
    EXPECT_TRUE(ok(run(*client, ping_)));
    send(*client, bson::doc("stream", 1, "$db", "admin"));
    receive(*client);
    EXPECT_FALSE(client->more_to_come) << "exhaustAllowed was not set";
}

TEST_F(protocol, a_handler_can_close_the_connection)
{
    auto client = connect();
    EXPECT_TRUE(run(*client, bson::doc("close", 1, "$db", "admin")).empty());
    EXPECT_TRUE(client->closed);
    net.run_for(1s);
    EXPECT_EQ(port->connections(), 0U);
    EXPECT_EQ(server->open_connections, 0);
}

TEST_F(protocol, malformed_message_ends_only_its_connection)
{
    const auto command = bson::doc("ping", 1, "$db", "admin");
    auto cut = raw_message{}.header(2013).int32(0).byte(0).document(command).done();
    cut.resize(cut.size() - 1);
    cut[0] = static_cast<std::uint8_t>(cut.size());
    auto too_long = raw_message{}.header(2013).int32(0).byte(0).document(command).done();
    too_long[3] = 0x7F;
    const std::vector<std::uint8_t> inputs[] = {
        raw_message{}.header(2013).done(),
        raw_message{}.header(2013).int32(1 << 7).byte(0).document(command).done(),
        raw_message{}.header(2013).int32(0).byte(5).document(command).done(),
        raw_message{}.header(2013).int32(0).byte(1).int32(3).done(),
        raw_message{}.header(2012).int32(2013).int32(100).byte(1).text("garbage").done(),
        raw_message{}.header(2012).int32(2013).int32(0x7FFFFFFF).byte(2).text("x").done(),
        raw_message{}.header(2012).int32(2012).int32(4).byte(0).text("abcd").done(),
        raw_message{}.header(2004).int32(0).done(),
        raw_message{}.header(2004).int32(0).text("admin").done(),
        raw_message{}.header(2004).int32(0).cstring("sea.boats").int32(0).int32(-1).done(),
        raw_message{}.header(1).int32(0).done(),
        raw_message{}.header(2002).int32(0).done(),
        cut,
        too_long,
    };
    for (const auto& input : inputs) {
        auto client = connect();
        send_bytes(*client, input);
        EXPECT_TRUE(receive_bytes(*client).empty());
        EXPECT_TRUE(client->closed);
    }
    auto client = connect();
    EXPECT_TRUE(ok(run(*client, ping_)));
}

TEST_F(protocol, a_document_that_is_no_bson_is_refused)
{
    auto client = connect();
    bson::byte_buffer out;
    core::mongo::message_builder message{out, request_id{1}};
    message.command().add("ping", 1).add("x", bson::doc("y", "text")).add("$db", "admin");
    const auto made = message.finish().value();
    std::vector<std::uint8_t> wrong(made.begin(), made.end());
    const std::string_view text{reinterpret_cast<const char*>(wrong.data()), wrong.size()};
    wrong[text.find("text") - 4] = 77;  // the length of the string
    send_bytes(*client, wrong);
    EXPECT_EQ(code_of(receive(*client)), 22);
    EXPECT_TRUE(ok(run(*client, ping_)));
}

TEST_F(protocol, documents_that_are_too_deep_or_too_large_are_refused)
{
    auto client = connect();
    bson::document deep = bson::doc("x", 1);
    for (int i = 0; i < 300; ++i)
        deep = bson::doc("x", deep);
    EXPECT_EQ(code_of(run(*client, bson::doc("ping", 1, "x", deep, "$db", "admin"))), 15);
    const std::string large(17 << 20, 'x');
    EXPECT_EQ(code_of(run(*client, bson::doc("ping", 1, "x", large, "$db", "admin"))), 10334);
    EXPECT_TRUE(ok(run(*client, ping_)));
}

TEST_F(protocol, an_empty_command_is_unknown)
{
    auto client = connect();
    EXPECT_EQ(code_of(run(*client, bson::document{})), 40571);
}

TEST_F(protocol, stopped_port_ends_its_connections)
{
    auto client = connect();
    auto waiting = connect();
    EXPECT_TRUE(ok(run(*client, ping_)));
    send(*waiting, bson::doc("wait", 1, "$db", "admin"));
    net.run_for(10ms);
    EXPECT_EQ(port->connections(), 2U);
    port->stop();
    EXPECT_TRUE(receive_bytes(*client).empty());
    EXPECT_TRUE(receive_bytes(*waiting).empty());
    EXPECT_EQ(port->connections(), 0U);
    port.reset();
    net.run_for(1s);
    EXPECT_EQ(net.left().listeners, 0U);
    EXPECT_EQ(net.left().alarms, 0U);
}

TEST_F(protocol, a_port_may_go_without_being_stopped)
{
    auto waiting = connect();
    send(*waiting, bson::doc("wait", 1, "$db", "admin"));
    net.run_for(10ms);
    port.reset();
    behind.reset();
    server.reset();
    EXPECT_TRUE(receive_bytes(*waiting).empty());
    net.run_for(10s);
    EXPECT_EQ(net.left().alarms, 0U);
}

TEST_F(protocol, a_crash_leaves_nothing_behind)
{
    for (const bool port_first : {true, false}) {
        auto client = connect();
        auto waiting = connect();
        EXPECT_TRUE(ok(run(*client, ping_)));
        send(*waiting, bson::doc("wait", 1, "$db", "admin"));
        net.run_for(10ms);
        if (port_first)
            port.reset();
        there.crash();
        port.reset();
        behind.reset();
        server.reset();
        EXPECT_TRUE(receive_bytes(*client).empty());
        EXPECT_TRUE(receive_bytes(*waiting).empty());
        there.restart([this](sim::host&) { start(); });
        auto again = connect();
        EXPECT_TRUE(ok(run(*again, ping_)));
    }
}

TEST_F(protocol, connections_can_be_closed_while_the_port_stays)
{
    auto client = connect();
    EXPECT_TRUE(ok(run(*client, ping_)));
    port->close_connections(true);
    EXPECT_TRUE(receive_bytes(*client).empty());
    auto again = connect();
    EXPECT_TRUE(ok(run(*again, ping_)));
}

}  // namespace
}  // namespace holdfast::lab::mongo::protocol_test
