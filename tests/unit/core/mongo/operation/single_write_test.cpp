#include "core/mongo/operation/single_write.hpp"

#include "support/verifies.hpp"
#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace holdfast::core::mongo::single_write_test {
namespace {

namespace given = holdfast::mongo;
using namespace std::chrono_literals;
using bson::doc;

const bson::object_id fresh = bson::object_id::parse("0123456789abcdef01234567").value();
const bson::document filter = doc("a", 1);
const bson::document change = json(R"({"$set": {"b": 2}})");
const bson::document whole = doc("b", 2);
const bson::array stages = array_of(R"([{"$set": {"b": 2}}])");

TEST(insert_one, existing_id_is_kept_and_a_missing_id_generated)
{
    struct row {
        const char* document;
        const char* sent;
    };
    const row table[] = {
        {R"({"_id": 1, "x": 2})", R"({"_id": 1, "x": 2})"},
        {R"({"x": 2, "_id": null})", R"({"x": 2, "_id": null})"},
        {R"({"x": 2})", R"({"_id": {"$oid": "0123456789abcdef01234567"}, "x": 2})"},
        {"{}", R"({"_id": {"$oid": "0123456789abcdef01234567"}})"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.document);
        const auto made = built(a_space(), insert_one_operation{json(r.document), {}}, fresh);
        const std::string expected = std::string{R"({"insert": "coll", "documents": [)"} + r.sent +
                                     R"(], "ordered": true})";
        EXPECT_EQ(shown(made), normal(expected));
        EXPECT_EQ(made->database, "sea");
    }
}

/// To walk through every document would cost more than to build the command, and the server does it
/// anyway. Whatever lies in it, it lies within its own length, as in a bulk write.
TEST(insert_one, malformed_document_is_sent_to_the_server_unchanged)
{
    bson::document broken = doc("x", 1);
    const_cast<std::uint8_t&>(broken.bytes()[4]) = 0x7E;  // no type of BSON
    const auto made = built(a_space(), insert_one_operation{broken, {}}, fresh);
    ASSERT_TRUE(made);
    const bson::view sent = (*made->body.find("documents").as_array().begin()).as_document();
    EXPECT_EQ(sent["_id"].as_object_id(), fresh);
    const auto fields = [](bson::view of) { return of.bytes().subspan(4); };
    EXPECT_TRUE(std::ranges::equal(fields(sent).last(fields(broken).size()), fields(broken)));
    EXPECT_EQ(made->body.find("ordered").type(), bson::type::boolean) << "what follows is whole";
}

TEST(insert_one, command_holds_only_the_options_that_are_set)
{
    const auto made = built(a_space(),
                            insert_one_operation{doc("_id", 1),
                                                 {.timeout = 3s,
                                                  .write_concern = given::majority,
                                                  .bypass_document_validation = false,
                                                  .comment = "why",
                                                  .raw_data = true}},
                            fresh);
    EXPECT_EQ(shown(made), normal(R"({"insert": "coll", "documents": [{"_id": 1}],
        "ordered": true, "bypassDocumentValidation": false, "comment": "why",
        "writeConcern": {"w": "majority"}})"));
    EXPECT_EQ(made->timeout, 3s);
    EXPECT_EQ(made->raw_data, true) << "left to those who know the server's version";
}

TEST(update, statement_holds_only_the_options_that_are_set)
{
    struct row {
        const char* why;
        std::function<result<command>()> make;
        const char* statement;
    };
    const bson::document sort = doc("x", -1);
    const bson::document collation = doc("locale", "en");
    const bson::array filters = array_of(R"([{"i.b": 3}])");
    const row table[] = {
        {"one", [&] { return built(a_space(), update_operation{filter, change, {}}); },
         R"({"q": {"a": 1}, "u": {"$set": {"b": 2}}})"},
        {"many", [&] { return built(a_space(), update_operation{filter, change, {}, true}); },
         R"({"q": {"a": 1}, "u": {"$set": {"b": 2}}, "multi": true})"},
        {"replacement", [&] { return built(a_space(), replace_one_operation{filter, whole, {}}); },
         R"({"q": {"a": 1}, "u": {"b": 2}})"},
        {"by nothing", [&] { return built(a_space(), replace_one_operation{filter, doc(), {}}); },
         R"({"q": {"a": 1}, "u": {}})"},
        {"pipeline", [&] { return built(a_space(), update_operation{filter, stages, {}}); },
         R"({"q": {"a": 1}, "u": [{"$set": {"b": 2}}]})"},
        {"no upsert, and said so",
         [&] { return built(a_space(), update_operation{filter, change, {.upsert = false}}); },
         R"({"q": {"a": 1}, "u": {"$set": {"b": 2}}, "upsert": false})"},
        {"all",
         [&] {
             return built(a_space(), update_operation{filter,
                                                      change,
                                                      {.upsert = true,
                                                       .sort = sort.view(),
                                                       .array_filters = filters.view(),
                                                       .collation = collation.view(),
                                                       .hint = "_id_"}});
         },
         R"({"q": {"a": 1}, "u": {"$set": {"b": 2}}, "upsert": true,
             "arrayFilters": [{"i.b": 3}], "collation": {"locale": "en"}, "hint": "_id_",
             "sort": {"x": -1}})"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        EXPECT_EQ(shown(r.make()), normal(std::string{R"({"update": "coll", "updates": [)"} +
                                          r.statement + R"(], "ordered": true})"));
    }
}

TEST(update, command_holds_only_the_options_that_are_set)
{
    const bson::document variables = doc("v", 1);
    const bson::document keys = doc("_id", 1);
    const auto made = built(a_space(),
                            update_operation{filter,
                                             change,
                                             {.write_concern = given::write_concern{.w = 1},
                                              .hint = keys,
                                              .let = variables.view(),
                                              .bypass_document_validation = true,
                                              .comment = variables}});
    EXPECT_EQ(shown(made), normal(R"({"update": "coll",
        "updates": [{"q": {"a": 1}, "u": {"$set": {"b": 2}}, "hint": {"_id": 1}}],
        "ordered": true, "bypassDocumentValidation": true, "let": {"v": 1}, "comment": {"v": 1},
        "writeConcern": {"w": 1}})"));
}

TEST(delete_command, limit_is_1_for_delete_one_and_0_for_delete_many)
{
    EXPECT_EQ(shown(built(a_space(), delete_operation{filter, {}})),
              normal(R"({"delete": "coll", "deletes": [{"q": {"a": 1}, "limit": 1}],
                         "ordered": true})"));
    const bson::document collation = doc("locale", "en");
    const bson::document variables = doc("v", 1);
    EXPECT_EQ(shown(built(a_space(), delete_operation{filter,
                                                      {.collation = collation.view(),
                                                       .hint = "h",
                                                       .let = variables.view(),
                                                       .comment = 7},
                                                      true})),
              normal(R"({"delete": "coll", "deletes": [{"q": {"a": 1}, "limit": 0,
                         "collation": {"locale": "en"}, "hint": "h"}], "ordered": true,
                         "let": {"v": 1}, "comment": 7})"));
}

TEST(find_and_modify, command_holds_only_the_options_that_are_set)
{
    const bson::document sort = doc("x", 1);
    const bson::document fields = doc("_id", 0);
    const bson::document collation = doc("locale", "en");
    const bson::document variables = doc("v", 1);
    const bson::array filters = array_of(R"([{"i.b": 3}])");
    EXPECT_EQ(shown(built(a_space(), find_one_and_delete_operation{filter, {}})),
              normal(R"({"findAndModify": "coll", "query": {"a": 1}, "remove": true})"));
    EXPECT_EQ(shown(built(a_space(),
                          find_one_and_replace_operation{
                              filter, whole, {.returns = given::return_document::before}})),
              normal(R"({"findAndModify": "coll", "query": {"a": 1}, "update": {"b": 2}})"));
    EXPECT_EQ(shown(built(a_space(),
                          find_one_and_update_operation{
                              filter, stages, {.returns = given::return_document::after}})),
              normal(R"({"findAndModify": "coll", "query": {"a": 1},
                         "update": [{"$set": {"b": 2}}], "new": true})"));
    const auto made = built(a_space(),
                            find_one_and_update_operation{filter,
                                                          change,
                                                          {.timeout = 4s,
                                                           .write_concern = given::majority,
                                                           .projection = fields.view(),
                                                           .sort = sort.view(),
                                                           .upsert = true,
                                                           .array_filters = filters.view(),
                                                           .collation = collation.view(),
                                                           .hint = "h",
                                                           .let = variables.view(),
                                                           .bypass_document_validation = false,
                                                           .max_time = 5s,
                                                           .comment = "c",
                                                           .raw_data = false}});
    EXPECT_EQ(shown(made), normal(R"({"findAndModify": "coll", "query": {"a": 1},
        "update": {"$set": {"b": 2}}, "fields": {"_id": 0}, "sort": {"x": 1}, "upsert": true,
        "arrayFilters": [{"i.b": 3}], "bypassDocumentValidation": false, "hint": "h",
        "collation": {"locale": "en"}, "comment": "c", "let": {"v": 1},
        "writeConcern": {"w": "majority"}, "maxTimeMS": {"$numberLong": "5000"}})"));
    EXPECT_EQ(made->timeout, 4s);
    EXPECT_EQ(made->raw_data, false);
}

/// All single writes, with a write concern.
struct written {
    const char* name;
    std::function<result<command>(const operation_space&)> make;
    bool of_one;
};
const written all_writes[] = {
    {"insert_one", [](auto& s) { return built(s, insert_one_operation{filter, {}}, fresh); }, true},
    {"update_one", [](auto& s) { return built(s, update_operation{filter, change, {}}); }, true},
    {"replace_one", [](auto& s) { return built(s, replace_one_operation{filter, whole, {}}); },
     true},
    {"delete_one", [](auto& s) { return built(s, delete_operation{filter, {}}); }, true},
    {"find_one_and_update",
     [](auto& s) { return built(s, find_one_and_update_operation{filter, change, {}}); }, true},
    {"find_one_and_replace",
     [](auto& s) { return built(s, find_one_and_replace_operation{filter, whole, {}}); }, true},
    {"find_one_and_delete",
     [](auto& s) { return built(s, find_one_and_delete_operation{filter, {}}); }, true},
    {"update_many", [](auto& s) { return built(s, update_operation{filter, change, {}, true}); },
     false},
    {"delete_many", [](auto& s) { return built(s, delete_operation{filter, {}, true}); }, false},
};

TEST(single_write, single_document_writes_are_retryable)
{
    VERIFIES("RW-024");
    VERIFIES("RW-033");
    for (const written& w : all_writes) {
        SCOPED_TRACE(w.name);
        const auto made = w.make(a_space());
        ASSERT_TRUE(made);
        EXPECT_EQ(made->kind, retry_kind::write);
        EXPECT_EQ(made->selects, operation_kind::write);
        EXPECT_EQ(made->eligible, w.of_one);
        EXPECT_TRUE(made->acknowledged);
        EXPECT_FALSE(made->reads);
    }
}

TEST(single_write, unacknowledged_writes_are_not_retryable)
{
    VERIFIES("RW-029");
    operation_space space = a_space();
    space.write_concern = {.w = 0};
    for (const written& w : all_writes) {
        SCOPED_TRACE(w.name);
        const auto made = w.make(space);
        ASSERT_TRUE(made);
        EXPECT_FALSE(made->eligible);
        EXPECT_FALSE(made->acknowledged);
        EXPECT_EQ(made->kind, retry_kind::write);
        EXPECT_EQ(shown(made->body.find("writeConcern").as_document()), normal(R"({"w": 0})"));
    }
}

TEST(single_write, operation_timeout_overrides_the_inherited_one)
{
    operation_space space = a_space();
    space.timeout = 9s;
    EXPECT_EQ(built(space, delete_operation{filter, {}}).value().timeout, 9s);
    EXPECT_EQ(built(space, delete_operation{filter, {.timeout = 1s}}).value().timeout, 1s);
}

TEST(single_write, hint_requires_a_wire_version_that_honours_it)
{
    struct row {
        const char* why;
        result<command> made;
        std::int32_t wire_version;
    };
    const auto w0 = given::unacknowledged;
    const row table[] = {
        {"servers refuse it", built(a_space(), update_operation{filter, change, {.hint = "h"}}), 0},
        {"unacknowledged update",
         built(a_space(), update_operation{filter, change, {.write_concern = w0, .hint = "h"}}), 8},
        {"of many as well",
         built(a_space(),
               update_operation{filter, change, {.write_concern = w0, .hint = "h"}, true}),
         8},
        {"no hint, no need",
         built(a_space(), update_operation{filter, change, {.write_concern = w0}}), 0},
        {"servers refuse it in a delete", built(a_space(), delete_operation{filter, {.hint = "h"}}),
         0},
        {"unacknowledged delete",
         built(a_space(), delete_operation{filter, {.write_concern = w0, .hint = "h"}, true}), 9},
        {"findAndModify before 4.2 ignores it",
         built(a_space(), find_one_and_delete_operation{filter, {.hint = "h"}}), 8},
        {"and 4.2 refuses it",
         built(a_space(),
               find_one_and_delete_operation{filter, {.write_concern = w0, .hint = "h"}}),
         9},
        {"findAndModify without it", built(a_space(), find_one_and_delete_operation{filter, {}}),
         0},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        ASSERT_TRUE(r.made);
        EXPECT_EQ(r.made->need.wire_version, r.wire_version);
        EXPECT_EQ(r.made->need.what.empty(), r.wire_version == 0);
    }
}

TEST(single_write, update_documents_need_operators_and_replacements_have_none)
{
    EXPECT_EQ(refused_option(built(a_space(), update_operation{filter, whole, {}})), "update");
    EXPECT_EQ(refused_option(built(a_space(), update_operation{filter, doc(), {}, true})),
              "update");
    EXPECT_EQ(refused_option(built(a_space(), update_operation{filter, bson::array{}, {}})),
              "update");
    EXPECT_EQ(refused_option(built(a_space(), find_one_and_update_operation{filter, whole, {}})),
              "update");
    EXPECT_EQ(refused_option(built(a_space(), replace_one_operation{filter, change, {}})),
              "replacement");
    EXPECT_EQ(refused_option(built(a_space(), find_one_and_replace_operation{filter, change, {}})),
              "replacement");
    EXPECT_TRUE(check_replacement(json(R"({"a": 1, "$b": 2})"))) << "only the first key is asked";
    EXPECT_TRUE(check_update(json(R"({"$a": 1, "b": 2})"))) << "only the first key is asked";
}

TEST(single_write, options_of_other_operations_are_invalid_option)
{
    const bson::document sort = doc("x", 1);
    const bson::array filters = array_of("[{}]");
    EXPECT_EQ(refused_option(
                  built(a_space(), update_operation{filter, change, {.sort = sort.view()}, true})),
              "sort");
    EXPECT_EQ(
        refused_option(built(
            a_space(), replace_one_operation{filter, whole, {.array_filters = filters.view()}})),
        "array_filters");
    EXPECT_EQ(refused_option(built(a_space(),
                                   find_one_and_replace_operation{
                                       filter, whole, {.array_filters = filters.view()}})),
              "array_filters");
    EXPECT_EQ(
        refused_option(built(a_space(), find_one_and_delete_operation{filter, {.upsert = true}})),
        "upsert");
    EXPECT_EQ(refused_option(built(a_space(),
                                   find_one_and_delete_operation{
                                       filter, {.returns = given::return_document::before}})),
              "returns");
    EXPECT_EQ(
        refused_option(built(
            a_space(), find_one_and_delete_operation{filter, {.array_filters = filters.view()}})),
        "array_filters");
    EXPECT_EQ(refused_option(built(
                  a_space(),
                  find_one_and_delete_operation{filter, {.bypass_document_validation = true}})),
              "bypass_document_validation");
    EXPECT_EQ(
        refused_option(built(
            a_space(), delete_operation{filter, {.write_concern = given::write_concern{.w = -2}}})),
        "w");
}

}  // namespace
}  // namespace holdfast::core::mongo::single_write_test
