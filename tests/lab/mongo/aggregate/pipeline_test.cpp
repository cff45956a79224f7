// tidy: table of pipelines and what the manual says of them
#include "lab/mongo/aggregate/pipeline_rows.hpp"

namespace holdfast::lab::pipeline_test {
namespace {

constexpr const char* letters = R"([{"_id": 1, "a": "x", "n": 3}, {"_id": 2, "a": "y", "n": 1},
    {"_id": 3, "a": "x", "n": 2}])";

TEST(lab_pipeline, filters_orders_and_windows)
{
    const pipeline_row rows[] = {
        {letters, "[]", letters},
        {letters, R"([{"$match": {"a": "y"}}])", R"([{"_id": 2, "a": "y", "n": 1}])"},
        {letters, R"([{"$match": {"$expr": {"$gt": ["$n", "$$least"]}}}])",
         R"([{"_id": 1, "a": "x", "n": 3}])"},
        {letters, R"([{"$sort": {"a": -1, "n": 1}}, {"$project": {"_id": 1}}])",
         R"([{"_id": 2}, {"_id": 3}, {"_id": 1}])"},
        {letters, R"([{"$limit": 1}])", R"([{"_id": 1, "a": "x", "n": 3}])"},
        {letters, R"([{"$skip": 2}])", R"([{"_id": 3, "a": "x", "n": 2}])"},
        {letters, R"([{"$skip": 0}, {"$limit": 100}])", letters},
        {letters, R"([{"$skip": 99}])", "[]"},
        {letters, R"([{"$count": "all"}])", R"([{"all": 3}])"},
        {"[]", R"([{"$count": "all"}])", "[]"},
        {letters, R"([{"$sample": {"size": 2}}, {"$count": "n"}])", R"([{"n": 2}])"},
        {letters, R"([{"$sample": {"size": 9}}, {"$count": "n"}])", R"([{"n": 3}])"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_pipeline, projections)
{
    const char* const one = R"([{"_id": 1, "a": {"b": 1, "c": 2}, "d": [{"e": 1, "f": 2}, 5],
        "g": 7}])";
    const pipeline_row rows[] = {
        {one, R"([{"$project": {"g": 1}}])", R"([{"_id": 1, "g": 7}])"},
        {one, R"([{"$project": {"g": 1, "_id": 0}}])", R"([{"g": 7}])"},
        {one, R"([{"$project": {"a.b": 1}}])", R"([{"_id": 1, "a": {"b": 1}}])"},
        {one, R"([{"$project": {"a": {"b": 1}}}])", R"([{"_id": 1, "a": {"b": 1}}])"},
        {one, R"([{"$project": {"d.e": true}}])", R"([{"_id": 1, "d": [{"e": 1}]}])"},
        {one, R"([{"$project": {"g.x": 1}}])", R"([{"_id": 1}])"},
        {one, R"([{"$project": {"a": 0, "d": 0}}])", R"([{"_id": 1, "g": 7}])"},
        {one, R"([{"$project": {"d.e": 0, "a": 0}}])",
         R"([{"_id": 1, "d": [{"f": 2}, 5], "g": 7}])"},
        {one, R"([{"$project": {"_id": 0}}])",
         R"([{"a": {"b": 1, "c": 2}, "d": [{"e": 1, "f": 2}, 5], "g": 7}])"},
        {one, R"([{"$project": {"_id": 0, "sum": {"$add": ["$a.b", "$g"]}, "name": "$g"}}])",
         R"([{"sum": 8, "name": 7}])"},
        {one, R"([{"$project": {"_id": 0, "n": {"x": "$g"}, "no": "$nope"}}])",
         R"([{"n": {"x": 7}}])"},
        {one, R"([{"$project": {"_id": 0, "text": "plain", "list": ["$g", 1]}}])",
         R"([{"text": "plain", "list": [7, 1]}])"},
        {one, R"([{"$project": {"_id": 0, "g": {"$literal": 1}}}])", R"([{"g": 1}])"},
        {one, R"([{"$project": {"a.b": 1}}, {"$addFields": {"a.z": "$a.b", "x": 1}}])",
         R"([{"_id": 1, "a": {"b": 1, "z": 1}, "x": 1}])"},
        {one, R"([{"$unset": ["a", "d", "g"]}, {"$set": {"v": {"w": 1}, "_id": "new"}}])",
         R"([{"_id": "new", "v": {"w": 1}}])"},
        {R"([{"a": [{"b": 1}, 2]}])", R"([{"$set": {"a.c": 9}}])",
         R"([{"a": [{"b": 1, "c": 9}, {"c": 9}]}])"},
        {R"([{"a": 1, "b": 2}])", R"([{"$addFields": {"a": "$b", "b": "$a"}}])",
         R"([{"a": 2, "b": 1}])"},
        {R"([{"a": 1, "b": 2}])", R"([{"$set": {"a": "$$REMOVE", "b": false}}])",
         R"([{"b": false}])"},
        {R"([{"a": {"b": 1, "c": 2}}])", R"([{"$unset": "a.b"}])", R"([{"a": {"c": 2}}])"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_pipeline, groups)
{
    const pipeline_row rows[] = {
        {letters, R"([{"$group": {"_id": "$a", "n": {"$sum": "$n"}}}])",
         R"([{"_id": "x", "n": 5}, {"_id": "y", "n": 1}])"},
        {letters, R"([{"$group": {"_id": null, "count": {"$sum": 1}, "c": {"$count": {}},
             "mean": {"$avg": "$n"}, "least": {"$min": "$n"}, "most": {"$max": "$n"}}}])",
         R"([{"_id": null, "count": 3, "c": 3, "mean": 2.0, "least": 1, "most": 3}])"},
        {letters, R"([{"$group": {"_id": "$a", "first": {"$first": "$n"}, "last": {"$last": "$n"},
             "all": {"$push": "$n"}, "none": {"$first": "$zz"}}}])",
         R"([{"_id": "x", "first": 3, "last": 2, "all": [3, 2], "none": null},
             {"_id": "y", "first": 1, "last": 1, "all": [1], "none": null}])"},
        {letters, R"([{"$group": {"_id": null, "set": {"$addToSet": "$a"},
             "skipped": {"$push": "$zz"}}}])",
         R"([{"_id": null, "set": ["x", "y"], "skipped": []}])"},
        {letters, R"([{"$group": {"_id": {"k": "$a"}}}])",
         R"([{"_id": {"k": "x"}}, {"_id": {"k": "y"}}])"},
        {R"([{"a": 1}, {"a": 1.0}, {"a": {"$numberLong": "1"}}, {}, {"a": null}])",
         R"([{"$group": {"_id": "$a", "n": {"$sum": 1}}}])",
         R"([{"_id": 1, "n": 3}, {"_id": null, "n": 2}])"},
        {R"([{"o": {"a": 1}}, {"o": null}, {"o": {"b": 2, "a": 3}}])",
         R"([{"$group": {"_id": 0, "o": {"$mergeObjects": "$o"}}}])",
         R"([{"_id": 0, "o": {"a": 3, "b": 2}}])"},
        {letters, R"([{"$sortByCount": "$a"}])",
         R"([{"_id": "x", "count": 2}, {"_id": "y", "count": 1}])"},
        {letters, R"([{"$bucket": {"groupBy": "$n", "boundaries": [1, 3, 5]}}])",
         R"([{"_id": 1, "count": 2}, {"_id": 3, "count": 1}])"},
        {letters, R"([{"$bucket": {"groupBy": "$n", "boundaries": [2, 3], "default": "other",
             "output": {"ids": {"$push": "$_id"}}}}])",
         R"([{"_id": 2, "ids": [3]}, {"_id": "other", "ids": [1, 2]}])"},
        {"[]", R"([{"$group": {"_id": null, "n": {"$sum": 1}}}])", "[]"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_pipeline, unwinding_and_new_roots)
{
    const char* const sizes = R"([{"_id": 1, "s": ["S", "M"]}, {"_id": 2, "s": []},
        {"_id": 3, "s": "M"}, {"_id": 4}, {"_id": 5, "s": null}])";
    const pipeline_row rows[] = {
        {sizes, R"([{"$unwind": "$s"}])",
         R"([{"_id": 1, "s": "S"}, {"_id": 1, "s": "M"}, {"_id": 3, "s": "M"}])"},
        {sizes, R"([{"$unwind": {"path": "$s", "preserveNullAndEmptyArrays": true}}])",
         R"([{"_id": 1, "s": "S"}, {"_id": 1, "s": "M"}, {"_id": 2}, {"_id": 3, "s": "M"},
             {"_id": 4}, {"_id": 5, "s": null}])"},
        {sizes, R"([{"$unwind": {"path": "$s", "includeArrayIndex": "i"}}])",
         R"([{"_id": 1, "s": "S", "i": {"$numberLong": "0"}},
             {"_id": 1, "s": "M", "i": {"$numberLong": "1"}}, {"_id": 3, "s": "M", "i": null}])"},
        {R"([{"a": {"b": [1, 2], "c": 3}}])", R"([{"$unwind": "$a.b"}])",
         R"([{"a": {"b": 1, "c": 3}}, {"a": {"b": 2, "c": 3}}])"},
        {R"([{"a": {"b": 1}}])", R"([{"$replaceRoot": {"newRoot": "$a"}}])", R"([{"b": 1}])"},
        {R"([{"a": {"b": 1}}])", R"([{"$replaceWith": {"$mergeObjects": [{"z": 0}, "$a"]}}])",
         R"([{"z": 0, "b": 1}])"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_pipeline, stages_read_other_collections)
{
    const char* const orders = R"([{"_id": 1, "item": "almonds"}, {"_id": 2, "item": "pecans"},
        {"_id": 3}, {"_id": 4, "item": ["bread", "almonds"]}])";
    const pipeline_row rows[] = {
        {orders, R"([{"$lookup": {"from": "inventory", "localField": "item",
             "foreignField": "sku", "as": "docs"}}, {"$project": {"docs._id": 1}}])",
         R"([{"_id": 1, "docs": [{"_id": 1}]}, {"_id": 2, "docs": []},
             {"_id": 3, "docs": [{"_id": 3}, {"_id": 4}]},
             {"_id": 4, "docs": [{"_id": 1}, {"_id": 2}]}])"},
        {R"([{"_id": 1, "need": 100}])",
         R"([{"$lookup": {"from": "inventory", "let": {"n": "$need"}, "pipeline": [
             {"$match": {"$expr": {"$gte": ["$instock", "$$n"]}}},
             {"$project": {"_id": 0, "sku": 1, "n": "$$n", "l": "$$least"}}], "as": "x"}}])",
         R"([{"_id": 1, "need": 100, "x": [{"sku": "almonds", "n": 100, "l": 2}]}])"},
        {R"([{"_id": 1, "item": "bread"}])",
         R"([{"$lookup": {"from": {"db": "other", "coll": "inventory"}, "localField": "item",
             "foreignField": "sku", "pipeline": [{"$project": {"instock": 1, "_id": 0}}],
             "as": "a.b"}}])",
         R"([{"_id": 1, "item": "bread", "a": {"b": [{"instock": 80}]}}])"},
        {R"([{"_id": 1}])",
         R"([{"$lookup": {"pipeline": [{"$documents": [{"x": 1}]}], "as": "d"}}])",
         R"([{"_id": 1, "d": [{"x": 1}]}])"},
        {R"([{"_id": 9}])", R"([{"$unionWith": "inventory"}, {"$project": {"_id": 1}}])",
         R"([{"_id": 9}, {"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}])"},
        {R"([{"_id": 9}])",
         R"([{"$unionWith": {"coll": "inventory", "pipeline": [{"$limit": 1}]}},
             {"$project": {"_id": 1}}])",
         R"([{"_id": 9}, {"_id": 1}])"},
        {R"([{"_id": 9}])", R"([{"$unionWith": "nothing"}])", R"([{"_id": 9}])"},
        {letters, R"([{"$facet": {"n": [{"$count": "n"}], "top": [{"$sort": {"n": -1}},
             {"$limit": 1}, {"$project": {"_id": 1}}], "same": [{"$match": {"n": 99}}]}}])",
         R"([{"n": [{"n": 3}], "top": [{"_id": 1}], "same": []}])"},
        {"[]", R"([{"$collStats": {"count": {}}}])", R"([{"asked": {"count": {}}}])"},
        {"[]", R"([{"$indexStats": {}}])", R"([{"name": "_id_"}])"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_pipeline, collectionless_stages_run_on_aggregate_1)
{
    const pipeline_row rows[] = {
        {"[]", R"([{"$documents": [{"a": 1}, {"a": {"$add": [1, 1]}}]}])",
         R"([{"a": 1}, {"a": 2}])"},
        {"[]", R"([{"$listLocalSessions": {}}, {"$limit": 1},
             {"$addFields": {"dummy": "dummy field"}}, {"$project": {"_id": 0, "dummy": 1}}])",
         R"([{"dummy": "dummy field"}])"},
        {"[]", R"([{"$currentOp": {"allUsers": false}}])", R"([{"op": "getmore"}])"},
    };
    for (const auto& row : rows)
        check(row, false);
    for (const char* stages : {"[]", R"([{"$match": {}}])"}) {
        const auto refused = pipeline::compile(json_array(stages), false);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code().value(), 73);
    }
}

constexpr pipeline_refusal refusals[] = {
    {R"([{"$nope": 1}])", 40324},
    {R"([{}])", 40323},
    {R"([{"$match": {}, "$limit": 1}])", 40323},
    {R"([5])", 14},
    {R"([{"$match": 5}])", 15959},
    {R"([{"$sort": 5}])", 15973},
    {R"([{"$sort": {}}])", 15976},
    {R"([{"$sort": {"a": 2}}])", 15975},
    {R"([{"$limit": 0}])", 15958},
    {R"([{"$limit": -1}])", 5107201},
    {R"([{"$limit": "x"}])", 5107201},
    {R"([{"$skip": -1}])", 5107200},
    {R"([{"$count": 5}])", 40156},
    {R"([{"$count": ""}])", 40157},
    {R"([{"$count": "$a"}])", 40158},
    {R"([{"$count": "a.b"}])", 40160},
    {R"([{"$project": 5}])", 15969},
    {R"([{"$project": {}}])", 51272},
    {R"([{"$project": {"a": 1, "b": 0}}])", 31254},
    {R"([{"$project": {"a": 0, "b": 1}}])", 31253},
    {R"([{"$project": {"a": 0, "b": "x"}}])", 31310},
    {R"([{"$project": {"a": 0, "b": {"$add": [1, 2]}}}])", 31252},
    {R"([{"$project": {"a": {"$nope": 1}}}])", 31325},
    {R"([{"$project": {"a": {"b": {"$nope": 1}}}}])", 31325},
    {R"([{"$project": {"a": {"$add": [{"$nope": 1}]}}}])", 168},
    {R"([{"$project": {"a": {"$elemMatch": {"b": 1}}}}])", 168},
    {R"([{"$addFields": {"a": {"$nope": 1}}}])", 168},
    {R"([{"$project": {"a": 0, "b": "$c"}}])", 31310},
    {R"([{"$project": {"a": 1, "a.b": 1}}])", 31249},
    {R"([{"$project": {"a.b": 1, "a": 1}}])", 31250},
    {R"([{"$project": {"a": {}}}])", 51270},
    {R"([{"$project": {"$a": 1}}])", 16410},
    {R"([{"$addFields": 5}])", 40272},
    {R"([{"$set": {}}])", 40177},
    {R"([{"$set": {"a": 1, "a.b": 2}}])", 40176},
    {R"([{"$set": {"a": "$$nope"}}])", 17276},
    {R"([{"$unset": 5}])", 31002},
    {R"([{"$unset": []}])", 31119},
    {R"([{"$unset": [5]}])", 31120},
    {R"([{"$group": 5}])", 15947},
    {R"([{"$group": {"n": {"$sum": 1}}}])", 15955},
    {R"([{"$group": {"_id": 1, "n": 5}}])", 40234},
    {R"([{"$group": {"_id": 1, "n": {"$nope": 1}}}])", 15952},
    {R"([{"$group": {"_id": 1, "n": {"$sum": 1, "$avg": 1}}}])", 40238},
    {R"([{"$group": {"_id": 1, "a.b": {"$sum": 1}}}])", 40235},
    {R"([{"$group": {"_id": 1, "n": {"$sum": ["$a", "$b"]}}}])", 40237},
    {R"([{"$unwind": 5}])", 15981},
    {R"([{"$unwind": "a"}])", 28818},
    {R"([{"$unwind": {}}])", 28812},
    {R"([{"$unwind": {"path": "$a", "x": 1}}])", 28811},
    {R"([{"$replaceRoot": {}}])", 40414},
    {R"([{"$replaceWith": "$a"}])", 40228},
    {R"([{"$sortByCount": "a"}])", 40148},
    {R"([{"$sortByCount": 5}])", 40149},
    {R"([{"$sample": {}}])", 28749},
    {R"([{"$sample": {"size": -1}}])", 28747},
    {R"([{"$facet": {}}])", 40169},
    {R"([{"$facet": {"a": 1}}])", 40170},
    {R"([{"$facet": {"a": [{"$out": "x"}]}}])", 40600},
    {R"([{"$facet": {"a": [{"$facet": {"b": []}}]}}])", 40600},
    {R"([{"$bucket": {"groupBy": "$a"}}])", 40198},
    {R"([{"$bucket": {"groupBy": "$a", "boundaries": [1]}}])", 40192},
    {R"([{"$bucket": {"groupBy": "$a", "boundaries": [2, 1]}}])", 40194},
    {R"([{"$bucket": {"groupBy": "$a", "boundaries": [1, 2], "default": 1}}])", 40199},
    {R"([{"$bucket": {"groupBy": "$a", "boundaries": [1, 2]}}])", 40066},
    {R"([{"$lookup": 5}])", 9},
    {R"([{"$lookup": {"from": "x", "localField": "a", "foreignField": "b"}}])", 9},
    {R"([{"$lookup": {"from": "x", "localField": "a", "as": "b"}}])", 9},
    {R"([{"$lookup": {"from": "x", "pipeline": [{"$nope": 1}], "as": "b"}}])", 40324},
    {R"([{"$lookup": {"from": "x", "pipeline": [{"$out": "y"}], "as": "b"}}])", 51047},
    {R"([{"$unionWith": 5}])", 9},
    {R"([{"$documents": []}])", 73},
    {R"([{"$listLocalSessions": {}}])", 73},
    {R"([{"$match": {}}, {"$collStats": {}}])", 40602},
    {R"([{"$match": {}}, {"$documents": []}])", 40602},
    {R"([{"$indexStats": {"a": 1}}])", 28803},
    {R"([{"$out": "a"}, {"$match": {}}])", 40601},
    {R"([{"$merge": "a"}, {"$match": {}}])", 40601},
    {R"([{"$out": 5}])", 16990},
    {R"([{"$out": {"db": "a"}}])", 40414},
    {R"([{"$out": ""}])", 73},
    {R"([{"$merge": 5}])", 51182},
    {R"([{"$merge": {}}])", 40414},
    {R"([{"$merge": {"into": "a", "x": 1}}])", 40415},
    {R"([{"$merge": {"into": "a", "whenMatched": "x"}}])", 2},
    {R"([{"$merge": {"into": "a", "on": []}}])", 51187},
    {R"([{"$changeStream": {}}])", 115},
    {R"([{"$redact": "$$KEEP"}])", 115},
    {R"([{"$listSearchIndexes": {}}])", 31082},
};

TEST(lab_pipeline, refusals_have_the_servers_codes)
{
    for (const auto& row : refusals) {
        SCOPED_TRACE(row.stages);
        const auto made = run_pipeline(R"([{"_id": 1, "a": 7}])", row.stages);
        ASSERT_FALSE(made) << to_text(*made);
        EXPECT_EQ(made.error().code().value(), row.code) << made.error().message();
    }
}

TEST(lab_pipeline, messages_that_people_know)
{
    EXPECT_EQ(run_pipeline("[]", R"([{"$nope": 1}])").error().message(),
              "Unrecognized pipeline stage name: '$nope'");
    EXPECT_EQ(run_pipeline("[]", R"([{"$changeStream": {}}])").error().message(),
              "change streams are not in this lab yet");
    EXPECT_EQ(run_pipeline("[]", R"([{"$project": {"a": {"$nope": 1}}}])").error().message(),
              "Invalid $project :: caused by :: Unknown expression $nope");
}

}  // namespace
}  // namespace holdfast::lab::pipeline_test
