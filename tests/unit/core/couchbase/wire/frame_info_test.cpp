#include "core/couchbase/wire/frame_info.hpp"

#include "core/couchbase/wire/server_duration.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/octets.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::frame_info_test {
namespace {

using proof::copy_of;
using proof::from_hex;
using proof::octets;
using std::chrono::microseconds;

octets sent(const request_infos& infos)
{
    return copy_of(frame_info_bytes{infos}.bytes());
}

TEST(frame_info, request_infos_are_written_as_the_protocol_has_them)
{
    EXPECT_EQ(sent({}), octets{});
    EXPECT_EQ(sent({.durability = kv_durability::majority}), from_hex("11 01"));
    EXPECT_EQ(
        sent({.durability = kv_durability::persist_to_majority, .durability_timeout_ms = 2250}),
        from_hex("13 03 08ca"));
    EXPECT_EQ(sent({.preserve_expiry = true}), from_hex("50"));
    EXPECT_EQ(sent({.barrier = true}), from_hex("00"));
    EXPECT_EQ(sent({.impersonate_user = "joe"}), from_hex("43 6a6f65"));
    EXPECT_EQ(sent({.durability = kv_durability::majority_and_persist_to_active,
                    .preserve_expiry = true}),
              from_hex("11 02 50"));
}

/// The escaped length stands behind the first byte; an escaped number stands before it.
TEST(frame_info, numbers_and_lengths_of_15_and_more_are_escaped)
{
    EXPECT_EQ(sent({.impersonate_user = "fifteen letters"}),
              from_hex("4f 00 6669667465656e206c657474657273"));
    frame_info_bytes bytes;
    EXPECT_TRUE(bytes.add(16, from_hex("aabb")));
    EXPECT_TRUE(bytes.add(15, octets(17, 0xcc)));
    auto expected = from_hex("f2 01 aabb ff 00 02");
    expected.insert(expected.end(), 17, 0xcc);
    EXPECT_EQ(copy_of(bytes.bytes()), expected);

    auto rest = bytes.bytes();
    const auto first = take_frame_info(rest);
    const auto second = take_frame_info(rest);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->id, 16);
    EXPECT_EQ(copy_of(first->content), from_hex("aabb"));
    EXPECT_EQ(second->id, 15);
    EXPECT_EQ(second->content.size(), 17U);
    EXPECT_TRUE(rest.empty());
    EXPECT_FALSE(take_frame_info(rest));
}

TEST(frame_info, info_that_does_not_fit_is_not_added)
{
    frame_info_bytes bytes;
    EXPECT_FALSE(bytes.add(15 + 256, {}));
    EXPECT_FALSE(bytes.add(1, octets(254, 0)));
    EXPECT_TRUE(bytes.bytes().empty());
    EXPECT_TRUE(bytes.add(1, octets(253, 0)));
    EXPECT_EQ(bytes.bytes().size(), 255U);
    EXPECT_FALSE(bytes.add(0, {}));
}

TEST(frame_info, server_reads_what_a_client_wrote)
{
    const request_infos all{.durability = kv_durability::persist_to_majority,
                            .durability_timeout_ms = 65'534,
                            .preserve_expiry = true,
                            .barrier = true,
                            .impersonate_user = "a user with a long name"};
    const frame_info_bytes bytes{all};
    const auto read = parse_request_infos(bytes.bytes());
    EXPECT_EQ(read.status, kv_status::success);
    EXPECT_EQ(read.infos, all);
}

TEST(frame_info, server_refuses_request_infos_by_status)
{
    const auto status = [](std::string_view hex) {
        return parse_request_infos(from_hex(hex)).status;
    };
    EXPECT_EQ(status(""), kv_status::success);
    EXPECT_EQ(status("11 00"), kv_status::invalid);  // no durability is said by saying nothing
    EXPECT_EQ(status("11 04"), kv_status::invalid);
    EXPECT_EQ(status("12 01 00"), kv_status::invalid);
    EXPECT_EQ(status("13 01 0000"), kv_status::invalid);
    EXPECT_EQ(status("13 01 ffff"), kv_status::invalid);
    EXPECT_EQ(status("13 01 fffe"), kv_status::success);
    EXPECT_EQ(status("10"), kv_status::invalid);
    EXPECT_EQ(status("01 00"), kv_status::invalid);
    EXPECT_EQ(status("51 00"), kv_status::invalid);
    EXPECT_EQ(status("40"), kv_status::invalid);
    EXPECT_EQ(status("13 01"), kv_status::invalid);
    EXPECT_EQ(status("f0"), kv_status::invalid);
    EXPECT_EQ(status("ff 00"), kv_status::invalid);
    EXPECT_EQ(status("30"), kv_status::unknown_frame_info);
    EXPECT_EQ(status("22 0001"), kv_status::unknown_frame_info);
    EXPECT_EQ(status("f0 00"), kv_status::unknown_frame_info);
}

TEST(frame_info, response_infos_are_read_and_unknown_ones_skipped)
{
    const auto read =
        parse_response_infos(from_hex("02 0064  12 0003  22 0004  32 000a  a1 00  f0 05")).value();
    EXPECT_EQ(read.server_duration, microseconds{1510});  // 100 to the power of 1.74, halved
    EXPECT_EQ(read.read_units, 3);
    EXPECT_EQ(read.write_units, 4);
    EXPECT_EQ(read.throttle_duration, microseconds{27});
    EXPECT_TRUE(parse_response_infos({}).value().empty());
}

TEST(frame_info, damaged_response_infos_are_an_error)
{
    const auto message = [](std::string_view hex) {
        const auto read = parse_response_infos(from_hex(hex));
        EXPECT_FALSE(read.has_value());
        EXPECT_EQ(read.error().code(), holdfast::couchbase::errc::decoding_failure);
        return read.error().message();
    };
    EXPECT_EQ(message("02 00"), "framing extras of a KV frame: the last entry is cut off");
    EXPECT_EQ(message("f2"), "framing extras of a KV frame: the last entry is cut off");
    EXPECT_EQ(message("01 00"),
              "framing extras of a KV frame: entry 0 must have two bytes, and has 1");
    EXPECT_EQ(message("33 000000"),
              "framing extras of a KV frame: entry 3 must have two bytes, and has 3");
}

TEST(frame_info, response_infos_survive_writing_and_reading)
{
    const response_infos all{.server_duration = decode_server_duration(1234),
                             .read_units = 1,
                             .write_units = 0xffff,
                             .throttle_duration = decode_server_duration(0)};
    EXPECT_EQ(parse_response_infos(frame_info_bytes{all}.bytes()).value(), all);
}

TEST(server_duration, largest_number_is_two_minutes)
{
    EXPECT_EQ(decode_server_duration(0), microseconds{0});
    EXPECT_EQ(decode_server_duration(0xffff), microseconds{120'125'042});
    EXPECT_EQ(encode_server_duration(microseconds{-1}), 0);
    EXPECT_EQ(encode_server_duration(std::chrono::hours{1}), 0xffff);
    EXPECT_EQ(encode_server_duration(microseconds::max()), 0xffff);
}

TEST(server_duration, numbers_survive_decoding_and_encoding)
{
    // The first few are closer together than microseconds can say.
    for (unsigned n = 3; n <= 0xffff; ++n) {
        const auto number = static_cast<std::uint16_t>(n);
        EXPECT_EQ(encode_server_duration(decode_server_duration(number)), number);
    }
}

}  // namespace
}  // namespace holdfast::core::couchbase::frame_info_test
