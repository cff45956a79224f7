#include "core/mongo/operation/query.hpp"

#include "support/verifies.hpp"
#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::core::mongo::query_test {
namespace {

namespace given = holdfast::mongo;
using namespace std::chrono_literals;
using bson::doc;

const bson::document filter = doc("a", 1);

TEST(find, command_holds_only_the_options_that_are_set)
{
    EXPECT_EQ(shown(find(a_space(), doc(), {})), normal(R"({"find": "coll", "filter": {}})"));
    const bson::document one = doc("x", 1);
    const auto made = find(a_space(), filter,
                           {.timeout = 3s,
                            .projection = one.view(),
                            .sort = one.view(),
                            .skip = 2,
                            .limit = 10,
                            .batch_size = 3,
                            .max_time = 6s,
                            .collation = one.view(),
                            .hint = one,
                            .let = one.view(),
                            .min = one.view(),
                            .max = one.view(),
                            .allow_disk_use = true,
                            .allow_partial_results = true,
                            .no_cursor_timeout = false,
                            .oplog_replay = true,
                            .return_key = false,
                            .show_record_id = true,
                            .comment = "c",
                            .raw_data = true});
    EXPECT_EQ(shown(made), normal(R"({"find": "coll", "filter": {"a": 1}, "sort": {"x": 1},
        "projection": {"x": 1}, "hint": {"x": 1}, "skip": {"$numberLong": "2"},
        "limit": {"$numberLong": "10"}, "batchSize": 3, "comment": "c",
        "maxTimeMS": {"$numberLong": "6000"}, "max": {"x": 1}, "min": {"x": 1},
        "returnKey": false, "showRecordId": true, "oplogReplay": true, "noCursorTimeout": false,
        "allowPartialResults": true, "collation": {"x": 1}, "allowDiskUse": true,
        "let": {"x": 1}})"));
    EXPECT_EQ(made->first.database, "sea");
    EXPECT_EQ(made->first.timeout, 3s);
    EXPECT_EQ(made->first.raw_data, true);
    EXPECT_EQ(made->rules.batch_size, 3);
    EXPECT_EQ(made->rules.limit, 10);
    EXPECT_EQ(shown(made->rules.comment), normal(R"({"comment": "c"})"));
    EXPECT_EQ(made->rules.raw_data, true);
    EXPECT_FALSE(made->rules.max_time) << "a getMore has no time limit of its own";
    EXPECT_FALSE(made->rules.tailable);
}

TEST(find, limit_and_batch_size_follow_the_specification)
{
    struct row {
        const char* why;
        std::optional<std::int64_t> limit;
        std::optional<std::int32_t> batch_size;
        const char* sent;  // after the filter
        std::int64_t limit_of_all;
    };
    const row table[] = {
        {"no limit", 0, {}, R"("limit": {"$numberLong": "0"})", 0},
        {"a negative limit comes at once",
         -5,
         {},
         R"("limit": {"$numberLong": "5"}, "singleBatch": true)",
         5},
        {"as many as fit into a batch, and room to see the end", 4, 4,
         R"("limit": {"$numberLong": "4"}, "batchSize": 5)", 4},
        {"not if there is one batch only", -4, 4,
         R"("limit": {"$numberLong": "4"}, "batchSize": 4, "singleBatch": true)", 4},
        {"the largest batch", std::numeric_limits<std::int32_t>::max(),
         std::numeric_limits<std::int32_t>::max(),
         R"("limit": {"$numberLong": "2147483647"}, "batchSize": {"$numberLong": "2147483648"})",
         std::numeric_limits<std::int32_t>::max()},
        {"an empty first batch", {}, 0, R"("batchSize": 0)", 0},
        {"neither limit nor batches", 0, 0, R"("limit": {"$numberLong": "0"}, "batchSize": 0)", 0},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const auto made = find(a_space(), filter, {.limit = r.limit, .batch_size = r.batch_size});
        EXPECT_EQ(shown(made),
                  normal(std::string{R"({"find": "coll", "filter": {"a": 1}, )"} + r.sent + "}"));
        EXPECT_EQ(made->rules.limit, r.limit_of_all);
        EXPECT_EQ(made->rules.batch_size, r.batch_size.value_or(0));
    }
    EXPECT_EQ(refused_option(find(a_space(), filter, {.batch_size = -1})), "batch_size");
    EXPECT_EQ(refused_option(
                  find(a_space(), filter, {.limit = std::numeric_limits<std::int64_t>::min()})),
              "limit");
}

TEST(find, max_await_time_requires_a_tailable_await_cursor)
{
    const auto await = find(a_space(), filter,
                            {.cursor = given::cursor_kind::tailable_await, .max_await_time = 2s});
    EXPECT_EQ(shown(await), normal(R"({"find": "coll", "filter": {"a": 1}, "tailable": true,
                                       "awaitData": true})"));
    EXPECT_TRUE(await->rules.tailable);
    EXPECT_EQ(await->rules.max_time, 2s);

    const auto tailable = find(a_space(), filter,
                               {.cursor = given::cursor_kind::tailable, .max_await_time = 2s});
    EXPECT_EQ(shown(tailable), normal(R"({"find": "coll", "filter": {"a": 1}, "tailable": true})"));
    EXPECT_TRUE(tailable->rules.tailable);
    EXPECT_FALSE(tailable->rules.max_time);
}

TEST(find_one, command_is_a_find_with_limit_1_and_single_batch)
{
    const bson::document sort = doc("_id", 1);
    const auto made = built(
        a_space(),
        find_one_operation{filter, {.sort = sort.view(), .skip = 2, .limit = 7, .batch_size = 3}});
    EXPECT_EQ(shown(made), normal(R"({"find": "coll", "filter": {"a": 1}, "sort": {"_id": 1},
        "skip": {"$numberLong": "2"}, "limit": {"$numberLong": "1"}, "singleBatch": true})"));
}

TEST(aggregate, command_holds_only_the_options_that_are_set)
{
    const bson::array stages = array_of(R"([{"$match": {"x": 1}}])");
    EXPECT_EQ(shown(aggregate(a_space(), stages, {})),
              normal(R"({"aggregate": "coll", "pipeline": [{"$match": {"x": 1}}], "cursor": {}})"));
    operation_space database = a_space();
    database.collection.clear();
    EXPECT_EQ(shown(aggregate(database, bson::array{}, {})),
              normal(R"({"aggregate": 1, "pipeline": [], "cursor": {}})"));

    const bson::document one = doc("x", 1);
    const auto made = aggregate(a_space(), stages,
                                {.write_concern = given::majority,
                                 .batch_size = 2,
                                 .max_time = 1s,
                                 .max_await_time = 2s,
                                 .allow_disk_use = false,
                                 .bypass_document_validation = false,
                                 .collation = one.view(),
                                 .hint = "h",
                                 .let = one.view(),
                                 .comment = one,
                                 .raw_data = true});
    EXPECT_EQ(shown(made), normal(R"({"aggregate": "coll", "pipeline": [{"$match": {"x": 1}}],
        "cursor": {"batchSize": 2}, "allowDiskUse": false, "bypassDocumentValidation": false,
        "collation": {"x": 1}, "maxTimeMS": {"$numberLong": "1000"}, "comment": {"x": 1},
        "hint": "h", "let": {"x": 1}})"))
        << "a pipeline that only reads has no write concern";
    EXPECT_EQ(made->rules.batch_size, 2);
    EXPECT_EQ(made->rules.max_time, 2s);
    EXPECT_EQ(shown(made->rules.comment), normal(R"({"comment": {"x": 1}})"));
    EXPECT_EQ(made->first.raw_data, true);
    EXPECT_EQ(refused_option(aggregate(a_space(), stages, {.batch_size = -1})), "batch_size");
}

TEST(aggregate, pipeline_with_out_or_merge_is_a_non_retryable_write)
{
    VERIFIES("RW-034");
    VERIFIES("RW-035");
    operation_space space = a_space();
    space.write_concern = {.w = 0};
    space.read_preference.mode = read_mode::secondary;
    for (const char* last : {R"({"$out": "t"})", R"({"$merge": {"into": "t"}})"}) {
        SCOPED_TRACE(last);
        const auto made = aggregate(
            space, array_of(std::string{R"([{"$match": {}}, )"} + last + "]"), {.batch_size = 2});
        EXPECT_EQ(shown(made),
                  normal(std::string{R"({"aggregate": "coll", "pipeline": [{"$match": {}}, )"} +
                         last + R"(], "cursor": {}, "writeConcern": {"w": 0}})"));
        EXPECT_TRUE(made->first.writes_output);
        EXPECT_FALSE(made->first.eligible);
        EXPECT_EQ(made->first.kind, retry_kind::write);
        EXPECT_EQ(made->first.selects, operation_kind::read);
        EXPECT_EQ(made->first.preference.mode, read_mode::secondary);
        EXPECT_TRUE(made->first.reads);
        EXPECT_TRUE(made->first.acknowledged) << "it is answered with a cursor";
    }
    const auto reads = aggregate(space, array_of(R"([{"$out": "t"}, {"$match": {}}])"), {});
    EXPECT_FALSE(reads->first.writes_output) << "only the last stage may write";
}

TEST(count, count_documents_is_an_aggregate_with_group)
{
    EXPECT_EQ(shown(built(a_space(), count_documents_operation{filter, {}})),
              normal(R"({"aggregate": "coll", "pipeline": [{"$match": {"a": 1}},
                         {"$group": {"_id": 1, "n": {"$sum": 1}}}], "cursor": {}})"));
    const bson::document one = doc("x", 1);
    EXPECT_EQ(shown(built(a_space(), count_documents_operation{doc(),
                                                               {.skip = 2,
                                                                .limit = 3,
                                                                .max_time = 1s,
                                                                .collation = one.view(),
                                                                .hint = one,
                                                                .comment = "c"}})),
              normal(R"({"aggregate": "coll", "pipeline": [{"$match": {}},
                         {"$skip": {"$numberLong": "2"}}, {"$limit": {"$numberLong": "3"}},
                         {"$group": {"_id": 1, "n": {"$sum": 1}}}], "cursor": {},
                         "collation": {"x": 1}, "hint": {"x": 1}, "comment": "c",
                         "maxTimeMS": {"$numberLong": "1000"}})"));
    EXPECT_EQ(shown(built(a_space(), count_documents_operation{doc(), {.skip = 0, .limit = 0}})),
              shown(built(a_space(), count_documents_operation{doc(), {}})))
        << "the server refuses a $limit of 0";
}

TEST(count, estimated_document_count_is_the_count_command)
{
    EXPECT_EQ(
        shown(built(a_space(), estimated_document_count_operation{{.max_time = 6s, .comment = 1}})),
        normal(R"({"count": "coll", "maxTimeMS": {"$numberLong": "6000"}, "comment": 1})"));
    const bson::document one = doc("x", 1);
    EXPECT_EQ(refused_option(built(a_space(), estimated_document_count_operation{{.skip = 1}})),
              "skip");
    EXPECT_EQ(refused_option(built(a_space(), estimated_document_count_operation{{.limit = 1}})),
              "limit");
    EXPECT_EQ(refused_option(
                  built(a_space(), estimated_document_count_operation{{.collation = one.view()}})),
              "collation");
    EXPECT_EQ(refused_option(built(a_space(), estimated_document_count_operation{{.hint = "h"}})),
              "hint");
}

TEST(distinct, command_holds_only_the_options_that_are_set)
{
    const bson::document one = doc("x", 1);
    EXPECT_EQ(shown(built(a_space(), distinct_operation{"b.c", filter, {}})),
              normal(R"({"distinct": "coll", "key": "b.c", "query": {"a": 1}})"));
    EXPECT_EQ(shown(built(
                  a_space(),
                  distinct_operation{
                      "b",
                      doc(),
                      {.max_time = 1s, .collation = one.view(), .hint = "_id_", .comment = "c"}})),
              normal(R"({"distinct": "coll", "key": "b", "query": {}, "collation": {"x": 1},
                         "hint": "_id_", "comment": "c", "maxTimeMS": {"$numberLong": "1000"}})"));
}

TEST(reads, commands_are_retryable_and_follow_the_read_preference)
{
    operation_space space = a_space();
    space.read_concern = {"majority"};
    space.read_preference.mode = read_mode::nearest;
    space.timeout = 8s;
    const result<command> all[] = {
        find(space, filter, {}).value().first,
        built(space, find_one_operation{filter, {}}),
        aggregate(space, bson::array{}, {}).value().first,
        built(space, count_documents_operation{filter, {}}),
        built(space, estimated_document_count_operation{{}}),
        built(space, distinct_operation{"a", filter, {}}),
    };
    for (const result<command>& made : all) {
        ASSERT_TRUE(made);
        SCOPED_TRACE(shown(made));
        EXPECT_EQ(made->kind, retry_kind::read);
        EXPECT_EQ(made->selects, operation_kind::read);
        EXPECT_TRUE(made->eligible);
        EXPECT_TRUE(made->reads);
        EXPECT_EQ(made->read_concern.level, "majority");
        EXPECT_EQ(made->preference.mode, read_mode::nearest);
        EXPECT_EQ(made->timeout, 8s);
        EXPECT_FALSE(made->body.find("readConcern")) << "others add it";
    }
    const given::find_options bad{.read_preference = given::read_preference{.max_staleness = 99s}};
    EXPECT_EQ(refused_option(find(space, filter, bad)), "max_staleness");
    EXPECT_EQ(refused_option(built(space, find_one_operation{filter, bad})), "max_staleness");
}

TEST(get_more, batch_size_never_exceeds_the_remaining_limit)
{
    struct row {
        const char* why;
        std::int32_t batch_size;
        std::int64_t limit;
        std::int64_t received;
        const char* sent;
    };
    const row table[] = {
        {"as the server likes", 0, 0, 7, ""},
        {"always the same", 3, 0, 7, R"(, "batchSize": 3)"},
        {"far from the limit", 3, 10, 3, R"(, "batchSize": 3)"},
        {"near the limit", 3, 10, 9, R"(, "batchSize": 1)"},
        {"up to the limit", 3, 10, 7, R"(, "batchSize": 3)"},
        {"the limit alone", 0, 10, 4, R"(, "batchSize": 6)"},
        {"a huge limit", 0, 5'000'000'000, 0, R"(, "batchSize": {"$numberLong": "5000000000"})"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        cursor_rules rules;
        rules.batch_size = r.batch_size;
        rules.limit = r.limit;
        const command more = get_more("sea.coll.red", 42, rules, r.received, 25);
        EXPECT_EQ(
            shown(more.body),
            normal(std::string{R"({"getMore": {"$numberLong": "42"}, "collection": "coll.red")"} +
                   r.sent + "}"));
        EXPECT_EQ(more.database, "sea");
        EXPECT_EQ(more.kind, retry_kind::read);
        EXPECT_FALSE(more.eligible) << "what a lost reply brought would be missing";
        EXPECT_FALSE(more.reads);
    }
}

TEST(get_more, comment_and_raw_data_follow_the_wire_version)
{
    cursor_rules rules;
    rules.max_time = 2s;
    rules.comment = doc("comment", "c");
    rules.raw_data = true;
    const command old = get_more("sea.coll", 42, rules, 0, 8);
    EXPECT_EQ(shown(old.body), normal(R"({"getMore": {"$numberLong": "42"}, "collection": "coll",
                                          "maxTimeMS": {"$numberLong": "2000"}})"));
    const command newer = get_more("sea.coll", 42, rules, 0, 9);
    EXPECT_EQ(shown(newer.body), normal(R"({"getMore": {"$numberLong": "42"},
        "collection": "coll", "maxTimeMS": {"$numberLong": "2000"}, "comment": "c"})"));
    EXPECT_EQ(newer.raw_data, true);
}

TEST(kill_cursor, command_names_the_collection_and_the_cursor_id)
{
    const command last = kill_cursor("sea.coll.red", 42);
    EXPECT_EQ(shown(last.body), normal(R"({"killCursors": "coll.red",
                                           "cursors": [{"$numberLong": "42"}]})"));
    EXPECT_EQ(last.database, "sea");
    EXPECT_FALSE(last.eligible);
    EXPECT_EQ(last.kind, retry_kind::read);
}

}  // namespace
}  // namespace holdfast::core::mongo::query_test
