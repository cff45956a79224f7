#include "core/couchbase/wire/frame_writer.hpp"

#include "core/couchbase/wire/big_endian.hpp"
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/value.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/octets.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::frame_writer_test {
namespace {

using holdfast::couchbase::errc;
using proof::copy_of;
using proof::from_hex;
using proof::octets;

octets written(const request_frame& request)
{
    bson::byte_buffer out;
    EXPECT_EQ(write_request(out, request).value(), 0U);
    return copy_of(out.bytes());
}

frame parsed(const bson::byte_buffer& out)
{
    return std::get<frame>(next_frame(out.bytes()).value());
}

TEST(frame_writer, get_with_a_collection_prefix_is_byte_for_byte_as_the_protocol_has_it)
{
    EXPECT_EQ(written({.opcode = kv_opcode::get,
                       .opaque = 0x00000401,
                       .vbucket = 0x0155,
                       .collection = 0x555,
                       .key = "ab"}),
              from_hex("80 00 0004 00 00 0155 00000004 00000401 0000000000000000"
                       "d50a 6162"));
}

TEST(frame_writer, durable_upsert_is_an_alt_request)
{
    kv_extras extras;
    extras.add(std::uint32_t{0x02000006}).add(std::uint32_t{0});
    EXPECT_EQ(written({.opcode = kv_opcode::upsert,
                       .opaque = 7,
                       .vbucket = 1,
                       .cas = 0x0102,
                       .datatype = kv_datatype::json,
                       .infos = {.durability = kv_durability::majority, .preserve_expiry = true},
                       .extras = extras.bytes(),
                       .collection = default_collection,
                       .key = "k",
                       .value = as_octets("{}")}),
              from_hex("08 01 03 02 08 01 0001 0000000f 00000007 0000000000000102"
                       "11 01 50"
                       "02000006 00000000"
                       "00 6b"
                       "7b7d"));
}

TEST(frame_writer, reply_with_a_server_duration_is_an_alt_response)
{
    bson::byte_buffer out;
    kv_extras flags;
    flags.add(std::uint32_t{0x02000006});
    write_reply(out, {.opcode = kv_opcode::get,
                      .opaque = 9,
                      .cas = 1,
                      .datatype = kv_datatype::json,
                      .infos = {.server_duration = std::chrono::microseconds{1510}},
                      .extras = flags.bytes(),
                      .value = as_octets("{}")})
        .value();
    EXPECT_EQ(copy_of(out.bytes()),
              from_hex("18 00 03 00 04 01 0000 00000009 00000009 0000000000000001"
                       "02 0064"
                       "02000006"
                       "7b7d"));
}

TEST(frame_writer, plain_reply_carries_its_status)
{
    bson::byte_buffer out;
    write_reply(out, {.opcode = kv_opcode::select_bucket,
                      .opaque = 3,
                      .status = kv_status::no_access,
                      .key = "k"})
        .value();
    EXPECT_EQ(copy_of(out.bytes()),
              from_hex("81 89 0001 00 00 0024 00000001 00000003 0000000000000000 6b"));
}

TEST(frame_writer, notification_and_its_answer_have_magics_of_their_own)
{
    bson::byte_buffer out;
    kv_extras revision;
    revision.add(std::uint64_t{1}).add(std::uint64_t{42});
    write_server_request(out, {.opaque = 5,
                               .datatype = kv_datatype::json,
                               .extras = revision.bytes(),
                               .key = "travel",
                               .value = as_octets("{}")})
        .value();
    const frame asked = parsed(out);
    EXPECT_EQ(asked.header.magic, kv_magic::server_request);
    EXPECT_EQ(asked.server_opcode(), kv_server_opcode::clustermap_change_notification);
    EXPECT_EQ(as_text(asked.key()), "travel");
    EXPECT_EQ(copy_of(asked.extras()), from_hex("0000000000000001 000000000000002a"));
    out.clear();
    write_server_response(out, kv_server_opcode::clustermap_change_notification, 5,
                          kv_status::success);
    EXPECT_EQ(copy_of(out.bytes()),
              from_hex("83 01 0000 00 00 0000 00000000 00000005 0000000000000000"));
}

TEST(frame_writer, frames_are_appended_to_what_the_buffer_holds)
{
    bson::byte_buffer out;
    EXPECT_EQ(write_request(out, {.key = "a"}).value(), 0U);
    EXPECT_EQ(write_request(out, {.key = "b"}).value(), 25U);
    EXPECT_EQ(out.size(), 50U);
}

TEST(frame_writer, frame_that_does_not_fit_is_refused_and_nothing_written)
{
    bson::byte_buffer out;
    write_request(out, {.key = "kept"}).value();
    const auto refusal = [&](const request_frame& request, std::size_t limit = max_body_size) {
        const auto failed = write_request(out, request, limit);
        EXPECT_FALSE(failed.has_value());
        EXPECT_EQ(out.size(), 28U);
        return failed ? error{errc::generic_failure, "none"} : failed.error();
    };
    const std::string key(65'535, 'k');
    EXPECT_EQ(refusal({.collection = 1, .key = key}).message(),
              "a key of 65536 bytes; a frame of this kind holds at most 65535");
    EXPECT_EQ(refusal({.infos = {.preserve_expiry = true},
                       .collection = 1,
                       .key = std::string_view{key}.substr(0, 255)})
                  .code(),
              errc::invalid_argument);
    EXPECT_EQ(refusal({.extras = octets(256)}).code(), errc::invalid_argument);
    EXPECT_EQ(refusal({.infos = {.impersonate_user = std::string_view{key}.substr(0, 201)}}).code(),
              errc::invalid_argument);
    for (const bool may_compress : {false, true}) {
        const octets value(100);
        const error large = refusal({.may_compress = may_compress, .key = "k", .value = value},
                                    100);
        EXPECT_EQ(large.code(), errc::value_too_large);
        EXPECT_EQ(large.message(), "a KV frame with a body of 101 bytes; the limit is 100");
        EXPECT_EQ(
            write_request(out, {.may_compress = may_compress, .key = "k", .value = value}, 101)
                .value(),
            28U);
        out.truncate(28);
    }
}

TEST(frame_writer, compressible_value_is_compressed_and_marked)
{
    const std::string value(1000, 'x');
    bson::byte_buffer out;
    write_request(out, {.opcode = kv_opcode::upsert,
                        .datatype = kv_datatype::json,
                        .may_compress = true,
                        .key = "k",
                        .value = as_octets(value)})
        .value();
    const frame read = parsed(out);
    EXPECT_EQ(read.header.datatype, kv_datatype::json | kv_datatype::snappy);
    EXPECT_LT(read.value().size(), 100U);
    bson::byte_buffer plain;
    EXPECT_EQ(as_text(decompress_value(read.value(), plain).value()), value);
}

TEST(frame_writer, value_that_does_not_shrink_is_sent_as_it_is)
{
    std::string value;
    for (int i = 0; i < 40; ++i)
        value += static_cast<char>('0' + i);
    bson::byte_buffer out;
    write_request(out, {.may_compress = true, .key = "k", .value = as_octets(value)}).value();
    EXPECT_EQ(parsed(out).header.datatype, kv_datatype::raw);
    EXPECT_EQ(as_text(parsed(out).value()), value);
}

TEST(frame_writer, value_written_in_place_is_closed_with_its_size)
{
    bson::byte_buffer out;
    write_request(out, {.key = "first"}).value();
    const std::size_t start = write_request(out, {.opcode = kv_opcode::upsert, .key = "k"}).value();
    *out.grow(1) = '1';
    ASSERT_TRUE(close_frame(out, start));
    const frame read = std::get<frame>(next_frame(out.bytes().subspan(start)).value());
    EXPECT_EQ(as_text(read.key()), "k");
    EXPECT_EQ(as_text(read.value()), "1");
    const auto closed = close_frame(out, start, 1);
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code(), errc::value_too_large);
    EXPECT_EQ(out.size(), start);
}

}  // namespace
}  // namespace holdfast::core::couchbase::frame_writer_test
