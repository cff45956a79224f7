#include "core/mongo/wire/legacy_query.hpp"

#include "holdfast/bson/document.hpp"
#include "support/raw_message.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::legacy_query_test {
namespace {

using bson::doc;
using bytes = std::vector<std::uint8_t>;
using proof::raw_message;

TEST(legacy_query, op_query_bytes_match_the_protocol)
{
    bson::byte_buffer out;
    legacy_query_builder builder{out, request_id{7}};
    builder.command().add("isMaster", 1).add("helloOk", true);
    const auto message = builder.finish().value();
    const bytes expected = raw_message{}
                               .header(2004, 7, 0)
                               .int32(4)  // a secondary may answer
                               .cstring("admin.$cmd")
                               .int32(0)
                               .int32(-1)
                               .document(doc("isMaster", 1, "helloOk", true))
                               .done();
    EXPECT_EQ(bytes(message.begin(), message.end()), expected);
}

TEST(legacy_query, mistake_in_the_command_is_an_error)
{
    using namespace std::string_view_literals;
    bson::byte_buffer out;
    legacy_query_builder builder{out, request_id{7}};
    builder.command().add("a\0b"sv, 1);
    EXPECT_EQ(builder.finish().error().code(), bson::errc::invalid_key);
}

raw_message op_reply(std::int32_t flags, std::int32_t count)
{
    return raw_message{}.header(1).int32(flags).int64(0).int32(0).int32(count);
}

TEST(legacy_reply, op_reply_document_is_read_in_place)
{
    const bytes raw = op_reply(8, 1).document(doc("ismaster", true)).done();
    const message read = parse_reply(raw).value();
    EXPECT_EQ(read.body, doc("ismaster", true).view());
    EXPECT_EQ(read.body.data(), raw.data() + 36);
    EXPECT_EQ(read.header.response_to, request_id{5});
    EXPECT_TRUE(read.sequences.empty());
}

TEST(legacy_reply, malformed_op_reply_error_names_the_offset)
{
    const bson::document ok = doc("ok", 1);
    struct row {
        const char* why;
        bytes raw;
        errc expected;
        const char* offset;
    };
    const row table[] = {
        {"cut", raw_message{}.header(1).int32(0).int64(0).int32(0).byte(1).done(),
         errc::malformed_message, "33"},
        {"no document", op_reply(0, 0).done(), errc::malformed_message, "32"},
        {"two documents", op_reply(0, 2).document(ok).document(ok).done(), errc::malformed_message,
         "32"},
        {"minus one", op_reply(0, -1).document(ok).done(), errc::malformed_message, "32"},
        {"more than it says", op_reply(0, 1).document(ok).document(ok).done(),
         errc::malformed_message, "36"},
        {"less than it says", op_reply(0, 1).done(), errc::malformed_message, "36"},
        {"about a cursor", op_reply(1, 1).document(ok).done(), errc::unsupported_message, "16"},
    };
    for (const row& r : table) {
        const auto read = parse_reply(r.raw);
        ASSERT_FALSE(read) << r.why;
        EXPECT_EQ(read.error().code(), r.expected) << r.why;
        EXPECT_EQ(read.error().context("offset"), r.offset) << r.why;
    }
}

}  // namespace
}  // namespace holdfast::core::mongo::legacy_query_test
