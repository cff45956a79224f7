#include "lab/mongo/document/shell_text.hpp"

#include "holdfast/bson/document.hpp"
#include "holdfast/bson/json.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::shell_text_test {
namespace {

struct text_row {
    const char* document;
    const char* printed;
};

TEST(lab_shell_text, value_is_printed_as_a_server_prints_it)
{
    const text_row rows[] = {
        {"{}", "{}"},
        {R"({"a": 1, "b": {"$numberLong": "2"}})", "{ a: 1, b: 2 }"},
        {R"({"a": 1.0, "b": 1.5, "c": -0.25})", "{ a: 1.0, b: 1.5, c: -0.25 }"},
        {R"({"a": "x\"y"})", R"({ a: "x\"y" })"},
        {R"({"a": {"b": null}, "c": [1, "z", []]})", R"({ a: { b: null }, c: [ 1, "z", [] ] })"},
        {R"({"_id": {"$oid": "5f0000000000000000000001"}})",
         "{ _id: ObjectId('5f0000000000000000000001') }"},
        {R"({"a": true, "b": {"$undefined": true}})", "{ a: true, b: undefined }"},
        {R"({"a": {"$date": {"$numberLong": "1234"}}})", "{ a: new Date(1234) }"},
        {R"({"a": {"$timestamp": {"t": 5, "i": 6}}})", "{ a: Timestamp(5, 6) }"},
        {R"({"a": {"$numberDecimal": "1.50"}})", "{ a: 1.50 }"},
        {R"({"a": {"$regularExpression": {"pattern": "x", "options": "i"}}})", "{ a: /x/i }"},
        {R"({"a": {"$minKey": 1}, "b": {"$maxKey": 1}})", "{ a: MinKey, b: MaxKey }"},
        {R"({"a": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}})",
         R"({ a: UUID("00112233-4455-6677-8899-aabbccddeeff") })"},
        {R"({"a": {"$binary": {"base64": "AQI=", "subType": "00"}}})", "{ a: BinData(0, 0102) }"},
    };
    for (const text_row& row : rows)
        EXPECT_EQ(shell_text(json(row.document)), row.printed);
}

TEST(lab_shell_text, field_is_printed_with_its_name)
{
    const bson::document made = json(R"({"a": {"b": [1, null]}, "c": "x"})");
    EXPECT_EQ(shell_text_of(made["a"]), "a: { b: [ 1, null ] }");
    EXPECT_EQ(shell_text_of(made["c"]), R"(c: "x")");
    EXPECT_EQ(shell_text_of(made), R"({ a: { b: [ 1, null ] }, c: "x" })");
}

TEST(lab_shell_text, long_text_is_truncated)
{
    const bson::document text = bson::doc("a", std::string(151, 'x'));
    EXPECT_EQ(shell_text_of(text["a"]), "a: \"" + std::string(150, 'x') + "...\"");
    bson::document many = bson::doc("a", 1);
    for (int i = 0; i < 100; ++i)
        many = bson::doc("a", many, "b", 1);
    EXPECT_LT(shell_text_of(many).size(), 600U);
    EXPECT_GT(shell_text(many).size(), 1000U);
}

}  // namespace
}  // namespace holdfast::lab::shell_text_test
