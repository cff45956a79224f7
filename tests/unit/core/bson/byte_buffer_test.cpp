#include "holdfast/bson/byte_buffer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace holdfast::bson::byte_buffer_test {
namespace {

static_assert(growable_bytes<std::vector<std::uint8_t>>);
static_assert(growable_bytes<std::string>);
static_assert(!growable_bytes<std::vector<int>>);

void append(byte_buffer& buffer, std::string_view text)
{
    std::memcpy(buffer.grow(text.size()), text.data(), text.size());
}

std::string text_of(const byte_buffer& buffer)
{
    return {buffer.bytes().begin(), buffer.bytes().end()};
}

TEST(byte_buffer, default_constructed_has_no_memory)
{
    const byte_buffer buffer;
    EXPECT_TRUE(buffer.empty());
    EXPECT_EQ(buffer.capacity(), 0u);
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_TRUE(buffer.bytes().empty());
}

TEST(byte_buffer, content_survives_growth)
{
    byte_buffer buffer;
    std::string expected;
    for (int i = 0; i < 5000; ++i) {
        const std::string piece = std::to_string(i);
        append(buffer, piece);
        expected += piece;
    }
    EXPECT_EQ(text_of(buffer), expected);
    EXPECT_GE(buffer.capacity(), buffer.size());
}

TEST(byte_buffer, capacity_doubles_from_256_bytes)
{
    byte_buffer buffer;
    buffer.grow(1);
    EXPECT_EQ(buffer.capacity(), 256u);
    buffer.grow(255);
    EXPECT_EQ(buffer.capacity(), 256u);
    buffer.grow(1);
    EXPECT_EQ(buffer.capacity(), 512u);
    buffer.grow(10'000);
    EXPECT_EQ(buffer.capacity(), 10'257u);  // more than double was asked for
}

TEST(byte_buffer, reserve_is_exact_and_never_shrinks)
{
    byte_buffer buffer;
    buffer.reserve(1000);
    EXPECT_EQ(buffer.capacity(), 1000u);
    EXPECT_TRUE(buffer.empty());
    buffer.reserve(10);
    EXPECT_EQ(buffer.capacity(), 1000u);
    const std::uint8_t* const before = buffer.data();
    buffer.grow(1000);
    EXPECT_EQ(buffer.data(), before);
}

TEST(byte_buffer, clear_keeps_the_capacity)
{
    byte_buffer buffer;
    append(buffer, "hello");
    const std::uint8_t* const before = buffer.data();
    buffer.clear();
    EXPECT_TRUE(buffer.empty());
    EXPECT_EQ(buffer.capacity(), 256u);
    append(buffer, "world");
    EXPECT_EQ(buffer.data(), before);
    EXPECT_EQ(text_of(buffer), "world");
}

TEST(byte_buffer, truncate_never_extends)
{
    byte_buffer buffer;
    append(buffer, "hello");
    buffer.truncate(9);
    EXPECT_EQ(text_of(buffer), "hello");
    buffer.truncate(2);
    EXPECT_EQ(text_of(buffer), "he");
}

TEST(byte_buffer, copy_is_independent_and_move_takes_the_memory)
{
    byte_buffer first;
    append(first, "hello");
    byte_buffer copy = first;
    append(copy, "!");
    EXPECT_EQ(text_of(first), "hello");
    EXPECT_EQ(text_of(copy), "hello!");

    const byte_buffer moved = std::move(copy);
    EXPECT_EQ(text_of(moved), "hello!");
    EXPECT_EQ(copy.size(), 0u);  // NOLINT(bugprone-use-after-move): empty is what we promise
    EXPECT_EQ(copy.capacity(), 0u);
    append(copy, "again");
    EXPECT_EQ(text_of(copy), "again");

    copy = moved;
    EXPECT_EQ(text_of(copy), "hello!");
    copy = byte_buffer{};
    EXPECT_TRUE(copy.empty());
    const byte_buffer& itself = first;
    first = itself;
    EXPECT_EQ(text_of(first), "hello");
}

TEST(byte_buffer, overflowing_grow_throws_bad_alloc_and_changes_nothing)
{
    constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
    byte_buffer buffer;
    append(buffer, "hello");
    for (const std::size_t size : {huge, huge - 4, huge / 2 + 1, huge / 2 - 4}) {
        EXPECT_THROW(buffer.grow(size), std::bad_alloc) << size;
        EXPECT_EQ(text_of(buffer), "hello");
        EXPECT_EQ(buffer.capacity(), 256u);
    }
    EXPECT_THROW(buffer.reserve(huge), std::bad_alloc);
    EXPECT_EQ(text_of(buffer), "hello");
}

TEST(growable_bytes, grow_returns_the_first_new_byte)
{
    std::vector<std::uint8_t> bytes = {1, 2};
    *grow(bytes, 2) = 7;
    EXPECT_EQ(bytes, (std::vector<std::uint8_t>{1, 2, 7, 0}));

    std::string text = "ab";
    *grow(text, 1) = 'c';
    EXPECT_EQ(text, "abc");

    byte_buffer buffer;
    append(buffer, "ab");
    *grow(buffer, 1) = 'c';
    EXPECT_EQ(text_of(buffer), "abc");
}

}  // namespace
}  // namespace holdfast::bson::byte_buffer_test
