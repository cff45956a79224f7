#include "core/couchbase/wire/value.hpp"

#include "core/couchbase/wire/datatype.hpp"
#include "core/couchbase/wire/leb128.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/octets.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::value_test {
namespace {

using proof::copy_of;
using proof::from_hex;
using proof::octets;

TEST(kv_value, values_below_32_bytes_are_never_compressed)
{
    for (const std::size_t size : {0U, 1U, 31U, 32U}) {
        bson::byte_buffer out;
        const octets value(size, 'x');
        EXPECT_EQ(append_compressed(out, value), size == 32) << size;
        EXPECT_EQ(copy_of(out.bytes()) == value, size != 32) << size;
    }
}

/// Of 100 bytes, so many are a run: at 83 per cent and below the compressed form is kept.
TEST(kv_value, compression_is_kept_up_to_83_percent_of_the_size)
{
    int kept = 0;
    for (std::size_t run = 0; run <= 100; ++run) {
        octets value(100, 'x');
        for (std::size_t i = 0; i < 100 - run; ++i)
            value[i] = static_cast<std::uint8_t>(i * 7);
        bson::byte_buffer out;
        const bool compressed = append_compressed(out, value);
        EXPECT_EQ(out.size() <= 83, compressed) << run;
        EXPECT_TRUE(compressed || out.size() == 100) << run;
        kept += compressed;
        bson::byte_buffer plain;
        if (compressed) {
            EXPECT_EQ(copy_of(decompress_value(out.bytes(), plain).value()), value);
        }
    }
    EXPECT_GT(kept, 50);
    EXPECT_LT(kept, 95);
}

TEST(kv_value, decompression_appends_and_gives_the_value_alone)
{
    bson::byte_buffer packed;
    const octets value(5000, 'y');
    ASSERT_TRUE(append_compressed(packed, value));
    bson::byte_buffer out;
    *out.grow(1) = 'z';
    EXPECT_EQ(copy_of(decompress_value(packed.bytes(), out).value()), value);
    EXPECT_EQ(out.size(), 5001U);
}

TEST(kv_value, empty_value_can_be_compressed_too)
{
    bson::byte_buffer out;
    EXPECT_TRUE(decompress_value(from_hex("00"), out).value().empty());
    EXPECT_FALSE(decompress_value(from_hex("00 00"), out));
    EXPECT_FALSE(decompress_value({}, out));
    EXPECT_TRUE(out.empty());
}

TEST(kv_value, claimed_size_is_checked_before_memory_is_taken)
{
    bson::byte_buffer out;
    const auto message = [&](std::string_view hex, std::size_t limit = max_body_size) {
        const auto failed = decompress_value(from_hex(hex), out, limit);
        EXPECT_FALSE(failed.has_value());
        EXPECT_EQ(failed.error().code(), holdfast::couchbase::errc::decoding_failure);
        EXPECT_EQ(out.capacity(), 0U);
        return failed.error().message();
    };
    EXPECT_EQ(
        message("ffffffff0f"),
        "compressed value: it claims 4294967295 bytes, which is beyond the limit of 20972544");
    EXPECT_EQ(message("81808005"),  // ten million and more, in four bytes
              "compressed value: it claims 10485761 bytes, more than 4 can hold");
    EXPECT_EQ(message("ffffffffff"), "compressed value: it does not begin with a size");
    EXPECT_EQ(message("65 0000", 100),
              "compressed value: it claims 101 bytes, which is beyond the limit of 100");
}

TEST(kv_value, damaged_value_is_refused_and_leaves_nothing)
{
    bson::byte_buffer packed;
    ASSERT_TRUE(append_compressed(packed, octets(1000, 'y')));
    bson::byte_buffer out;
    const auto failed = decompress_value(packed.bytes().first(packed.size() - 1), out);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message(), "compressed value: it is damaged");
    EXPECT_TRUE(out.empty());
}

TEST(kv_datatype, bits_are_legal_only_if_negotiated)
{
    feature_set all;
    for (const auto f : {kv_feature::json, kv_feature::snappy, kv_feature::xattr})
        all.add(f);
    const auto everything = kv_datatype::json | kv_datatype::snappy | kv_datatype::xattr;
    EXPECT_TRUE(is_negotiated(kv_datatype::raw, {}));
    EXPECT_TRUE(is_negotiated(everything, all));
    EXPECT_FALSE(is_negotiated(kv_datatype{0x08}, all));
    EXPECT_FALSE(is_negotiated(kv_datatype{0x80}, all));
    struct row { kv_feature feature; kv_datatype bit; };
    for (const row& r :
         {row{kv_feature::json, kv_datatype::json}, row{kv_feature::snappy, kv_datatype::snappy},
          row{kv_feature::xattr, kv_datatype::xattr}}) {
        feature_set fewer = all;
        fewer.remove(r.feature);
        EXPECT_FALSE(is_negotiated(r.bit, fewer));
        EXPECT_TRUE(is_negotiated(without(everything, r.bit), fewer));
    }
    feature_set everywhere;
    everywhere.add(kv_feature::snappy_everywhere);
    EXPECT_TRUE(is_negotiated(kv_datatype::snappy, everywhere));
}

TEST(feature_set, numbers_survive_writing_and_reading)
{
    const kv_feature asked[] = {kv_feature::xattr, kv_feature::collections,
                                kv_feature::binary_xattr};
    bson::byte_buffer out;
    write_features(out, asked);
    EXPECT_EQ(copy_of(out.bytes()), from_hex("0006 0012 0021"));
    const feature_set read = parse_features(out.bytes()).value();
    feature_set expected;
    for (const kv_feature f : asked)
        expected.add(f);
    EXPECT_EQ(read, expected);
    EXPECT_TRUE(read.has(kv_feature::collections));
    EXPECT_FALSE(read.has(kv_feature::json));
    feature_set one;
    one.add(kv_feature::xattr);
    one.add(kv_feature::json);
    feature_set common;
    common.add(kv_feature::xattr);
    EXPECT_EQ(read.in_common_with(one), common);
}

TEST(feature_set, unknown_numbers_are_skipped_and_half_a_number_is_an_error)
{
    const feature_set read = parse_features(from_hex("0040 ffff 000b")).value();
    feature_set json;
    json.add(kv_feature::json);
    EXPECT_EQ(read, json);
    const auto half = parse_features(from_hex("000b 00"));
    ASSERT_FALSE(half);
    EXPECT_EQ(half.error().message(), "a list of features has 2 bytes for each, here are 3");
}

TEST(collection_prefix, ids_are_canonical_leb128)
{
    struct row { collection_id id; std::string_view bytes; };
    for (const row& r :
         {row{0, "00"}, row{8, "08"}, row{0x7f, "7f"}, row{0x80, "80 01"}, row{0x555, "d5 0a"},
          row{0x7fff, "ff ff 01"}, row{0xffffffff, "ff ff ff ff 0f"}}) {
        EXPECT_EQ(copy_of(collection_prefix{r.id}.bytes()), from_hex(r.bytes)) << r.id;
        octets key = from_hex(r.bytes);
        key.push_back('k');
        const auto split = split_collection_key(key);
        ASSERT_TRUE(split) << r.id;
        EXPECT_EQ(split->collection, r.id);
        EXPECT_EQ(copy_of(split->key), octets{'k'});
    }
}

TEST(collection_prefix, prefixes_that_a_server_would_not_take_are_refused)
{
    for (const std::string_view bad : {"", "80", "ff ff ff ff", "80 00", "d5 8a 00",
                                       "ff ff ff ff 1f", "ff ff ff ff 8f 00", "80 80 80 80 80 01"})
        EXPECT_FALSE(split_collection_key(from_hex(bad))) << bad;
    EXPECT_TRUE(split_collection_key(from_hex("00"))->key.empty());
}

}  // namespace
}  // namespace holdfast::core::couchbase::value_test
