#include "core/couchbase/rows/text_marks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::text_marks_test {
namespace {

TEST(text_marks, every_byte_at_every_place_is_marked_as_one_by_one)
{
    for (int byte = 0; byte < 256; ++byte)
        for (std::size_t place = 0; place < marks_block; ++place) {
            std::string text(marks_block, 'x');
            text[place] = static_cast<char>(byte);
            text[(place + 7) % marks_block] = '{';
            ASSERT_EQ(marks_of(text.data()), marks_one_by_one(text.data(), marks_block))
                << byte << " at " << place;
        }
}

TEST(text_marks, part_of_a_block_has_no_marks_behind_it)
{
    const std::string text(marks_block, '"');
    for (std::size_t size = 0; size < marks_block; ++size)
        EXPECT_EQ(marks_of_part(text.data(), size).quotes, (std::uint64_t{1} << size) - 1);
}

TEST(text_marks, quotes_backslashes_and_brackets_have_bits_of_their_own)
{
    const std::string text = R"(a"\{}[]b)" + std::string(marks_block, ' ');
    EXPECT_EQ(marks_of(text.data()), (text_marks{0b10, 0b100, 0b1111000}));
}

}  // namespace
}  // namespace holdfast::core::couchbase::text_marks_test
