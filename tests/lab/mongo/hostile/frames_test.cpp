#include "arena.hpp"
#include "core/mongo/wire/compression.hpp"
#include "generator.hpp"
#include "live_bytes.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace holdfast::lab::frames_test {
namespace {

using hostile::arena;
using hostile::bytes_view;
using hostile::generator;
using hostile::talker;
using proof::raw_message;
using bytes = std::vector<std::uint8_t>;

std::string body_of(std::string_view text)
{
    const bson::document made = json(text);
    return hostile::bytes_of(made.view().data(), made.size());
}

bool is_refusal(const bson::document& reply)
{
    return reply.get<double>("ok").value_or(1) == 0;
}

void set_int(bytes& in, std::size_t at, std::int32_t value)
{
    ASSERT_LE(at + sizeof value, in.size());
    std::memcpy(in.data() + at, &value, sizeof value);
}

class hostile_frames : public testing::Test {
protected:
    /// The connection ends, without a word.
    void expect_end(const bytes& message, std::string_view what)
    {
        const auto came = in.client.send(message);
        EXPECT_TRUE(came.closed) << what;
        EXPECT_FALSE(came.reply) << what;
        EXPECT_TRUE(in.answers_ping()) << what;
        in.client.hang_up();
    }
    void expect_code(const bytes& message, int code, std::string_view what)
    {
        const auto came = in.client.send(message);
        EXPECT_FALSE(came.closed) << what;
        ASSERT_TRUE(came.reply) << what;
        EXPECT_TRUE(hostile::is_answer(*came.reply));
        EXPECT_EQ(came.reply->get<std::int32_t>("code").value_or(0), code)
            << what << ": " << bson::to_json(*came.reply).value_or("?");
        EXPECT_TRUE(in.answers_ping()) << what;
    }

    arena in{{}};
    const std::string ping = body_of(R"({"ping":1,"$db":"admin"})");
};

TEST_F(hostile_frames, lengths_that_cannot_be)
{
    for (const std::int32_t length : {0, -1, 15, 20, 48'016'385, 0x7FFFFFFF, INT32_MIN}) {
        bytes message = talker::message(ping);
        set_int(message, 0, length);
        expect_end(message, "length " + std::to_string(length));
    }
}

TEST_F(hostile_frames, an_announced_message_costs_nothing_before_it_comes)
{
    const std::size_t before = hostile::live_bytes();
    bytes head = talker::message(ping);
    set_int(head, 0, 48'000'000);
    const auto came = in.client.send(head);
    EXPECT_FALSE(came.closed);
    EXPECT_FALSE(came.reply);
    EXPECT_LT(hostile::live_bytes(), before + 2 * core::mongo::max_message_size);
    in.client.hang_up();
    EXPECT_LT(hostile::live_bytes(), before + (1U << 20));
}

TEST_F(hostile_frames, unknown_and_legacy_opcodes_close_the_connection)
{
    for (const std::int32_t code : {0, 1, 2001, 2002, 2005, 2006, 2007, 2010, 2011, 9999, -1}) {
        raw_message message;
        message.header(code).int32(0).byte(0).text(ping);
        expect_end(message.done(), "code " + std::to_string(code));
    }
}

TEST_F(hostile_frames, every_beginning_of_a_message)
{
    const bytes whole = talker::message(ping);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto waits = in.client.send(bytes_view{whole}.first(size), 1 + size % 7);
        EXPECT_FALSE(waits.closed || waits.reply) << size;
        in.client.hang_up();
        if (size < 16)
            continue;
        bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        set_int(cut, 0, static_cast<std::int32_t>(size));
        const auto came = in.client.send(cut);
        EXPECT_TRUE(came.closed || (came.reply && hostile::is_answer(*came.reply))) << size;
        in.client.hang_up();
    }
    EXPECT_TRUE(in.answers_ping());
}

TEST_F(hostile_frames, flags_and_checksums)
{
    expect_end(talker::message(ping, 1 << 2), "an unknown flag that must be understood");
    constexpr std::int32_t checksum_present = 1;
    raw_message wrong;
    wrong.header(2013).int32(checksum_present).byte(0).text(ping).int32(12345);
    expect_end(wrong.done(), "a wrong checksum");
    raw_message none;
    none.header(2013).int32(checksum_present);
    expect_end(none.done(), "no room for a checksum");
}

TEST_F(hostile_frames, exhaust_with_more_to_come_gets_no_replies)
{
    constexpr std::int32_t more_to_come = 1 << 1;
    constexpr std::int32_t exhaust_allowed = 1 << 16;
    const std::string hello = body_of(R"({"hello":1,"$db":"admin","maxAwaitTimeMS":1,
        "topologyVersion":{"processId":{"$oid":"000000000000000000000000"},
        "counter":{"$numberLong":"0"}}})");
    const auto came = in.client.send(talker::message(hello, more_to_come | exhaust_allowed));
    EXPECT_FALSE(came.closed || came.waits);
    EXPECT_EQ(came.replies, 0U);
    EXPECT_TRUE(in.client.send(talker::message(ping)).reply);
}

TEST_F(hostile_frames, sections)
{
    const std::string insert = body_of(R"({"insert":"c","$db":"db"})");
    const std::string document = body_of(R"({"x":1})");
    const auto sequence = [&](raw_message& to, std::string_view name, std::int32_t extra) {
        to.byte(1)
            .int32(static_cast<std::int32_t>(4 + name.size() + 1 + document.size()) + extra)
            .cstring(name)
            .text(document);
    };
    const auto started = [&] { return raw_message{}.header(2013).int32(0); };
    for (const std::int32_t extra : {-1000, -20, -1, 1, 1000, 0x7FFFFF00}) {
        raw_message message = started();
        message.byte(0).text(insert);
        sequence(message, "documents", extra);
        expect_end(message.done(), "a sequence " + std::to_string(extra) + " bytes too long");
    }
    expect_end(started().done(), "no section");
    expect_end(started().byte(2).text(insert).done(), "a section of kind 2");
    expect_end(started().byte(0).text(insert).byte(0).text(insert).done(), "two bodies");
    raw_message only = started();
    sequence(only, "documents", 0);
    expect_end(only.done(), "no body");
    expect_end(started().byte(1).int32(4).byte(0).text(insert).done(), "a sequence of no name");

    raw_message twice = started();
    twice.byte(0).text(insert);
    sequence(twice, "documents", 0);
    sequence(twice, "documents", 0);
    const auto came = in.client.send(twice.done());
    EXPECT_TRUE(came.closed || is_refusal(*came.reply));
    in.client.hang_up();

    raw_message both = started();
    both.byte(0).text(body_of(R"({"insert":"c","documents":[{"y":1}],"$db":"db"})"));
    sequence(both, "documents", 0);
    const auto refused = in.client.send(both.done());
    ASSERT_TRUE(refused.closed || refused.reply);
    EXPECT_TRUE(refused.closed || is_refusal(*refused.reply));
    in.client.hang_up();
    raw_message many = started();
    many.byte(0).text(insert);
    for (int i = 0; i < 2000; ++i)
        sequence(many, "s" + std::to_string(i), 0);
    const auto crowd = in.client.send(many.done());
    EXPECT_TRUE(crowd.closed || is_refusal(*crowd.reply));
    EXPECT_TRUE(in.answers_ping());
}

TEST_F(hostile_frames, compression_that_lies)
{
    const bytes plain = talker::message(ping);
    for (const int with : {1, 2, 3}) {
        core::mongo::compression compressor;
        compressor.with = core::mongo::wire_compressor{static_cast<std::uint8_t>(with)};
        bson::byte_buffer out;
        const auto packed = core::mongo::compress_message(plain, compressor, out);
        ASSERT_TRUE(packed);
        const bytes whole(packed->begin(), packed->end());
        EXPECT_TRUE(in.client.send(whole).reply) << with;
        for (const std::int32_t claimed : {0, -1, 1, 47'999'000, 0x7FFFFFFF}) {
            bytes lie = whole;
            set_int(lie, 20, claimed);
            expect_end(lie, "unpacked size " + std::to_string(claimed));
        }
        bytes inner = whole;
        set_int(inner, 16, 2012);  // a packed message in a packed message
        expect_end(inner, "packed twice");
        for (std::size_t at = 24; at < whole.size(); ++at) {
            bytes spoiled = whole;
            spoiled[at] ^= 0xA5;
            const auto came = in.client.send(spoiled);
            EXPECT_TRUE(came.closed || came.reply) << with << " at " << at;
            in.client.hang_up();
        }
    }
    bytes unknown = raw_message{}.header(2012).int32(2013).int32(30).byte(77).text(ping).done();
    expect_end(unknown, "an unknown compressor");
    EXPECT_TRUE(in.answers_ping());
}

TEST_F(hostile_frames, queries_of_old)
{
    const auto query = [&](std::string_view ns, std::string_view body) {
        return raw_message{}.header(2004).int32(0).cstring(ns).int32(0).int32(-1).text(body).done();
    };
    expect_end(query("db.c", ping), "a query of data");
    expect_end(query(".$cmd", ping), "of no database");
    expect_end(query("admin.$cmd", "xyz"), "no document");
    expect_end(raw_message{}.header(2004).int32(0).text("admin.$cmd").done(), "a name without end");
    expect_end(raw_message{}.header(2004).done(), "nothing at all");
    const auto came = in.client.send(query("admin.$cmd", ping));
    EXPECT_TRUE(came.closed || came.reply);
    const auto empty = in.client.send(query("admin.$cmd", std::string("\5\0\0\0\0", 5)));
    EXPECT_TRUE(empty.closed || empty.reply);
    EXPECT_TRUE(in.answers_ping());
}

TEST_F(hostile_frames, documents_that_are_none)
{
    constexpr int invalid_bson = 22;
    expect_code(talker::message(std::string("\5\0\0\0\0", 5)), 40571, "an empty command");
    const std::string bad_type = std::string(
                                     "\x0B\0\0\0\x20"
                                     "a\0\1\0\0\0",
                                     11) +
                                 '\0';
    std::string fixed = bad_type;
    fixed[0] = static_cast<char>(fixed.size());
    expect_code(talker::message(fixed), invalid_bson, "an unknown type");
    hostile::tree deep{0x03};
    for (int i = 0; i < 3'000; ++i) {
        hostile::tree around{0x03};
        deep.key = "a";
        around.inside.push_back(std::move(deep));
        deep = std::move(around);
    }
    std::string nested;
    write_tree(deep, nested);
    expect_code(talker::message(nested), 15, "too deep");
}

TEST_F(hostile_frames, spoiled_messages)
{
    generator chance{7};
    for (int i = 0; i < 5'000; ++i) {
        const bytes whole = talker::message(chance.command(1));
        std::string spoiled = hostile::bytes_of(whole.data(), whole.size());
        chance.spoil(spoiled);
        bytes message(spoiled.begin(), spoiled.end());
        if (!chance.once_in(4) && message.size() >= 4)
            set_int(message, 0, static_cast<std::int32_t>(message.size()));
        const auto came = in.client.send(message, 1 + chance.below(5000));
        EXPECT_TRUE(!came.reply || hostile::is_answer(*came.reply)) << i;
        in.client.hang_up();
        if (i % 100 == 0) {
            in.calm();
            EXPECT_TRUE(in.answers_ping()) << i;
        }
    }
}

}  // namespace
}  // namespace holdfast::lab::frames_test
