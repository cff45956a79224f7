#include "core/mongo/wire/message.hpp"

#include "core/mongo/wire/crc32c.hpp"
#include "holdfast/bson/document.hpp"
#include "support/raw_message.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::message_test {
namespace {

using bson::doc;
using bytes = std::vector<std::uint8_t>;
using proof::raw_message;

raw_message op_msg(std::uint32_t flags = 0)
{
    return raw_message{}.header(2013).int32(static_cast<std::int32_t>(flags));
}

bytes with_checksum(bytes message, std::uint32_t change = 0)
{
    const auto length = static_cast<std::int32_t>(message.size() + 4);
    std::memcpy(message.data(), &length, 4);
    const std::uint32_t crc = crc32c(message) ^ change;
    return raw_message{}.bytes(message).int32(static_cast<std::int32_t>(crc)).done();
}

TEST(message, body_points_into_the_buffer)
{
    const bytes raw = op_msg(0x10002).byte(0).document(doc("ok", 1)).done();
    const message read = parse_message(raw).value();
    EXPECT_EQ(read.header.request, request_id{7});
    EXPECT_EQ(read.header.response_to, request_id{5});
    EXPECT_EQ(read.flags, (message_flags{.more_to_come = true, .exhaust_allowed = true}));
    EXPECT_EQ(read.body, doc("ok", 1).view());
    EXPECT_EQ(read.body.data(), raw.data() + 21);
    EXPECT_TRUE(read.sequences.empty());
}

TEST(message, body_section_may_stand_between_sequences)
{
    const bytes raw = op_msg()
                          .byte(1)
                          .int32(4 + 2 + 12 + 12)
                          .cstring("a")
                          .document(doc("x", 1))
                          .document(doc("x", 2))
                          .byte(0)
                          .document(doc("ok", 1))
                          .byte(1)
                          .int32(4 + 1)
                          .cstring("")
                          .done();
    const message read = parse_message(raw).value();
    EXPECT_EQ(read.body, doc("ok", 1).view());

    auto sequence = read.sequences.begin();
    EXPECT_EQ((*sequence).identifier, "a");
    std::vector<bson::document> documents;
    for (const bson::view each : *sequence)
        documents.emplace_back(each);
    EXPECT_EQ(documents, (std::vector{doc("x", 1), doc("x", 2)}));
    ++sequence;
    EXPECT_EQ((*sequence).identifier, "");
    EXPECT_TRUE((*sequence).empty());
    ++sequence;
    EXPECT_EQ(sequence, read.sequences.end());
}

TEST(message, unknown_required_flag_bits_are_refused)
{
    for (int bit = 0; bit < 32; ++bit) {
        const std::uint32_t flag = 1U << bit;
        bytes raw = op_msg(flag).byte(0).document(doc("ok", 1)).done();
        if (bit == 0)
            raw = with_checksum(raw);
        const auto read = parse_message(raw);
        EXPECT_EQ(read.has_value(), bit < 2 || bit > 15) << bit;
        if (!read) {
            EXPECT_EQ(read.error().code(), errc::unsupported_message) << bit;
            EXPECT_EQ(read.error().context("offset"), "16") << bit;
        }
    }
}

TEST(message, wrong_checksum_is_refused)
{
    const bytes raw = op_msg(1).byte(0).document(doc("ok", 1)).done();
    EXPECT_TRUE(parse_message(with_checksum(raw)).value().flags.checksum_present);
    for (int bit = 0; bit < 32; ++bit) {
        const auto read = parse_message(with_checksum(raw, 1U << bit));
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code(), errc::checksum_mismatch);
    }
    bytes changed = with_checksum(raw);
    changed[30] ^= 1;
    EXPECT_EQ(parse_message(changed).error().code(), errc::checksum_mismatch);
}

TEST(message, malformed_op_msg_error_names_the_offset)
{
    const bson::document ok = doc("ok", 1);  // 13 bytes
    struct row {
        const char* why;
        bytes raw;
        errc expected;
        const char* offset;
    };
    const row table[] = {
        {"no flags", raw_message{}.header(2013).byte(0).done(), errc::malformed_message, "17"},
        {"no section", op_msg().done(), errc::malformed_message, "20"},
        {"no body", op_msg().byte(1).int32(6).cstring("a").done(), errc::malformed_message, "27"},
        {"two bodies", op_msg().byte(0).document(ok).byte(0).document(ok).done(),
         errc::malformed_message, "34"},
        {"section kind 2", op_msg().byte(2).document(ok).done(), errc::unsupported_message, "20"},
        {"body beyond the end", op_msg().byte(0).int32(6).byte(0).done(), errc::malformed_message,
         "21"},
        {"body too short", op_msg().byte(0).int32(4).byte(0).done(), errc::malformed_message, "21"},
        {"body negative", op_msg().byte(0).int32(-5).byte(0).done(), errc::malformed_message, "21"},
        {"body without zero", op_msg().byte(0).int32(5).byte(1).done(), errc::malformed_message,
         "21"},
        {"sequence cut in its length", op_msg().byte(0).document(ok).byte(1).byte(9).done(),
         errc::malformed_message, "35"},
        {"sequence of four bytes", op_msg().byte(0).document(ok).byte(1).int32(4).done(),
         errc::malformed_message, "35"},
        {"sequence beyond the end",
         op_msg().byte(0).document(ok).byte(1).int32(7).cstring("a").done(),
         errc::malformed_message, "35"},
        {"sequence negative", op_msg().byte(0).document(ok).byte(1).int32(-6).cstring("a").done(),
         errc::malformed_message, "35"},
        {"identifier without end", op_msg().byte(0).document(ok).byte(1).int32(6).text("ab").done(),
         errc::malformed_message, "39"},
        {"document beyond its sequence",
         op_msg().byte(1).int32(4 + 2 + 5).cstring("a").document(ok).byte(0).document(ok).done(),
         errc::malformed_message, "27"},
        {"half a document in a sequence",
         op_msg().byte(0).document(ok).byte(1).int32(4 + 2 + 3).cstring("a").text("abc").done(),
         errc::malformed_message, "41"},
        {"no checksum", op_msg(1).done(), errc::malformed_message, "20"},
        {"another operation", raw_message{}.header(2004).int32(0).done(), errc::unsupported_message,
         "12"},
    };
    for (const row& r : table) {
        const auto read = parse_message(r.raw);
        ASSERT_FALSE(read) << r.why;
        EXPECT_EQ(read.error().code(), r.expected) << r.why;
        EXPECT_EQ(read.error().context("offset"), r.offset) << r.why << read.error().message();
        EXPECT_NE(read.error().message().find(std::string{"offset "} + r.offset),
                  std::string::npos);
    }
}

TEST(message, truncated_message_is_refused_at_every_length)
{
    const bytes raw = op_msg()
                          .byte(0)
                          .document(doc("insert", "fish", "$db", "sea"))
                          .byte(1)
                          .int32(4 + 2 + 12)
                          .cstring("a")
                          .document(doc("x", 1))
                          .done();
    for (std::size_t size = 0; size < raw.size(); ++size) {
        bytes cut{raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(size)};
        EXPECT_FALSE(parse_message(cut)) << size;
        if (size < 16)
            continue;
        const auto length = static_cast<std::int32_t>(size);
        std::memcpy(cut.data(), &length, 4);
        const bool ends_with_a_section = size == 21 + doc("insert", "fish", "$db", "sea").size();
        EXPECT_EQ(parse_message(cut).has_value(), ends_with_a_section) << size;
    }
}

TEST(reply, only_op_msg_and_op_reply_are_accepted)
{
    const auto in = [](std::int32_t code) {
        return raw_message{}.header(code).int32(0).byte(0).document(doc("ok", 1)).done();
    };
    EXPECT_EQ(parse_reply(in(2013)).value().body, doc("ok", 1).view());
    EXPECT_EQ(parse_reply(in(2004)).error().code(), errc::unsupported_message);
    EXPECT_EQ(parse_reply(in(2012)).error().code(), errc::unsupported_message);
    EXPECT_EQ(parse_reply(in(2013), 20).error().code(), errc::message_too_large);
}

}  // namespace
}  // namespace holdfast::core::mongo::message_test
