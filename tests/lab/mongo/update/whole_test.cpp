#include "lab/mongo/update/update_row.hpp"

namespace holdfast::lab::whole_test {
namespace {

void expect_upserts(std::initializer_list<update_row> rows)
{
    for (const update_row& row : rows) {
        const std::string expected = row.expected[0] == '{' ? canonical(json(row.expected))
                                                            : row.expected;
        EXPECT_EQ(upsert_outcome(row), expected) << row.query << " <- " << row.change;
    }
}

TEST(lab_update, replaces)
{
    expect_rows({
        {R"({"_id":1,"a":1})", R"({"b":2})", R"({"_id":1,"b":2})"},
        {R"({"_id":1,"a":1})", R"({})", R"({"_id":1})"},
        {R"({"_id":1,"a":1})", R"({"b":2,"_id":1,"c":3})", R"({"_id":1,"b":2,"c":3})"},
        {R"({"_id":1,"a":1})", R"({"b":{"$x":1},"c.d":2})", R"({"_id":1,"b":{"$x":1},"c.d":2})"},
        {R"({"_id":1,"a":1})", R"({"_id":2,"b":2})",
         "66: After applying the update, the (immutable) field '_id' was found to have been "
         "altered to _id: 2"},
        {R"({"_id":1,"a":1})", R"({"b":1})",
         "9: arrayFilters may not be specified for replacement-style updates", "{}",
         R"([{"i":1}])"},
    });
    const auto change = wrapped(R"({"a":1})");
    EXPECT_TRUE(update::compile({change["u"]})->is_replacement());
    const auto set = wrapped(R"({"$set":{"a":1}})");
    EXPECT_FALSE(update::compile({set["u"]})->is_replacement());
}

TEST(lab_update, fills_zero_timestamps_of_a_replacement)
{
    expression_context context;
    context.cluster_time = {9, 2};
    const auto change = wrapped(R"({"a":{"$timestamp":{"t":0,"i":0}},
                                    "b":{"c":{"$timestamp":{"t":0,"i":0}}}})");
    const auto done = update::compile({change["u"]}, {}, context)->apply(json(R"({"_id":1})"), {});
    ASSERT_TRUE(done);
    EXPECT_EQ(canonical(done->document),
              canonical(json(R"({"_id":1,"a":{"$timestamp":{"t":9,"i":2}},
                                 "b":{"c":{"$timestamp":{"t":0,"i":0}}}})")));
}

TEST(lab_update, upserts_from_equalities)
{
    expect_upserts({
        {"", R"({"$set":{"b":2}})", R"({"a":1,"b":2})", R"({"a":1})"},
        {"", R"({"$set":{"b":2}})", R"({"_id":5,"a":1,"b":2})", R"({"a":1,"_id":5})"},
        {"", R"({"$set":{"c":2}})", R"({"a":{"b":1},"c":2})", R"({"a.b":1})"},
        {"", R"({"$set":{"a.c":2}})", R"({"a":{"b":1,"c":2}})", R"({"a.b":1})"},
        {"", R"({"$set":{"c":2}})", R"({"c":2})", R"({"a":{"$gt":1}})"},
        {"", R"({"$set":{"c":2}})", R"({"a":3,"c":2})", R"({"a":{"$eq":3}})"},
        {"", R"({"$set":{"c":2}})", R"({"a":1,"b":2,"c":2})", R"({"$and":[{"b":2},{"a":1}]})"},
        {"", R"({"$set":{"c":2}})", R"({"c":2})", R"({"$or":[{"b":2},{"a":1}]})"},
        {"", R"({"$setOnInsert":{"b":2},"$inc":{"n":1}})", R"({"a":1,"b":2,"n":1})", R"({"a":1})"},
        {"", R"({"$set":{"a":2}})", R"({"a":2})", R"({"a":1})"},
        {"", R"({"$inc":{"a":2}})", R"({"a":3})", R"({"a":1})"},
        {"", R"({"$push":{"a":2}})", R"({"a":[2]})", "{}"},
        {"", R"({"$unset":{"a":2}})", R"({})", R"({"a":1})"},
        {"", R"({"$set":{"_id":7}})", R"({"_id":7,"a":1})", R"({"a":1})"},
        {"", R"({"$setOnInsert":{"_id":7}})", R"({"_id":7,"a":1})", R"({"a":1})"},
        {"", R"({"$set":{"_id":7}})",
         "66: Performing an update on the path '_id' would modify the immutable field '_id'",
         R"({"_id":1})"},
        {"", R"({"$set":{"_id":[7]}})", "53: The '_id' value cannot be of type array", "{}"},
        {"", R"({"$set":{"c":2}})",
         "54: cannot infer query fields to set, path 'a' is matched twice",
         R"({"$and":[{"a":1},{"a":2}]})"},
        {"", R"({"$set":{"c":2}})",
         "54: cannot infer query fields to set, both paths 'a' and 'a.b' are matched",
         R"({"a":{"x":1},"a.b":2})"},
        {"", R"({"$set":{"a.b":2}})", "28: Cannot create field 'b' in element {a: 1}",
         R"({"a":1})"},
        {"", R"({"$set":{"a.$":2}})",
         "2: The positional operator did not find the match needed from the query.", R"({"a":1})"},
        {"", R"({"$set":{"a.$[]":2}})",
         "2: The path 'a' must exist in the document in order to apply array updates.", "{}"},
        {"", R"({"b":2})", R"({"b":2})", R"({"a":1})"},
        {"", R"({"b":2})", R"({"_id":3,"b":2})", R"({"_id":3,"a":1})"},
        {"", R"({"b":2,"_id":4})", R"({"_id":4,"b":2})", R"({"a":1})"},
        {"", R"({"b":2})", R"({"b":2})", R"({"$and":[{"a":1},{"a":2}]})"},
        {"", R"({"b":2,"_id":4})",
         "66: After applying the update, the (immutable) field '_id' was found to have been "
         "altered to _id: 4",
         R"({"_id":3})"},
    });
}

TEST(lab_update, runs_pipelines)
{
    expect_rows({
        {R"({"_id":1,"a":1})", R"([{"$set":{"b":{"$add":["$a",1]}}}])", R"({"_id":1,"a":1,"b":2})"},
        {R"({"_id":1,"a":1})", R"([{"$addFields":{"b":"$a"}},{"$unset":"a"}])",
         R"({"_id":1,"b":1})"},
        {R"({"_id":1,"a":{"x":1}})", R"([{"$replaceWith":"$a"}])", R"({"_id":1,"x":1})"},
        {R"({"_id":1,"a":{"x":1}})", R"([{"$replaceRoot":{"newRoot":"$a"}}])",
         R"({"_id":1,"x":1})"},
        {R"({"_id":1,"a":1,"b":2})", R"([{"$project":{"a":1}}])", R"({"_id":1,"a":1})"},
        {R"({"_id":1,"a":1,"b":2})", R"([{"$project":{"_id":0,"a":1}}])", R"({"_id":1,"a":1})"},
        {R"({"_id":1,"a":1})", R"([])", R"({"_id":1,"a":1})"},
        {R"({"_id":1,"a":1})", R"([{"$set":{"_id":2}}])",
         "66: After applying the update, the (immutable) field '_id' was found to have been "
         "altered to _id: 2"},
        {R"({"_id":1,"a":1})", R"([{"$match":{"a":1}}])",
         "72: $match is not allowed to be used within an update"},
        {R"({"_id":1,"a":1})", R"([{"$set":{"a":1}},{"$group":{"_id":1}}])",
         "72: $group is not allowed to be used within an update"},
        {R"({"_id":1,"a":1})", R"([{"$nope":{"a":1}}])",
         "40324: Unrecognized pipeline stage name: '$nope'"},
        {R"({"_id":1,"a":1})", R"([{"$set":{"a":1},"$unset":"b"}])",
         "40323: A pipeline stage specification object must contain exactly one field."},
        {R"({"_id":1,"a":1})", R"([5])",
         "14: Each element of the 'pipeline' array must be an object"},
    });
    expect_upserts({
        {"", R"([{"$set":{"b":{"$add":["$a",1]}}}])", R"({"_id":9,"a":1,"b":2})",
         R"({"a":1,"_id":9})"},
    });
}

}  // namespace
}  // namespace holdfast::lab::whole_test
