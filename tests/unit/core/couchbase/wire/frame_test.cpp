#include "core/couchbase/wire/frame.hpp"

#include "core/couchbase/wire/frame_reader.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/octets.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::frame_test {
namespace {

using holdfast::couchbase::errc;
using proof::copy_of;
using proof::from_hex;
using proof::octets;

frame parse(const octets& bytes)
{
    return std::get<frame>(next_frame(bytes).value());
}

error error_of(const octets& bytes, std::size_t limit = max_body_size)
{
    auto read = next_frame(bytes, limit);
    EXPECT_FALSE(read.has_value());
    return read ? error{errc::generic_failure, "none"} : std::move(read).error();
}

TEST(kv_frame, request_is_read_field_by_field)
{
    const octets bytes = from_hex(
        "80 01 0005 08 01 0123 00000011 deadbeef 1122334455667788"
        "02000006 0000000a"
        "68656c6c6f"
        "7b22617d");
    const frame read = parse(bytes);
    EXPECT_EQ(read.header.magic, kv_magic::client_request);
    EXPECT_EQ(read.header.opcode, kv_opcode::upsert);
    EXPECT_EQ(read.header.datatype, kv_datatype::json);
    EXPECT_EQ(read.vbucket(), 0x123);
    EXPECT_EQ(read.header.opaque, 0xdeadbeefU);
    EXPECT_EQ(read.header.cas, 0x1122334455667788U);
    EXPECT_TRUE(read.framing().empty());
    EXPECT_EQ(copy_of(read.extras()), from_hex("02000006 0000000a"));
    EXPECT_EQ(as_text(read.key()), "hello");
    EXPECT_EQ(as_text(read.value()), "{\"a}");
}

TEST(kv_frame, alt_response_has_framing_and_a_one_byte_key_size)
{
    const octets bytes = from_hex(
        "18 00 03 02 04 00 0007 0000000b 00000001 0000000000000000"
        "02 0042"
        "00000000"
        "6b79"
        "7b7d");
    const frame read = parse(bytes);
    EXPECT_EQ(read.header.magic, kv_magic::alt_client_response);
    EXPECT_EQ(read.status(), kv_status::not_my_vbucket);
    EXPECT_EQ(copy_of(read.framing()), from_hex("02 0042"));
    EXPECT_EQ(copy_of(read.extras()), from_hex("00000000"));
    EXPECT_EQ(as_text(read.key()), "ky");
    EXPECT_EQ(as_text(read.value()), "{}");
}

TEST(kv_frame, all_six_magics_are_frames_and_no_other_byte_is)
{
    int known = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
        octets bytes(frame_header_size);
        bytes[0] = static_cast<std::uint8_t>(byte);
        EXPECT_EQ(next_frame(bytes).has_value(), is_magic(bytes[0])) << byte;
        known += is_magic(bytes[0]);
    }
    EXPECT_EQ(known, 6);
    for (const int magic : {0x08, 0x18, 0x80, 0x81, 0x82, 0x83})
        EXPECT_TRUE(is_magic(static_cast<std::uint8_t>(magic)));
    EXPECT_TRUE(is_alt(kv_magic{0x08}) && is_alt(kv_magic{0x18}));
    EXPECT_FALSE(is_alt(kv_magic{0x80}) || is_alt(kv_magic{0x82}));
    EXPECT_TRUE(is_response(kv_magic{0x81}) && is_response(kv_magic{0x18}) &&
                is_response(kv_magic{0x83}));
    EXPECT_FALSE(is_response(kv_magic{0x80}) || is_response(kv_magic{0x08}) ||
                 is_response(kv_magic{0x82}));
}

/// A TLS alert has 7 bytes: a reader that waited for 24 would wait for ever.
TEST(kv_frame, wrong_first_byte_is_an_error_before_the_header_is_complete)
{
    const error alert = error_of(from_hex("15 03 01 00 02 02 46"));
    EXPECT_EQ(alert.code(), errc::decoding_failure);
    EXPECT_EQ(alert.message(),
              "KV frame: no frame begins with the byte 0x15; the peer may not speak the key-value "
              "protocol, or only with TLS");
    EXPECT_EQ(alert.context("offset"), "0");
    EXPECT_NE(error_of(from_hex("48")).message().find("0x48"), std::string::npos);
}

TEST(kv_frame, body_beyond_the_limit_is_an_error_before_it_arrives)
{
    octets bytes = from_hex("81 00 0000 00 00 0000 01400401 00000000 0000000000000000");
    const error large = error_of(bytes);
    EXPECT_EQ(large.code(), errc::decoding_failure);
    EXPECT_EQ(large.message(),
              "KV frame: a body of 20972545 bytes is beyond the limit of 20972544");
    EXPECT_EQ(large.context("offset"), "8");
    bytes[11] = 0x00;
    EXPECT_EQ(std::get<need_more>(next_frame(bytes).value()), need_more{20'972'544});
    bytes[8] = 0xff;
    EXPECT_EQ(error_of(bytes).context("offset"), "8");
    EXPECT_FALSE(
        next_frame(from_hex("81 00 0000 00 00 0000 00000065 00000000 0000000000000000"), 100));
}

TEST(kv_frame, parts_longer_than_the_body_are_an_error)
{
    const error key = error_of(
        from_hex("81 00 0006 00 00 0000 00000005 00000000 0000000000000000"
                 "68656c6c6f"));
    EXPECT_EQ(key.message(),
              "KV frame: framing extras, extras and key have 6 bytes, and the body only 5");
    EXPECT_EQ(key.context("offset"), "2");
    EXPECT_FALSE(next_frame(from_hex("81 00 0000 06 00 0000 00000005 00000000 0000000000000000")));
    EXPECT_FALSE(next_frame(from_hex("18 00 06 00 00 00 0000 00000005 00000000 0000000000000000")));
    EXPECT_FALSE(next_frame(from_hex("18 00 02 02 02 00 0000 00000005 00000000 0000000000000000")));
    EXPECT_TRUE(next_frame(from_hex("18 00 02 02 01 00 0000 00000005 00000000 0000000000000000")));
}

TEST(kv_frame, partial_input_asks_for_the_missing_bytes)
{
    const octets whole = from_hex(
        "80 00 0005 00 00 0000 00000005 00000000 0000000000000000"
        "48656c6c6f");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto answer = next_frame(std::span{whole}.first(size)).value();
        const std::size_t missing = size < 24 ? 24 - size : whole.size() - size;
        EXPECT_EQ(std::get<need_more>(answer), need_more{missing}) << size;
    }
}

TEST(kv_frame, header_alone_needs_24_bytes)
{
    const auto few = parse_frame_header(from_hex("80 00"));
    ASSERT_FALSE(few);
    EXPECT_EQ(few.error().message(), "KV frame: a header has 24 bytes, here are 2");
    EXPECT_FALSE(parse_frame_header({}));
}

}  // namespace
}  // namespace holdfast::core::couchbase::frame_test
