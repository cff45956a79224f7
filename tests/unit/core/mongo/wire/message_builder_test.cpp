#include "core/mongo/wire/message_builder.hpp"

#include "core/mongo/wire/crc32c.hpp"
#include "core/mongo/wire/message.hpp"
#include "holdfast/bson/document.hpp"
#include "support/raw_message.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::message_builder_test {
namespace {

using bson::doc;
using bytes = std::vector<std::uint8_t>;

bytes copy(std::span<const std::uint8_t> view)
{
    return {view.begin(), view.end()};
}

TEST(message_builder, op_msg_bytes_match_the_protocol)
{
    bson::byte_buffer out;
    message_builder builder{out, request_id{7}, {}, request_id{5}};
    builder.command().add("ping", 1);
    const bytes expected = {36, 0, 0, 0,  7, 0, 0, 0,    5,   0,   0,   0,   0xDD, 7, 0, 0, 0, 0,
                            0,  0, 0, 15, 0, 0, 0, 0x10, 'p', 'i', 'n', 'g', 0,    1, 0, 0, 0, 0};
    EXPECT_EQ(copy(builder.finish().value()), expected);
}

TEST(message_builder, document_sequences_follow_the_command)
{
    bson::byte_buffer out;
    message_builder builder{out, request_id{7}, {}, request_id{5}};
    builder.command().add("insert", "fish");
    {
        auto documents = builder.sequence("documents");
        documents.add(doc("a", 1));
        documents.write([](bson::builder& one) { one.add("b", true); });
        EXPECT_EQ(documents.count(), 2U);
    }
    {
        auto empty = builder.sequence("none");
        EXPECT_EQ(empty.count(), 0U);
    }
    const auto expected = proof::raw_message{}
                              .header(2013)
                              .int32(0)
                              .byte(0)
                              .document(doc("insert", "fish"))
                              .byte(1)
                              .int32(4 + 10 + 12 + 9)
                              .cstring("documents")
                              .document(doc("a", 1))
                              .document(doc("b", true))
                              .byte(1)
                              .int32(4 + 5)
                              .cstring("none")
                              .done();
    EXPECT_EQ(copy(builder.finish().value()), expected);
}

TEST(message_builder, flags_are_written_as_bits)
{
    struct row {
        message_flags flags;
        std::uint32_t bits;
    };
    for (const row& r : {row{{}, 0}, row{{.checksum_present = true}, 1},
                         row{{.more_to_come = true}, 2}, row{{.exhaust_allowed = true}, 0x10000}}) {
        bson::byte_buffer out;
        message_builder builder{out, request_id{1}, r.flags};
        const auto message = builder.finish().value();
        EXPECT_EQ(bson::load<std::uint32_t>(message.data() + 16), r.bits);
        EXPECT_EQ(parse_message(message).value().flags, r.flags);
    }
}

TEST(message_builder, checksum_covers_the_whole_message)
{
    bson::byte_buffer out;
    out.grow(3);  // a message need not begin where its buffer does
    message_builder builder{out, request_id{1}, {.checksum_present = true}};
    builder.command().add("ping", 1);
    builder.sequence("s").add(doc("x", 1));
    const auto message = builder.finish().value();
    const std::size_t covered = message.size() - 4;
    EXPECT_EQ(bson::load<std::uint32_t>(message.data() + covered), crc32c(message.first(covered)));
    EXPECT_EQ(bson::load<std::uint32_t>(message.data()), message.size());
}

TEST(message_builder, consecutive_messages_share_one_buffer)
{
    bson::byte_buffer out;
    const auto ping = [&](int id) {
        message_builder builder{out, request_id{id}};
        builder.command().add("ping", 1);
        return builder.finish().value().size();
    };
    const std::size_t first = ping(1);
    const std::size_t second = ping(2);
    ASSERT_EQ(out.size(), first + second);
    EXPECT_EQ(parse_message(out.bytes().subspan(first)).value().header.request, request_id{2});

    const std::uint8_t* const memory = out.data();
    out.clear();
    ping(3);
    EXPECT_EQ(out.data(), memory);
    EXPECT_EQ(parse_message(out.bytes()).value().header.request, request_id{3});
}

TEST(message_builder, drop_last_removes_the_last_document)
{
    bson::byte_buffer out;
    message_builder builder{out, request_id{1}};
    {
        auto documents = builder.sequence("documents");
        documents.add(doc("a", 1));
        const std::size_t before = builder.size();
        documents.add(doc("b", 2));
        documents.drop_last();
        EXPECT_EQ(builder.size(), before);
        EXPECT_EQ(documents.count(), 1U);
        documents.add(doc("c", 3));
    }
    const message read = parse_message(builder.finish().value()).value();
    std::vector<bson::document> seen;
    for (const message_sequence& sequence : read.sequences) {
        for (const bson::view each : sequence)
            seen.emplace_back(each);
    }
    EXPECT_EQ(seen, (std::vector{doc("a", 1), doc("c", 3)}));
}

TEST(message_builder, finish_reports_mistakes_of_every_part)
{
    using namespace std::string_view_literals;
    const auto code_after = [](auto&& mistake) {
        bson::byte_buffer out;
        message_builder builder{out, request_id{1}};
        mistake(builder);
        return builder.finish().error().code();
    };
    EXPECT_EQ(code_after([](auto& b) { b.command().add("a\0b"sv, 1); }), bson::errc::invalid_key);
    EXPECT_EQ(code_after([](auto& b) { b.sequence("a\0b"sv); }), bson::errc::invalid_key);
    EXPECT_EQ(code_after([](auto& b) {
                  b.sequence("s").write([](bson::builder& d) { d.add("a\0b"sv, 1); });
              }),
              bson::errc::invalid_key);
}

TEST(message_builder, message_above_the_limit_is_too_large)
{
    const auto finish_within = [](std::size_t limit) {
        bson::byte_buffer out;
        message_builder builder{out, request_id{1}, {.checksum_present = true}};
        builder.command().add("ping", 1);
        return builder.finish(limit);
    };
    EXPECT_TRUE(finish_within(40));
    EXPECT_EQ(finish_within(39).error().code(), errc::message_too_large);
}

}  // namespace
}  // namespace holdfast::core::mongo::message_builder_test
