#include "holdfast/secret.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::secret_test {
namespace {

template <class T>
concept streamable = requires(std::ostream& out, const T& what) { out << what; };
template <class T>
concept concatenable = requires(std::string text, const T& what) { text + what; };

static_assert(!streamable<secret> && streamable<std::string_view>);
static_assert(!concatenable<secret> && concatenable<const char*>);
static_assert(!std::convertible_to<secret, std::string_view>);

TEST(secret, compares_and_copies_like_text)
{
    std::optional<secret> given = "lovelace";
    EXPECT_TRUE(given == "lovelace");
    EXPECT_TRUE(given == std::optional<std::string>{"lovelace"});
    EXPECT_FALSE(given == std::optional<secret>{});
    secret copy = *given;
    given.reset();
    EXPECT_EQ(copy.view(), "lovelace");
    secret moved = std::move(copy);
    EXPECT_EQ(moved.view(), "lovelace");
    moved = secret{std::string{"babbage"}};
    EXPECT_EQ(moved.view(), "babbage");
}

TEST(secret, copy_move_and_assignment_keep_the_value)
{
    const secret one{"pen", "cil"};
    secret two = one;
    EXPECT_EQ(two.view(), "pencil");
    secret three = std::move(two);
    EXPECT_EQ(three.view(), "pencil");
    three = secret{"other"};
    EXPECT_EQ(three.view(), "other");
    three = one;
    EXPECT_EQ(three.view(), "pencil");
    three = secret{};
    EXPECT_TRUE(three.view().empty());
}

TEST(secret, parts_and_bytes_become_one_text)
{
    EXPECT_EQ((secret{"love", std::string_view{"\0", 1}, "lace"}.view()),
              (std::string_view{"love\0lace", 9}));
    std::vector<char> bytes{'a', 'd', 'a'};
    const char* const memory = bytes.data();
    const secret adopted{std::move(bytes)};
    EXPECT_EQ(adopted.view(), "ada");
    EXPECT_EQ(adopted.view().data(), memory) << "a copy would be left behind";
}

TEST(secret, wiped_text_leaves_nothing_in_its_memory)
{
    std::string text = "lovelace, and longer than a small string";
    const char* const bytes = text.data();
    const std::size_t size = text.size();
    wipe(text);
    EXPECT_TRUE(text.empty());
    ASSERT_EQ(text.data(), bytes);  // resize() would write zeros of its own
    EXPECT_TRUE(std::all_of(bytes, bytes + size, [](char c) { return c == '\0'; }));
}

}  // namespace
}  // namespace holdfast::secret_test
