#include "lab/mongo/document/collation.hpp"

#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::collation_test {
namespace {

int order(const collation& by, std::string_view a, std::string_view b)
{
    const auto found = by.compare(a, b);
    return found < 0 ? -1 : found > 0 ? 1 : 0;
}

TEST(collation, compares_by_strength)
{
    const struct {
        collation by;
        const char* a;
        const char* b;
        int order;
    } rows[] = {
        {{.strength = 1}, "cafe", "CAFÉ", 0},
        {{.strength = 2}, "cafe", "café", -1},
        {{.strength = 2}, "café", "CAFÉ", 0},
        {{.strength = 2}, "cafe\xCC\x81", "CAFÉ", 0},  // the accent as a mark of its own
        {{.strength = 3}, "a", "A", -1},
        {{.strength = 3}, "A", "b", -1},
        {{.strength = 3}, "aB", "Ab", -1},
        {{.strength = 3}, "a", "a", 0},
        {{.strength = 3}, "a", "ab", -1},
        {{.strength = 1, .case_level = true}, "e", "É", -1},
        {{.strength = 1, .case_level = true}, "e", "é", 0},
        {{.strength = 3}, "Zebra", "äpfel", 1},
        {{.strength = 3}, "1", "a", -1},
        {{.strength = 3}, "_", "1", -1},
        {{.strength = 2}, "ÖL", "öl", 0},
        {{.strength = 2}, "Ðx", "ðX", 0},
        {{.strength = 2}, "Ž", "ž", 0},
        {{.strength = 2}, "ПРИВЕТ", "привет", 0},
        {{.strength = 2}, "ΑΒΓ", "αβγ", 0},
        {{.numeric_ordering = true}, "item 10", "item 9", 1},
        {{.numeric_ordering = false}, "item 10", "item 9", -1},
        {{.numeric_ordering = true}, "a007b", "a7c", -1},
        {{.numeric_ordering = true}, "10", "10", 0},
        {{}, "", "", 0},
        {{}, "", "a", -1},
        {{}, "\xFF", "\xFE", 1},
        {{}, "\xE2\x82", "\xE2\x82", 0},
    };
    for (const auto& r : rows) {
        EXPECT_EQ(r.by.sort_key(r.a) == r.by.sort_key(r.b), r.order == 0) << r.a << " and " << r.b;
        EXPECT_EQ(order(r.by, r.a, r.b), r.order) << r.a << " and " << r.b;
        EXPECT_EQ(order(r.by, r.b, r.a), -r.order) << r.b << " and " << r.a;
    }
}

TEST(collation, collation_of_a_command_is_parsed)
{
    const auto read = [](const char* text) {
        return read_collation(bson::from_json(text).value()["collation"]);
    };
    EXPECT_EQ(read("{}").value(), std::nullopt);
    EXPECT_EQ(read(R"({"collation":{}})").value(), std::nullopt);
    EXPECT_EQ(read(R"({"collation":{"locale":"simple"}})").value(), std::nullopt);
    EXPECT_EQ(read(R"({"collation":{"locale":"en_US"}})").value(), collation{});
    EXPECT_EQ(read(R"({"collation":{"locale":"en_US","strength":2}})").value(),
              collation{.strength = 2});
    EXPECT_EQ(read(R"({"collation":{"locale":"fr","strength":5,"numericOrdering":true,
                       "caseLevel":true,"caseFirst":"off","backwards":false}})")
                  .value(),
              (collation{.strength = 3, .case_level = true, .numeric_ordering = true}));

    const struct {
        const char* text;
        int code;
    } refused[] = {
        {R"({"collation":1})", 14},
        {R"({"collation":{"strength":2}})", 40414},
        {R"({"collation":{"locale":5}})", 14},
        {R"({"collation":{"locale":"not a place"}})", 2},
        {R"({"collation":{"locale":"en","strength":9}})", 2},
        {R"({"collation":{"locale":"en","strength":"x"}})", 14},
        {R"({"collation":{"locale":"en","caseLevel":1}})", 14},
        {R"({"collation":{"locale":"en","cats":1}})", 40415},
    };
    for (const auto& r : refused) {
        const auto made = read(r.text);
        ASSERT_FALSE(made) << r.text;
        EXPECT_EQ(made.error().code().value(), r.code) << r.text;
    }
}

}  // namespace
}  // namespace holdfast::lab::collation_test
