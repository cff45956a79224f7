#include "holdfast/bson/errc.hpp"

#include "holdfast/bson/types.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace holdfast::bson::errc_test {
namespace {

TEST(bson_errc, converts_to_an_error_code_of_category_bson)
{
    const error_code code = errc::wrong_type;
    EXPECT_EQ(code, errc::wrong_type);
    EXPECT_NE(code, errc::missing_field);
    EXPECT_TRUE(code.failed());
    EXPECT_STREQ(code.category().name(), "bson");
    EXPECT_EQ(code.message(), "wrong type");
}

TEST(bson_errc, every_value_has_a_distinct_message)
{
    const std::string unknown = category().message(0);
    std::set<std::string> seen;
    for (int value = 1; value <= static_cast<int>(errc::invalid_value); ++value) {
        const std::string message = category().message(value);
        EXPECT_NE(message, unknown) << value;
        EXPECT_TRUE(seen.insert(message).second) << message;
    }
    EXPECT_EQ(category().message(999), unknown);
}

struct nesting {
    std::string_view path, message, field, outer_path, outer_message;
};

TEST(bson_inside, outer_key_prefixes_path_and_message)
{
    const nesting cases[] = {
        {"b", "b: expected int32", "a", "a.b", "a.b: expected int32"},
        {"b.0.c", "b.0.c: no such field", "a", "a.b.0.c", "a.b.0.c: no such field"},
        {"x", "x: expected string", "3", "3.x", "3.x: expected string"},
        {"", "expected int32", "a", "a", "a: expected int32"},
        {"b", "expected int32", "a", "a.b", "a.b: expected int32"},
        {"b", "bad value", "a", "a.b", "a.b: bad value"},  // only looks as if it had the path
    };
    for (const nesting& c : cases) {
        error inner{errc::wrong_type, std::string{c.message}};
        if (!c.path.empty())
            inner = std::move(inner).with_context("path", std::string{c.path});
        const error outer = inside(std::move(inner), c.field);
        EXPECT_EQ(outer.code(), errc::wrong_type);
        EXPECT_EQ(outer.context("path"), c.outer_path);
        EXPECT_EQ(outer.message(), c.outer_message);
    }
}

TEST(bson_inside, labels_context_and_history_are_kept)
{
    const error inner = error{errc::wrong_type, "b: expected int32"}
                            .with_label("first")
                            .with_label("second")
                            .with_context("found", "string")
                            .with_context("path", "b")
                            .with_context("expected", "int32")
                            .with_history({attempt{.server = endpoint{"a:1"}}});
    const error outer = inside(inside(inner, "2"), "a");
    EXPECT_EQ(outer.message(), "a.2.b: expected int32");
    EXPECT_TRUE(outer.has_label("first"));
    EXPECT_TRUE(outer.has_label("second"));
    EXPECT_EQ(outer.context("found"), "string");
    EXPECT_EQ(outer.context("expected"), "int32");
    EXPECT_EQ(outer.context("path"), "a.2.b");
    EXPECT_EQ(outer.context().size(), 3u);
    ASSERT_EQ(outer.history().size(), 1u);
    EXPECT_EQ(outer.history()[0].server, endpoint{"a:1"});
}

TEST(bson_type, name_of_matches_every_type_byte)
{
    const std::map<int, std::string_view> names = {
        {0x01, "double"},    {0x02, "string"},    {0x03, "document"},
        {0x04, "array"},     {0x05, "binary"},    {0x06, "undefined"},
        {0x07, "ObjectId"},  {0x08, "boolean"},   {0x09, "datetime"},
        {0x0A, "null"},      {0x0B, "regex"},     {0x0C, "DBPointer"},
        {0x0D, "code"},      {0x0E, "symbol"},    {0x0F, "code with scope"},
        {0x10, "int32"},     {0x11, "timestamp"}, {0x12, "int64"},
        {0x13, "Decimal128"}, {0x7F, "MaxKey"},   {0xFF, "MinKey"},
    };
    for (int byte = 0; byte <= 0xFF; ++byte) {
        const auto known = names.find(byte);
        EXPECT_EQ(name_of(static_cast<type>(byte)),
                  known == names.end() ? "invalid" : known->second)
            << byte;
    }
}

}  // namespace
}  // namespace holdfast::bson::errc_test
