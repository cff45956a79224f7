#include "shell/recycled.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace holdfast::shell::recycled_test {
namespace {

template <std::size_t Size>
struct counted {
    int& alive;
    std::array<unsigned char, Size> bytes = {};

    explicit counted(int& count, bool refuses = false) : alive{count}
    {
        if (refuses)
            throw std::runtime_error{"refused"};
        ++alive;
    }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
};

using small = counted<100>;
using large = counted<2 * block_store::block_size>;

template <class T>
void expect_one_life()
{
    int alive = 0;
    {
        auto first = recycled<T>::make(alive);
        (*first).bytes.back() = 7;
        const auto second = recycled<T>::make(alive);
        EXPECT_EQ(alive, 2);
        EXPECT_NE(&*first, &*second);
        const auto moved = std::move(first);
        EXPECT_EQ((*moved).bytes.back(), 7);
        EXPECT_EQ(alive, 2);
    }
    EXPECT_EQ(alive, 0);
    // The address sanitizer reports a lost block.
    EXPECT_THROW((void)recycled<T>::make(alive, true), std::runtime_error);
    EXPECT_EQ(alive, 0);
}

TEST(recycled, object_lives_as_long_as_its_owner)
{
    expect_one_life<small>();
}

TEST(recycled, object_larger_than_a_block_is_supported)
{
    static_assert(sizeof(large) > block_store::block_size);
    expect_one_life<large>();
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer);
#else
constexpr bool sanitized = false;
#endif

TEST(recycled, freed_block_is_reused_unless_sanitized)
{
    int alive = 0;
    const void* before = nullptr;
    {
        const auto one = recycled<small>::make(alive);
        before = &*one;
    }
    const auto next = recycled<small>::make(alive);
    EXPECT_EQ(before == &*next, !sanitized) << "what a sanitizer has seen freed is not used again";
}

}  // namespace
}  // namespace holdfast::shell::recycled_test
