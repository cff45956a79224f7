#include "core/mongo/operation/admin.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "holdfast/bson/json.hpp"
#include "support/verifies.hpp"
#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::admin_test {
namespace {

using namespace std::chrono_literals;
using namespace core::mongo;
using bson::arr;
using bson::doc;
using holdfast::mongo::index_hint;
using holdfast::mongo::index_model;
using proof::json;

operation_space space_of(std::string collection = "c")
{
    operation_space space;
    space.database = "db";
    space.collection = std::move(collection);
    return space;
}

/// Whatever is about a collection as a whole: a write that carries no transaction number.
void expect_change(const result<command>& made, std::string_view body,
                   std::string_view database = "db")
{
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->body.view(), json(body)) << bson::to_json(made->body).value();
    EXPECT_EQ(made->database, database);
    EXPECT_EQ(made->kind, retry_kind::write);
    EXPECT_EQ(made->selects, operation_kind::write);
    EXPECT_FALSE(made->eligible);
    EXPECT_FALSE(made->reads);
    EXPECT_TRUE(made->acknowledged);
}

void expect_listing(const command& made, std::string_view body, std::string_view database = "db")
{
    EXPECT_EQ(made.body.view(), json(body)) << bson::to_json(made.body).value();
    EXPECT_EQ(made.database, database);
    EXPECT_EQ(made.kind, retry_kind::read);
    EXPECT_EQ(made.selects, operation_kind::read);
    EXPECT_TRUE(made.eligible);
    EXPECT_FALSE(made.reads);
    EXPECT_EQ(made.preference, core::mongo::read_preference{});
}

error refusal(std::int32_t code)
{
    return make_server_error(doc("ok", 0, "errmsg", "no", "code", code).view());
}

TEST(admin, create_sends_only_the_options_that_are_set)
{
    VERIFIES("RW-034");
    expect_change(built(space_of(""), create_collection_operation{"c", {}}), R"({"create": "c"})");
    const auto series = doc("timeField", "t", "granularity", "minutes");
    expect_change(built(space_of(""),
                        create_collection_operation{
                            "c", {.time_series = series.view(), .expire_after_seconds = 604800}}),
                  R"({"create": "c", "timeseries": {"timeField": "t", "granularity": "minutes"},
            "expireAfterSeconds": {"$numberLong": "604800"}})");
    const auto clustered = doc("key", doc("_id", 1), "unique", true);
    expect_change(built(space_of(""),
                        create_collection_operation{"c", {.clustered_index = clustered.view()}}),
                  R"({"create": "c", "clusteredIndex": {"key": {"_id": 1}, "unique": true}})");
    const auto images = doc("enabled", true);
    expect_change(built(space_of(""),
                        create_collection_operation{
                            "c", {.change_stream_pre_and_post_images = images.view()}}),
                  R"({"create": "c", "changeStreamPreAndPostImages": {"enabled": true}})");
    const auto stages = arr(doc("$match", doc("a", 1)));
    expect_change(
        built(space_of(""),
              create_collection_operation{"v", {.view_on = "c", .pipeline = stages.view()}}),
        R"({"create": "v", "viewOn": "c", "pipeline": [{"$match": {"a": 1}}]})");
}

TEST(admin, create_sends_every_option_under_its_name)
{
    const auto one = doc("a", 1);
    const auto more = doc("recordIdsReplicated", true);
    expect_change(
        built(space_of(""), create_collection_operation{"c",
                                                        {.capped = true,
                                                         .size = 4096,
                                                         .max = 3,
                                                         .storage_engine = one.view(),
                                                         .validator = one.view(),
                                                         .validation_level = "moderate",
                                                         .validation_action = "warn",
                                                         .index_option_defaults = one.view(),
                                                         .collation = one.view(),
                                                         .comment = "why",
                                                         .more = more.view()}}),
        R"({"create": "c", "capped": true, "size": {"$numberLong": "4096"},
                      "max": {"$numberLong": "3"}, "storageEngine": {"a": 1},
                      "validator": {"a": 1}, "validationLevel": "moderate",
                      "validationAction": "warn", "indexOptionDefaults": {"a": 1},
                      "collation": {"a": 1}, "recordIdsReplicated": true, "comment": "why"})");
}

TEST(admin, write_concern_is_omitted_if_it_is_the_default)
{
    operation_space space = space_of();
    expect_change(built(space, drop_collection_operation{{}}), R"({"drop": "c"})");
    expect_change(
        built(space, drop_collection_operation{{.write_concern = holdfast::mongo::majority}}),
        R"({"drop": "c", "writeConcern": {"w": "majority"}})");
    space.write_concern.w = 2;
    expect_change(built(space, drop_database_operation{{.comment = 5}}),
                  R"({"dropDatabase": 1, "comment": 5, "writeConcern": {"w": 2}})");
    // Such commands are answered whatever the concern says.
    expect_change(
        built(space, drop_collection_operation{{.write_concern = holdfast::mongo::unacknowledged}}),
        R"({"drop": "c", "writeConcern": {"w": 0}})");
}

TEST(admin, coll_mod_sends_the_given_fields)
{
    const auto changes = doc("index", doc("keyPattern", doc("x", 1), "prepareUnique", true));
    expect_change(built(space_of(""), modify_collection_operation{"c", changes.view(), {}}),
                  R"({"collMod": "c", "index": {"keyPattern": {"x": 1}, "prepareUnique": true}})");
}

TEST(admin, rename_collection_is_sent_to_admin)
{
    expect_change(built(space_of(), rename_collection_operation{"d", {}}),
                  R"({"renameCollection": "db.c", "to": "db.d"})", "admin");
    expect_change(built(space_of(), rename_collection_operation{"d", {.drop_target = true}}),
                  R"({"renameCollection": "db.c", "to": "db.d", "dropTarget": true})", "admin");
}

TEST(admin, empty_names_are_refused_before_sending)
{
    EXPECT_FALSE(built(space_of(""), create_collection_operation{"", {}}));
    EXPECT_FALSE(built(space_of(""), modify_collection_operation{"", {}, {}}));
    EXPECT_FALSE(built(space_of(""), drop_collection_operation{{}}));
    EXPECT_FALSE(built(space_of(""), rename_collection_operation{"d", {}}));
    EXPECT_FALSE(built(space_of(), rename_collection_operation{"", {}}));
    EXPECT_FALSE(built(space_of(""), drop_index_operation{"x", {}}));
    EXPECT_FALSE(list_indexes(space_of(""), {}));
}

TEST(admin, drop_ignores_namespace_not_found)
{
    EXPECT_TRUE(drop_collection_operation::read(doc("ok", 1), {}));
    EXPECT_TRUE(drop_collection_operation::read(refusal(26), {}));
    const auto refused = drop_collection_operation::read(refusal(13), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code().value(), 13);
    EXPECT_FALSE(drop_collection_operation::read(
        error{error_code{26, boost::system::system_category()}, "network"}, {}));
}

TEST(admin, list_collections_ignores_read_preference_and_concern)
{
    operation_space space = space_of("");
    space.read_preference.mode = read_mode::secondary;
    space.read_concern.level = "majority";
    auto plain = list_collections(space, {}).value();
    expect_listing(plain.first, R"({"listCollections": 1, "cursor": {}})");
    EXPECT_FALSE(plain.rules.missing_is_empty);

    const auto wanted = doc("name", "c");
    auto full = list_collections(space, {.filter = wanted.view(),
                                         .name_only = true,
                                         .authorized_only = true,
                                         .batch_size = 2,
                                         .comment = "why",
                                         .raw_data = true})
                    .value();
    expect_listing(full.first, R"({"listCollections": 1, "filter": {"name": "c"},
                                   "nameOnly": true, "authorizedCollections": true,
                                   "cursor": {"batchSize": 2}, "comment": "why"})");
    EXPECT_EQ(full.first.raw_data, true);
    EXPECT_EQ(full.rules.raw_data, true);
    EXPECT_EQ(full.rules.batch_size, 2);
    EXPECT_EQ(full.rules.comment, doc("comment", "why"));
}

TEST(admin, list_collection_names_sets_name_only_for_name_filters)
{
    const auto by_name = doc("name", "c");
    const auto by_type = doc("name", "c", "type", "view");
    EXPECT_EQ(names_only({}).name_only, true);
    EXPECT_EQ(names_only({.filter = by_name.view()}).name_only, true);
    EXPECT_EQ(names_only({.filter = by_type.view()}).name_only, std::nullopt);
    EXPECT_EQ(names_only({.name_only = false}).name_only, false);
}

TEST(admin, list_databases_is_sent_to_admin)
{
    const auto wanted = doc("name", "a");
    expect_listing(built(operation_space{}, list_databases_operation{{}}).value(),
                   R"({"listDatabases": 1})", "admin");
    expect_listing(built(operation_space{}, list_databases_operation{{.filter = wanted.view(),
                                                                      .name_only = true,
                                                                      .authorized_only = false,
                                                                      .comment = "why"}})
                       .value(),
                   R"({"listDatabases": 1, "filter": {"name": "a"}, "nameOnly": true,
                       "authorizedDatabases": false, "comment": "why"})",
                   "admin");
    const auto reply = json(R"({"databases": [{"name": "a", "empty": true}, {"name": "b"}],
                                "totalSize": 1, "ok": 1})");
    EXPECT_EQ(list_databases_operation::read(reply, {}).value(),
              (std::vector{doc("name", "a", "empty", true), doc("name", "b")}));
    EXPECT_EQ(list_database_names_operation::read(reply, {}).value(),
              (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(list_databases_operation::read(doc("ok", 1), {}).error().code(),
              errc::malformed_message);
    EXPECT_EQ(list_database_names_operation::read(refusal(13), {}).error().code().value(), 13);
}

TEST(admin, index_name_is_generated_from_its_keys)
{
    EXPECT_EQ(index_name(doc("name", 1, "dob", -1)), "name_1_dob_-1");
    EXPECT_EQ(index_name(doc("a.b", std::int64_t{1}, "c", -1.0)), "a.b_1_c_-1");
    EXPECT_EQ(index_name(doc("place", "2dsphere", "$**", "text")), "place_2dsphere_$**_text");
    EXPECT_EQ(index_name(doc("_id", 1)), "_id_");
    EXPECT_EQ(index_name(doc("_id", 1.0)), "_id_");
    EXPECT_EQ(index_name(doc("_id", "hashed")), "_id_hashed") << "not the one that all have";
    EXPECT_EQ(index_name(doc("_id", 1, "a", 1)), "_id_1_a_1");
}

TEST(admin, create_indexes_sends_names_and_options)
{
    const auto a = doc("a", 1);
    const auto b = doc("b", -1);
    const auto unique = doc("unique", true);
    const auto named = doc("sparse", true, "name", "mine");
    const index_model table[] = {{.keys = a.view(), .options = unique.view()},
                                 {.keys = b.view(), .name = "given", .options = named.view()},
                                 {.keys = b.view(), .options = named.view()}};
    const auto made = built(space_of(),
                            create_indexes_operation{table, {.max_time = 50ms, .raw_data = true}});
    expect_change(made, R"({"createIndexes": "c", "indexes": [
        {"key": {"a": 1}, "name": "a_1", "unique": true},
        {"key": {"b": -1}, "name": "given", "sparse": true},
        {"key": {"b": -1}, "name": "mine", "sparse": true}],
        "maxTimeMS": {"$numberLong": "50"}})");
    EXPECT_EQ(create_indexes_operation::read(doc("ok", 1), *made).value(),
              (std::vector<std::string>{"a_1", "given", "mine"}));
    EXPECT_EQ(made->need.wire_version, 0);
    EXPECT_EQ(made->raw_data, true);

    EXPECT_FALSE(built(space_of(), create_indexes_operation{{}, {}}));
    const index_model keyless[] = {{.name = "x"}};
    EXPECT_FALSE(built(space_of(), create_indexes_operation{keyless, {}}));
}

TEST(admin, commit_quorum_requires_wire_version_9)
{
    const auto keys = doc("a", 1);
    const index_model one[] = {{.keys = keys.view()}};
    const auto made = built(space_of(),
                            create_indexes_operation{one, {.commit_quorum = "majority"}});
    expect_change(made, R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}],
                            "commitQuorum": "majority"})");
    EXPECT_EQ(made->need.wire_version, 9);
}

TEST(admin, drop_index_refuses_a_star_unless_drop_indexes)
{
    expect_change(built(space_of(), drop_index_operation{"a_1", {}}),
                  R"({"dropIndexes": "c", "index": "a_1"})");
    expect_change(built(space_of(), drop_index_operation{doc("a", 1), {.comment = "why"}}),
                  R"({"dropIndexes": "c", "index": {"a": 1}, "comment": "why"})");
    EXPECT_FALSE(built(space_of(), drop_index_operation{"*", {}}));
    EXPECT_FALSE(built(space_of(), drop_index_operation{"", {}}));
    EXPECT_FALSE(built(space_of(), drop_index_operation{index_hint{}, {}}));
    expect_change(built(space_of(), drop_indexes_operation{{}}),
                  R"({"dropIndexes": "c", "index": "*"})");
}

TEST(admin, list_indexes_of_a_missing_collection_is_empty)
{
    auto made = list_indexes(space_of(), {.batch_size = 5}).value();
    expect_listing(made.first, R"({"listIndexes": "c", "cursor": {"batchSize": 5}})");
    EXPECT_TRUE(made.rules.missing_is_empty);
}

TEST(admin, operation_timeout_overrides_the_inherited_one)
{
    operation_space space = space_of();
    space.timeout = 5s;
    EXPECT_EQ(built(space, drop_collection_operation{{}})->timeout, 5s);
    EXPECT_EQ(built(space, drop_collection_operation{{.timeout = 1s}})->timeout, 1s);
    EXPECT_EQ(list_indexes(space, {})->first.timeout, 5s);
    EXPECT_EQ(built(space, list_databases_operation{{.timeout = 2s}})->timeout, 2s);
}

}  // namespace
}  // namespace holdfast::admin_test
