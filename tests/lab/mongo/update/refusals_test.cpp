#include "lab/mongo/update/update_row.hpp"

namespace holdfast::lab::refusals_test {
namespace {

TEST(lab_update, refuses_paths_that_cannot_be)
{
    expect_rows({
        {R"({"_id":1,"a":1})", R"({"$set":{"a.b":1}})",
         "28: Cannot create field 'b' in element {a: 1}"},
        {R"({"_id":1,"a":null})", R"({"$set":{"a.b.c":1}})",
         "28: Cannot create field 'b' in element {a: null}"},
        {R"({"_id":1,"a":{"b":"x"}})", R"({"$inc":{"a.b.c":1}})",
         "28: Cannot create field 'c' in element {b: \"x\"}"},
        {R"({"_id":1,"a":[1,2]})", R"({"$set":{"a.b":1}})",
         "28: Cannot create field 'b' in element {a: [ 1, 2 ]}"},
        {R"({"_id":1,"a":[1,2]})", R"({"$push":{"a.00":1}})",
         "28: Cannot create field '00' in element {a: [ 1, 2 ]}"},
        {R"({"_id":1,"a":[]})", R"({"$set":{"a.1500001":1}})",
         "34: can't backfill more than 1500000 elements"},
        {R"({"_id":1,"a":[]})", R"({"$set":{"a.99999999999999999999":1}})",
         "34: can't backfill more than 1500000 elements"},
        {R"({"_id":1})", R"({"$set":{"":1}})", "56: An empty update path is not valid."},
        {R"({"_id":1})", R"({"$set":{"a..b":1}})",
         "56: The update path 'a..b' contains an empty field name, which is not allowed."},
        {R"({"_id":1})", R"({"$set":{"a.":1}})",
         "56: The update path 'a.' contains an empty field name, which is not allowed."},
        {R"({"_id":1})", R"({"$set":{"$.a":1}})",
         "2: Cannot have positional (i.e. '$') element in the first position in path '$.a'"},
        {R"({"_id":1})", R"({"$set":{"$[].a":1}})",
         "2: Cannot have array filter identifier (i.e. '$[<id>]') element in the first position "
         "in path '$[].a'"},
        {R"({"_id":1})", R"({"$set":{"a.$.b.$":1}})",
         "2: Too many positional (i.e. '$') elements found in path 'a.$.b.$'"},
        {R"({"_id":1})", R"({"$set":{"$a":1}})",
         "52: The dollar ($) prefixed field '$a' in '$a' is not allowed in the context of an "
         "update's replacement document. Consider using an aggregation pipeline with "
         "$replaceWith."},
    });
}

TEST(lab_update, refuses_conflicts_and_a_new_id)
{
    expect_rows({
        {R"({"_id":1})", R"({"$set":{"a":1},"$inc":{"a":1}})",
         "40: Updating the path 'a' would create a conflict at 'a'"},
        {R"({"_id":1})", R"({"$set":{"a":1,"a.b":1}})",
         "40: Updating the path 'a.b' would create a conflict at 'a'"},
        {R"({"_id":1})", R"({"$set":{"a.b":1,"a":1}})",
         "40: Updating the path 'a' would create a conflict at 'a'"},
        {R"({"_id":1})", R"({"$set":{"a.b.c":1},"$unset":{"a.b":1}})",
         "40: Updating the path 'a.b' would create a conflict at 'a.b'"},
        {R"({"_id":1,"a":[1]})", R"({"$set":{"a.$[]":1,"a.0":1}})",
         "40: Updating the path 'a.0' would create a conflict at 'a'"},
        {R"({"_id":1})", R"({"$set":{"a":1},"$setOnInsert":{"a":1}})",
         "40: Updating the path 'a' would create a conflict at 'a'"},
        {R"({"_id":1})", R"({"$set":{"_id":2}})",
         "66: Performing an update on the path '_id' would modify the immutable field '_id'"},
        {R"({"_id":1})", R"({"$inc":{"_id":1}})",
         "66: Performing an update on the path '_id' would modify the immutable field '_id'"},
        {R"({"_id":1})", R"({"$unset":{"_id":1}})",
         "66: Performing an update on the path '_id' would modify the immutable field '_id'"},
        {R"({"_id":{"a":1}})", R"({"$set":{"_id.a":2}})",
         "66: Performing an update on the path '_id.a' would modify the immutable field '_id'"},
        {R"({"_id":{"a":1}})", R"({"$set":{"_id.a":1,"b":2}})", R"({"_id":{"a":1},"b":2})"},
        {R"({"_id":1})", R"({"$rename":{"_id":"b"}})",
         "66: Performing an update on the path '_id' would modify the immutable field '_id'"},
    });
}

TEST(lab_update, refuses_what_is_no_update)
{
    expect_rows({
        {R"({"_id":1})", R"({"$foo":{"a":1}})",
         "9: Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update "
         "specified as an array"},
        {R"({"_id":1})", R"({"$set":{"a":1},"b":1})",
         "9: Unknown modifier: b. Expected a valid update modifier or pipeline-style update "
         "specified as an array"},
        {R"({"_id":1})", R"({"$set":5})",
         "9: Modifiers operate on fields but we found type int instead. For example: {$mod: "
         "{<field>: ...}} not {$set: 5}"},
        {R"({"_id":1})", "5", "9: Update argument must be either an object or an array"},
        {R"({"_id":1})", R"({"a":1,"$set":{"b":1}})",
         "52: The dollar ($) prefixed field '$set' in '$set' is not allowed in the context of an "
         "update's replacement document. Consider using an aggregation pipeline with "
         "$replaceWith."},
    });
    const auto change = wrapped(R"({"a":1})");
    const auto made = update::compile({.change = change["u"], .multi = true});
    ASSERT_FALSE(made);
    EXPECT_EQ(received(made.error()),
              "9: multi update is not supported for replacement-style update");
    EXPECT_EQ(update::compile({}).error().code().value(), 9);
}

TEST(lab_update, n_modified_counts_only_changed_documents)
{
    const auto changed = [](const char* document, const char* change) {
        bool did = false;
        outcome({document, change, ""}, &did);
        return did;
    };
    EXPECT_FALSE(changed(R"({"_id":1,"a":1})", R"({"$set":{"a":1}})"));
    EXPECT_TRUE(changed(R"({"_id":1,"a":1})", R"({"$set":{"a":1.0}})"));
    EXPECT_FALSE(changed(R"({"_id":1,"a":1})", R"({"$inc":{"a":0}})"));
    EXPECT_FALSE(changed(R"({"_id":1,"a":[1,2]})", R"({"$addToSet":{"a":2}})"));
    EXPECT_FALSE(changed(R"({"_id":1,"a":[1,2]})", R"({"$pull":{"a":3}})"));
    EXPECT_FALSE(changed(R"({"_id":1,"a":[1,2]})", R"({"$push":{"a":{"$each":[]}}})"));
    EXPECT_FALSE(changed(R"({"_id":1,"a":1})", R"({"a":1})"));
    EXPECT_TRUE(changed(R"({"_id":1,"a":1,"b":2})", R"({"b":2,"a":1})"));
    EXPECT_TRUE(changed(R"({"_id":1,"a":1})", R"({"$unset":{"a":1}})"));
}

std::string nested(int depth)
{
    std::string text;
    for (int i = 0; i < depth; ++i)
        text += R"({"a":)";
    text += "1" + std::string(static_cast<std::size_t>(depth), '}');
    return text;
}

TEST(lab_update, update_is_refused_beyond_document_limits)
{
    const std::string big(9 * 1024 * 1024, 'x');
    const std::string value = R"({"_id":1,"a":")" + big + "\"}";
    const std::string set = R"({"$set":{"b":")" + big + "\"}}";
    EXPECT_EQ(outcome({value.c_str(), set.c_str(), ""}),
              "17419: Resulting document after update is larger than 16777216");
    // Each of these paths alone would be allowed.
    EXPECT_EQ(outcome({R"({"_id":1,"a":[],"b":[],"c":[]})",
                       R"({"$set":{"a.1400000":1,"b.1400000":1,"c.1400000":1}})", ""}),
              "17419: Resulting document after update is larger than 16777216");
    std::string path = "a";
    for (int i = 0; i < 60; ++i)
        path += ".a";
    const std::string deep = R"({"$set":{")" + path + "\":" + nested(39) + "}}";
    EXPECT_EQ(outcome({R"({"_id":1})", deep.c_str(), ""}).substr(0, 3), R"({"_)");
    const std::string deeper = R"({"$set":{")" + path + "\":" + nested(40) + "}}";
    EXPECT_EQ(outcome({R"({"_id":1})", deeper.c_str(), ""}).substr(0, 3), "15:");
    std::string endless = R"({"$set":{"a)";
    for (int i = 0; i < 5000; ++i)
        endless += ".a";
    endless += R"(":1}})";
    EXPECT_EQ(outcome({R"({"_id":1})", endless.c_str(), ""}).substr(0, 3), "15:");
}

/// Every byte of an update turned into another: an answer each time, and no more.
TEST(lab_update, survives_broken_bytes)
{
    const auto change = json(R"({"u":{"$set":{"a.b":{"c":[1,"x"]}},"$push":{"d":{"$each":[1,2],
        "$sort":{"x":1},"$slice":-2}},"$pull":{"e":{"$gt":1}},"$inc":{"a.$[i].n":1},
        "$rename":{"x":"y"},"$bit":{"z":{"or":3}}},"f":[{"i.q":{"$gt":0}}]})");
    const auto document = json(R"({"_id":1,"a":{"b":1},"d":[3,{"x":2}],"e":[1,2],"x":5})");
    for (std::size_t at = 4; at + 1 < change.size(); ++at) {
        for (const int flip : {0x01, 0x04, 0x10, 0x80, 0xFF}) {
            std::vector<std::uint8_t> bytes(change.bytes().begin(), change.bytes().end());
            bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ flip);
            const auto broken = bson::view::parse(bytes);
            if (!broken || broken->find("f").type() != bson::type::array)
                continue;
            const auto made = update::compile({broken->find("u"), broken->find("f").as_array()});
            if (made)
                (void)made->apply(document, {});
        }
    }
    const auto sound = wrapped(R"({"$set":{"a.b":2},"$push":{"d":1},"$pull":{"e":2}})");
    const auto made = update::compile({sound["u"]});
    ASSERT_TRUE(made);
    for (std::size_t at = 4; at + 1 < document.size(); ++at) {
        std::vector<std::uint8_t> bytes(document.bytes().begin(), document.bytes().end());
        bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 0x11);
        if (const auto broken = bson::view::parse(bytes))
            (void)made->apply(*broken, {});
    }
}

}  // namespace
}  // namespace holdfast::lab::refusals_test
