#include "core/mongo/settings/concern.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/document.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::concern_test {
namespace {

using namespace std::chrono_literals;
using bson::doc;

TEST(read_concern, unset_level_is_omitted)
{
    EXPECT_TRUE(read_concern{}.is_default());
    EXPECT_EQ(to_document(read_concern{}), doc());
    EXPECT_FALSE(read_concern{"local"}.is_default());
    EXPECT_EQ(to_document(read_concern{"local"}), doc("level", "local"));
    EXPECT_EQ(to_document(read_concern{"of the future"}), doc("level", "of the future"));
}

TEST(write_concern, to_document_writes_w_j_and_wtimeout)
{
    struct row {
        const char* why;
        write_concern given;
        bson::document sent;
        bool is_default;
        bool acknowledged;
    };
    const row table[] = {
        {"nothing set", {}, doc(), true, true},
        {"a number", {.w = 3}, doc("w", 3), false, true},
        {"unacknowledged", {.w = 0}, doc("w", 0), false, false},
        {"w:0, no journal", {.w = 0, .journal = false}, doc("w", 0, "j", false), false, false},
        {"majority", {.w = "majority"}, doc("w", "majority"), false, true},
        {"a name", {.w = "two_places"}, doc("w", "two_places"), false, true},
        {"journal", {.journal = true}, doc("j", true), false, true},
        {"no journal", {.journal = false}, doc("j", false), false, true},
        {"a timeout is 64 bits",
         {.w = {}, .journal = {}, .wtimeout = 5ms},
         doc("wtimeout", std::int64_t{5}),
         false,
         true},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        EXPECT_TRUE(check(r.given));
        EXPECT_EQ(to_document(r.given), r.sent);
        EXPECT_EQ(r.given.is_default(), r.is_default);
        EXPECT_EQ(r.given.is_acknowledged(), r.acknowledged);
    }
}

TEST(write_concern, invalid_value_names_its_option)
{
    struct row {
        write_concern given;
        std::string_view option;
    };
    const row table[] = {
        {{.w = -1}, "w"},
        {{.w = ""}, "w"},
        {{.w = {}, .journal = {}, .wtimeout = -1ms}, "wTimeoutMS"},
        {{.w = 0, .journal = true}, "journal"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.option);
        const auto checked = check(r.given);
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code(), errc::invalid_option);
        EXPECT_EQ(checked.error().context("option"), r.option);
        EXPECT_TRUE(checked.error().message().starts_with(r.option));
    }
    EXPECT_TRUE(check({.w = 1, .journal = true}));
    EXPECT_TRUE(check({.w = {}, .journal = {}, .wtimeout = 0ms}));
}

}  // namespace
}  // namespace holdfast::core::mongo::concern_test
