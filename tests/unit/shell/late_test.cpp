#include "shell/late.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace holdfast::shell::late_test {
namespace {

/// Cannot be moved, so that it must have been made where it lies.
struct counted {
    explicit counted(int& count, int of) : alive{count}, value{of} { ++alive; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }

    int& alive;
    int value;
};

TEST(late, value_is_made_where_it_lies_and_lives_as_long)
{
    int alive = 0;
    {
        late<counted> one;
        EXPECT_EQ(alive, 0);
        one.make([&] { return counted{alive, 7}; });
        EXPECT_EQ((*one).value, 7);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TEST(late, second_value_takes_the_place_of_the_first)
{
    int alive = 0;
    late<counted> one;
    one.make([&] { return counted{alive, 1}; });
    one.make([&] { return counted{alive, 2}; });
    EXPECT_EQ((*one).value, 2);
    EXPECT_EQ(alive, 1);
}

TEST(late, value_that_cannot_be_made_leaves_none)
{
    int alive = 0;
    {
        late<counted> one;
        one.make([&] { return counted{alive, 1}; });
        EXPECT_THROW(one.make([]() -> counted { throw std::runtime_error{"refused"}; }),
                     std::runtime_error);
        EXPECT_EQ(alive, 0);
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace holdfast::shell::late_test
