#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::key_size_test {
namespace {

using bson::layout::key_size;

std::size_t size_of_first_key(const std::vector<std::uint8_t>& bytes)
{
    return key_size(bytes.data(), bytes.data() + bytes.size() - 1);
}

/// A key, `behind` bytes of a value and the end of the document. The buffer has not a byte more, so
/// that a sanitizer sees who reads too far.
std::vector<std::uint8_t> key_and_value(std::size_t length, std::size_t behind)
{
    std::vector<std::uint8_t> bytes(length, 'k');
    bytes.push_back(0);
    bytes.insert(bytes.end(), behind, 0xFF);
    bytes.push_back(0);
    return bytes;
}

TEST(key_size, key_of_any_length_is_measured_near_the_end)
{
    for (std::size_t length = 0; length < 40; ++length)
        for (std::size_t behind = 0; behind < 20; ++behind)
            EXPECT_EQ(size_of_first_key(key_and_value(length, behind)), length) << behind;
}

TEST(key_size, first_zero_byte_ends_the_key)
{
    EXPECT_EQ(size_of_first_key({'a', 0, 'b', 0, 1, 1, 1, 1, 1, 0}), 1U);
    EXPECT_EQ(size_of_first_key({0x80, 0x81, 0xFF, 0x01, 0, 0x01, 1, 1, 1, 0}), 4U);
    EXPECT_EQ(size_of_first_key({0x01, 0x01, 0x80, 0x01, 0x80, 0x7F, 0x01, 0x01, 0, 0}), 8U);
}

TEST(key_size, unterminated_key_ends_with_the_document)
{
    for (std::size_t length = 0; length < 20; ++length) {
        std::vector<std::uint8_t> bytes(length, 'k');
        bytes.push_back(0);
        EXPECT_EQ(size_of_first_key(bytes), length);
    }
}

TEST(key_size, every_element_reports_its_key_size)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (std::size_t length = 0; length < 20; ++length)
        out.add(std::string(length, 'x'), true);
    const auto whole = out.finish().value();
    std::size_t expected = 0;
    for (const bson::element& one : whole) {
        EXPECT_EQ(one.key(), std::string(expected++, 'x'));
        EXPECT_TRUE(one.as_bool());
    }
    EXPECT_EQ(expected, 20U);
}

}  // namespace
}  // namespace holdfast::key_size_test
