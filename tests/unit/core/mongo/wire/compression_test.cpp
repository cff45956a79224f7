#include "core/mongo/wire/compression.hpp"

#include "core/mongo/wire/message.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/document.hpp"
#include "support/raw_message.hpp"

#include <gtest/gtest.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::core::mongo::compression_test {
namespace {

using bson::doc;
using bytes = std::vector<std::uint8_t>;
using proof::raw_message;
using enum wire_compressor;

constexpr std::array all_compressors = {noop, snappy, zlib, zstd};

bytes copy(std::span<const std::uint8_t> view)
{
    return {view.begin(), view.end()};
}

bytes message_with(const std::string& text)
{
    return raw_message{}.header(2013).int32(0).byte(0).document(doc("text", text)).done();
}

/// The libraries' own simplest functions, not the ones that the library under test calls.
std::string by_library(wire_compressor with, const std::string& plain)
{
    std::string made;
    switch (with) {
    case noop:
        return plain;
    case snappy:
        ::snappy::Compress(plain.data(), plain.size(), &made);
        return made;
    case zlib: {
        made.resize(compressBound(plain.size()));
        uLongf size = made.size();
        compress(reinterpret_cast<Bytef*>(made.data()), &size,
                 reinterpret_cast<const Bytef*>(plain.data()), plain.size());
        made.resize(size);
        return made;
    }
    case zstd:
        made.resize(ZSTD_compressBound(plain.size()));
        made.resize(ZSTD_compress(made.data(), made.size(), plain.data(), plain.size(), 1));
        return made;
    }
    return made;
}

std::string uncompressed_by_library(wire_compressor with, const std::string& packed,
                                    std::size_t size)
{
    std::string plain(size, '\0');
    switch (with) {
    case noop:
        return packed;
    case snappy:
        ::snappy::Uncompress(packed.data(), packed.size(), &plain);
        return plain;
    case zlib: {
        uLongf written = size;
        uncompress(reinterpret_cast<Bytef*>(plain.data()), &written,
                   reinterpret_cast<const Bytef*>(packed.data()), packed.size());
        return plain;
    }
    case zstd:
        ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
        return plain;
    }
    return plain;
}

bytes compressed(std::int32_t original, std::int32_t claimed, int with, std::string_view payload)
{
    return raw_message{}
        .header(2012)
        .int32(original)
        .int32(claimed)
        .byte(with)
        .text(payload)
        .done();
}

TEST(compression, every_compressor_round_trips)
{
    std::string noise(100'000, '\0');
    std::uint32_t state = 1;
    for (char& c : noise)
        c = static_cast<char>('a' + (state = state * 1664525 + 1013904223) % 23);
    for (const wire_compressor with : all_compressors) {
        for (const std::string& text : {std::string{}, std::string(5000, 'k'), noise}) {
            const bytes original = message_with(text);
            bson::byte_buffer packed;
            const bytes message = copy(compress_message(original, {with}, packed).value());
            EXPECT_EQ(parse_header(message).value().code, op_code::compressed);
            EXPECT_EQ(parse_header(message).value().response_to, request_id{5});
            bson::byte_buffer unpacked;
            EXPECT_EQ(copy(decompress_message(message, unpacked).value()), original)
                << name_of(with) << " " << text.size();
        }
    }
}

TEST(compression, only_the_negotiated_compressor_and_noop_are_accepted)
{
    const bytes original = message_with(std::string(300, 'k'));
    for (const wire_compressor used : all_compressors) {
        bson::byte_buffer out;
        const bytes message = copy(compress_message(original, {used}, out).value());
        for (const wire_compressor negotiated : all_compressors) {
            const auto checked = check_compressor(message, negotiated);
            const bool fine = used == negotiated || used == wire_compressor::noop;
            EXPECT_EQ(checked.has_value(), fine) << name_of(used) << ' ' << name_of(negotiated);
            if (!fine) {
                EXPECT_EQ(checked.error().code(), errc::unsupported_message);
            }
        }
    }
    EXPECT_FALSE(check_compressor(std::span{original}.first(18), wire_compressor::zlib));
}

TEST(compression, output_is_readable_by_the_libraries)
{
    const bytes original = message_with(std::string(3000, 'k'));
    const std::string body(original.begin() + 16, original.end());
    for (const wire_compressor with : all_compressors) {
        bson::byte_buffer out;
        const bytes message = copy(compress_message(original, {with}, out).value());
        EXPECT_EQ(bson::load<std::int32_t>(message.data() + 16), 2013);
        EXPECT_EQ(bson::load<std::uint32_t>(message.data() + 20), body.size());
        EXPECT_EQ(message[24], static_cast<std::uint8_t>(with));
        const std::string payload(message.begin() + 25, message.end());
        EXPECT_EQ(uncompressed_by_library(with, payload, body.size()), body) << name_of(with);
        if (with != noop) {
            EXPECT_LT(message.size(), original.size() / 4) << name_of(with);
        }
    }
}

TEST(compression, output_of_the_libraries_is_readable)
{
    const bytes original = message_with(std::string(3000, 'k'));
    const std::string body(original.begin() + 16, original.end());
    for (const wire_compressor with : all_compressors) {
        const bytes message = compressed(2013, static_cast<std::int32_t>(body.size()),
                                         static_cast<int>(with), by_library(with, body));
        bson::byte_buffer out;
        out.grow(5);  // appended to what is there
        EXPECT_EQ(copy(decompress_message(message, out).value()), original) << name_of(with);
        EXPECT_EQ(out.size(), 5 + original.size());
    }
}

TEST(compression, zlib_compression_level_is_used)
{
    const bytes original = message_with(std::string(3000, 'k'));
    std::vector<std::size_t> sizes;
    for (const int level : {0, 1, 9}) {
        bson::byte_buffer out;
        sizes.push_back(compress_message(original, {zlib, level}, out).value().size());
    }
    EXPECT_GT(sizes[0], original.size());
    EXPECT_LT(sizes[1], 200U);
    bson::byte_buffer out;
    EXPECT_EQ(compress_message(original, {zlib, 10}, out).error().code(), errc::compression_failed);
    EXPECT_TRUE(out.empty());
}

TEST(compression, checksum_is_valid_after_decompression)
{
    bson::byte_buffer out;
    message_builder builder{out, request_id{1}, {.checksum_present = true}};
    builder.command().add("ping", 1);
    bson::byte_buffer packed;
    bson::byte_buffer unpacked;
    const auto message = compress_message(builder.finish().value(), {zlib}, packed).value();
    EXPECT_TRUE(parse_message(decompress_message(message, unpacked).value()));
}

TEST(decompression, claimed_size_is_checked_against_the_limit_and_the_payload)
{
    const bytes original = message_with(std::string(3000, 'k'));
    const std::string body(original.begin() + 16, original.end());
    const auto size = static_cast<std::int32_t>(body.size());
    for (const wire_compressor with : all_compressors) {
        const std::string payload = by_library(with, body);
        for (const std::int32_t wrong : {1, size - 1, size + 1, size * 2}) {
            bson::byte_buffer out;
            const auto read = decompress_message(
                compressed(2013, wrong, static_cast<int>(with), payload), out);
            ASSERT_FALSE(read) << name_of(with) << " " << wrong;
            EXPECT_EQ(read.error().code(), errc::compression_failed);
            EXPECT_EQ(read.error().context("offset"), "25");
            EXPECT_TRUE(out.empty());
        }
    }
}

TEST(decompression, truncated_or_trailing_payload_is_refused)
{
    const std::string body = "0123456789";
    for (const wire_compressor with : all_compressors) {
        const std::string payload = by_library(with, body);
        const auto read = [&](const std::string& changed) {
            bson::byte_buffer out;
            return decompress_message(compressed(2013, 10, static_cast<int>(with), changed), out)
                .has_value();
        };
        EXPECT_TRUE(read(payload)) << name_of(with);
        EXPECT_FALSE(read(payload + "x")) << name_of(with);
        EXPECT_FALSE(read(payload.substr(0, payload.size() - 1))) << name_of(with);
        EXPECT_FALSE(read("")) << name_of(with);
    }
}

TEST(decompression, malformed_message_error_names_the_offset)
{
    struct row {
        const char* why;
        bytes raw;
        errc expected;
        const char* offset;
    };
    const row table[] = {
        {"cut", raw_message{}.header(2012).int32(2013).int32(4).done(), errc::malformed_message,
         "24"},
        {"not compressed", message_with("x"), errc::unsupported_message, "12"},
        {"compressed twice", compressed(2012, 4, 0, "abcd"), errc::unsupported_message, "16"},
        {"unknown operation", compressed(99, 4, 0, "abcd"), errc::unsupported_message, "16"},
        {"negative size", compressed(2013, -1, 0, "abcd"), errc::malformed_message, "20"},
        {"empty", compressed(2013, 0, 0, ""), errc::malformed_message, "20"},
        {"beyond the limit", compressed(2013, 48'016'369, 0, ""), errc::message_too_large, "20"},
        {"unknown compressor", compressed(2013, 4, 4, "abcd"), errc::unsupported_message, "24"},
        {"compressor 255", compressed(2013, 4, 255, "abcd"), errc::unsupported_message, "24"},
    };
    for (const row& r : table) {
        bson::byte_buffer out;
        const auto read = decompress_message(r.raw, out);
        ASSERT_FALSE(read) << r.why;
        EXPECT_EQ(read.error().code(), r.expected) << r.why;
        EXPECT_EQ(read.error().context("offset"), r.offset) << r.why;
        EXPECT_EQ(out.capacity(), 0U) << r.why << ": memory was taken";
    }
}

TEST(decompression, message_above_the_limit_is_too_large)
{
    const bytes message = compressed(2013, 4, 0, "abcd");
    bson::byte_buffer out;
    EXPECT_EQ(decompress_message(message, out, 28).error().code(), errc::message_too_large);
    EXPECT_TRUE(decompress_message(compressed(1, 4, 0, "abcd"), out, 29));
    const bytes small = compressed(2013, 15, 3, by_library(zstd, std::string(15, 'x')));
    EXPECT_EQ(decompress_message(small, out, 30).error().code(), errc::message_too_large);
}

TEST(compressors, first_of_the_client_that_the_server_knows_is_chosen)
{
    using list = std::vector<wire_compressor>;
    struct row {
        list ours;
        list theirs;
        std::optional<wire_compressor> chosen;
    };
    const row table[] = {
        {{zstd, snappy, zlib}, {zlib, snappy}, snappy},
        {{zlib, snappy}, {snappy, zlib}, zlib},
        {{zstd}, {snappy}, std::nullopt},
        {{}, {snappy}, std::nullopt},
        {{snappy}, {}, std::nullopt},
    };
    for (const row& r : table)
        EXPECT_EQ(choose_compressor(r.ours, r.theirs), r.chosen);
}

TEST(compressors, lookup_by_name_is_exact)
{
    for (const wire_compressor which : {snappy, zlib, zstd})
        EXPECT_EQ(compressor_named(name_of(which)), which);
    EXPECT_EQ(compressor_named("noop"), std::nullopt);
    EXPECT_EQ(compressor_named("lz4"), std::nullopt);
    EXPECT_EQ(compressor_named(""), std::nullopt);
}

TEST(compressors, handshake_and_authentication_commands_are_not_compressed)
{
    for (const char* name :
         {"hello", "isMaster", "ismaster", "saslStart", "saslContinue", "getnonce", "authenticate",
          "createUser", "updateUser", "copydbSaslStart", "copydbgetnonce", "copydb"})
        EXPECT_FALSE(may_compress(name)) << name;
    for (const char* name : {"insert", "find", "ping", "getMore", "dropUser", ""})
        EXPECT_TRUE(may_compress(name)) << name;
}

}  // namespace
}  // namespace holdfast::core::mongo::compression_test
