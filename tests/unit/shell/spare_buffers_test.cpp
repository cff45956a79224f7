#include "shell/spare_buffers.hpp"

#include "shell/recycled.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::shell::spare_buffers_test {
namespace {

bson::byte_buffer used(std::size_t bytes)
{
    bson::byte_buffer buffer;
    buffer.grow(bytes);
    return buffer;
}

class spare_buffers_of_a_thread : public ::testing::Test {
protected:
    spare_buffers_of_a_thread()
    {
        while (spare_buffers::take().capacity() != 0)
            continue;  // those of earlier tests
    }
};

TEST_F(spare_buffers_of_a_thread, buffer_given_back_is_taken_again_and_empty)
{
    if (block_store::most_kept == 0)
        GTEST_SKIP() << "nothing is kept under the address sanitizer";
    auto first = used(100);
    const std::uint8_t* const memory = first.data();
    spare_buffers::give_back(std::move(first));

    const auto second = spare_buffers::take();
    EXPECT_EQ(second.data(), memory);
    EXPECT_TRUE(second.empty());
    EXPECT_EQ(spare_buffers::take().capacity(), 0u);
}

TEST_F(spare_buffers_of_a_thread, large_buffer_is_not_kept)
{
    spare_buffers::give_back(used(spare_buffers::largest + 1));
    EXPECT_EQ(spare_buffers::take().capacity(), 0u);
}

TEST_F(spare_buffers_of_a_thread, buffers_beyond_the_limit_are_freed)
{
    for (std::size_t n = 0; n != block_store::most_kept + 10; ++n)
        spare_buffers::give_back(used(8));
    std::size_t kept = 0;
    while (spare_buffers::take().capacity() != 0)
        ++kept;
    EXPECT_EQ(kept, block_store::most_kept);
}

TEST_F(spare_buffers_of_a_thread, thread_that_ends_frees_its_buffers)
{
    std::thread{[] { spare_buffers::give_back(used(8)); }}.join();
    EXPECT_EQ(spare_buffers::take().capacity(), 0u);
}

}  // namespace
}  // namespace holdfast::shell::spare_buffers_test
