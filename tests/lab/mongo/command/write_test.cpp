#include "lab/mongo/command/test_node.hpp"

namespace holdfast::lab::write_test {
namespace {

struct step {
    std::string_view command;
    std::string_view reply;
};

void run_steps(test_node& server, std::initializer_list<step> steps)
{
    for (const step& one : steps)
        server.expect(one.command, one.reply);
}

TEST(lab_insert, stores_documents_and_counts_them)
{
    test_node server;
    run_steps(server, {
                          {R"({"insert": "c", "documents": [{"_id": 1, "x": 1}, {"_id": 2}]})",
                           R"({"n": 2, "ok": 1})"},
                          {R"({"find": "c"})",
                           R"({"cursor": {"firstBatch": [{"_id": 1, "x": 1}, {"_id": 2}],
            "id": 0, "ns": "db.c"}})"},
                          {R"({"count": "c"})", R"({"n": 2})"},
                      });
}

TEST(lab_insert, member_of_a_set_replies_with_its_op_time_and_election_id)
{
    test_node member{"8.2", true};
    for (const std::string_view write :
         {R"({"insert": "c", "documents": [{"_id": 1}]})",
          R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}}]})",
          R"({"delete": "c", "deletes": [{"q": {"_id": 9}, "limit": 1}]})"}) {
        const auto reply = member.run(write);
        EXPECT_EQ(reply.get<bson::timestamp>("opTime.ts").value(), member.on.data->last().ts);
        EXPECT_EQ(reply.get<std::int64_t>("opTime.t").value_or(0), 1);
        EXPECT_EQ(reply["electionId"].as_object_id().to_string(), "7fffffff0000000000000001");
    }
    test_node alone;
    const auto reply = alone.run(R"({"insert": "c", "documents": [{"_id": 1}]})");
    EXPECT_FALSE(reply.find("opTime"));
    EXPECT_FALSE(reply.find("electionId"));
}

TEST(lab_insert, documents_are_read_from_a_document_sequence)
{
    test_node server;
    const auto reply = server.run(json(R"({"insert": "c"})"), "documents",
                                  {json(R"({"_id": 7})"), json(R"({"_id": 8})")});
    EXPECT_TRUE(contains(reply, json(R"({"n": 2, "ok": 1})")));
    const auto twice = server.run(json(R"({"insert": "c", "documents": [{"_id": 9}]})"),
                                  "documents", {json(R"({"_id": 10})")});
    EXPECT_EQ(twice["code"].get<std::int32_t>().value_or(0), 40413);
    server.expect(R"({"count": "c"})", R"({"n": 2})");
}

TEST(lab_insert, puts_an_id_in_front)
{
    test_node server;
    server.expect(R"({"insert": "c", "documents": [{"x": 1}, {"x": 2, "_id": 5}]})", R"({"n": 2})");
    const auto found = server.run(R"({"find": "c"})");
    const auto batch = found.find_path("cursor.firstBatch").as_array();
    EXPECT_EQ(batch[0].as_document().begin()->key(), "_id");
    EXPECT_EQ(batch[0].as_document().begin()->type(), bson::type::object_id);
    EXPECT_EQ(batch[1].as_document().begin()->key(), "_id");
}

TEST(lab_insert, reports_a_duplicate_and_stops_or_goes_on)
{
    test_node server;
    run_steps(server,
              {
                  {R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 1}, {"_id": 2}]})",
                   R"({"n": 1, "ok": 1, "writeErrors": [{"index": 1, "code": 11000,
             "keyPattern": {"_id": 1}, "keyValue": {"_id": 1}}]})"},
                  {R"({"insert": "c", "ordered": false, "documents": [{"_id": 1}, {"_id": 3},
            {"_id": 3}]})",
                   R"({"n": 1, "writeErrors": [{"index": 0, "code": 11000}, {"index": 2,
            "code": 11000}]})"},
              });
    const auto reply = server.run(R"({"insert": "c", "documents": [{"_id": 1}]})");
    EXPECT_TRUE(reply.find_path("writeErrors.0.errmsg").as_string().starts_with("E11000"));
}

TEST(lab_insert, refuses_ids_that_cannot_be)
{
    test_node server;
    run_steps(server, {
                          {R"({"insert": "c", "documents": [{"_id": [1]}]})",
                           R"({"n": 0, "writeErrors": [{"code": 53,
            "errmsg": "The '_id' value cannot be of type array"}]})"},
                          {R"({"insert": "c", "documents": [{"_id": {"$regularExpression":
            {"pattern": "a", "options": ""}}}]})",
                           R"({"writeErrors": [{"code": 53}]})"},
                          {R"({"insert": "c", "documents": [{"_id": {"$a": 1}}]})",
                           R"({"writeErrors": [{"code": 52}]})"},
                          {R"({"insert": "c", "documents": [{"_id": 1, "$x": 1}]})", R"({"n": 1})"},
                      });
}

TEST(lab_insert, insert_before_5_0_refuses_field_names_with_dollar)
{
    test_node old{"4.4"};
    old.expect(R"({"insert": "c", "documents": [{"_id": 1, "$x": 1}]})",
               R"({"n": 0, "writeErrors": [{"code": 2}]})");
}

TEST(lab_insert, bounds_batches_and_documents)
{
    test_node server;
    server.expect_error(R"({"insert": "c", "documents": []})", 16,
                        "Write batch sizes must be between 1 and 100000. Got 0 operations.");
    const std::string large(16 * 1024 * 1024, 'x');
    const auto reply = server.run(bson::doc("insert", "c"), "documents",
                                  {bson::doc("_id", 1, "x", large)});
    EXPECT_TRUE(contains(reply, json(R"({"n": 0, "writeErrors": [{"code": 10334}]})")));
    server.expect_error(R"({"insert": "", "documents": [{"_id": 1}]})", 73);
    server.expect_error(R"({"insert": 1, "documents": [{"_id": 1}]})", 73);
}

TEST(lab_insert, insert_is_refused_by_the_validator)
{
    test_node server;
    run_steps(server,
              {
                  {R"({"create": "c", "validator": {"x": {"$type": "string"}}})", R"({"ok": 1})"},
                  {R"({"insert": "c", "documents": [{"_id": 1, "x": 1}]})",
                   R"({"n": 0, "writeErrors": [{"index": 0, "code": 121,
            "errInfo": {"failingDocumentId": 1,
             "details": {"operatorName": "$type", "consideredValue": 1,
             "consideredType": "int"}}, "errmsg": "Document failed validation"}]})"},
                  {R"({"insert": "c", "bypassDocumentValidation": true, "documents": [{"_id": 1,
            "x": 1}]})",
                   R"({"n": 1})"},
                  {R"({"insert": "c", "documents": [{"_id": 2, "x": "a"}]})", R"({"n": 1})"},
                  {R"({"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"x": 1}}}]})",
                   R"({"n": 0, "nModified": 0, "writeErrors": [{"code": 121}]})"},
                  {R"({"findAndModify": "c", "query": {"_id": 2}, "update": {"$set": {"x": 1}}})",
                   R"({"ok": 0, "code": 121, "errInfo": {"failingDocumentId": 2}})"},
                  {R"({"collMod": "c", "validationAction": "warn"})", R"({"ok": 1})"},
                  {R"({"insert": "c", "documents": [{"_id": 3, "x": 1}]})", R"({"n": 1})"},
              });
}

TEST(lab_update, counts_what_matched_and_what_changed)
{
    test_node server;
    run_steps(
        server,
        {
            {R"({"insert": "c", "documents": [{"_id": 1, "x": 1}, {"_id": 2, "x": 1},
            {"_id": 3, "x": 5}]})",
             R"({"n": 3})"},
            {R"({"update": "c", "updates": [{"q": {"x": 1}, "u": {"$set": {"y": 1}}}]})",
             R"({"n": 1, "nModified": 1})"},
            {R"({"update": "c", "updates": [{"q": {"x": 1}, "u": {"$set": {"y": 1}},
            "multi": true}]})",
             R"({"n": 2, "nModified": 1})"},
            {R"({"update": "c", "updates": [{"q": {"x": 9}, "u": {"$set": {"y": 1}}}]})",
             R"({"n": 0, "nModified": 0})"},
            {R"({"update": "c", "updates": [{"q": {"_id": 3}, "u": {"x": 6}}]})",
             R"({"n": 1, "nModified": 1})"},
            {R"({"find": "c", "filter": {"_id": 3}})", R"({"cursor": {"firstBatch": [{"x": 6}]}})"},
            {R"({"update": "c", "updates": [{"q": {}, "u": {"$inc": {"n": 1}}, "multi": true},
            {"q": {"_id": 1}, "u": [{"$set": {"z": {"$add": ["$n", 1]}}}]}]})",
             R"({"n": 4, "nModified": 4})"},
            {R"({"find": "c", "filter": {"_id": 1}})",
             R"({"cursor": {"firstBatch": [{"_id": 1, "n": 1, "z": 2}]}})"},
            {R"({"update": "c", "updates": [{"q": {}, "u": {"$set": {"t": 1}},
            "sort": {"_id": -1}}]})",
             R"({"n": 1})"},
            {R"({"count": "c", "query": {"_id": 3, "t": 1}})", R"({"n": 1})"},
            {R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"_id": 9}}}]})",
             R"({"n": 0, "writeErrors": [{"index": 0, "code": 66}]})"},
        });
}

TEST(lab_update, upserts)
{
    test_node server;
    run_steps(
        server,
        {
            {R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"x": 1}},
            "upsert": true},
            {"q": {"_id": 1}, "u": {"$set": {"x": 2}}, "upsert": true},
            {"q": {"k": "a"}, "u": {"$setOnInsert": {"_id": 5}}, "upsert": true}]})",
             R"({"n": 3, "nModified": 1, "upserted": [{"index": 0, "_id": 1}, {"index": 2,
            "_id": 5}]})"},
            {R"({"find": "c", "sort": {"_id": 1}})",
             R"({"cursor": {"firstBatch": [{"_id": 1, "x": 2}, {"_id": 5, "k": "a"}]}})"},
            {R"({"update": "c", "updates": [{"q": {"z": 1}, "u": {"w": 1}, "upsert": true}]})",
             R"({"n": 1, "upserted": [{"index": 0}]})"},
        });
}

TEST(lab_update, ordered_batches_stop_at_the_first_error)
{
    test_node server;
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": "text"}, {"_id": 2, "x": 1}]})");
    server.expect(R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"x": 1}}},
        {"q": {"_id": 2}, "u": {"$inc": {"x": 1}}}]})",
                  R"({"n": 0, "writeErrors": [{"index": 0, "code": 14}]})");
    server.expect(R"({"update": "c", "ordered": false, "updates": [
        {"q": {"_id": 1}, "u": {"$inc": {"x": 1}}}, {"q": {"_id": 2}, "u": {"$inc": {"x": 1}}}]})",
                  R"({"n": 1, "nModified": 1, "writeErrors": [{"index": 0, "code": 14}]})");
}

TEST(lab_delete, limit_1_deletes_one_and_0_all_matches)
{
    test_node server;
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": 1}, {"_id": 2, "x": 1},
        {"_id": 3, "x": 1}]})");
    run_steps(
        server,
        {
            {R"({"delete": "c", "deletes": [{"q": {"x": 1}, "limit": 1}]})", R"({"n": 1})"},
            {R"({"delete": "c", "deletes": [{"q": {"x": 1}, "limit": 0}]})", R"({"n": 2})"},
            {R"({"delete": "none", "deletes": [{"q": {}, "limit": 0}]})", R"({"n": 0, "ok": 1})"},
        });
    server.expect_error(R"({"delete": "c", "deletes": [{"q": {}}]})", 40414,
                        "'delete.deletes.limit' is missing but a required field");
}

TEST(lab_find_and_modify, new_option_selects_the_document_before_or_after)
{
    test_node server;
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": 1}, {"_id": 2, "x": 2}]})");
    run_steps(
        server,
        {
            {R"({"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"x": 1}}})",
             R"({"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1,
            "x": 1}})"},
            {R"({"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"x": 1}},
            "new": true,
            "fields": {"_id": 0}})",
             R"({"value": {"x": 3}})"},
            {R"({"findAndModify": "c", "query": {}, "sort": {"_id": -1}, "remove": true})",
             R"({"lastErrorObject": {"n": 1}, "value": {"_id": 2, "x": 2}})"},
            {R"({"findAndModify": "c", "query": {"_id": 7}, "update": {"x": 1}})",
             R"({"lastErrorObject": {"n": 0, "updatedExisting": false}, "value": null})"},
            {R"({"findandmodify": "c", "query": {"_id": 7}, "update": {"x": 1}, "upsert": true})",
             R"({"lastErrorObject": {"n": 1, "updatedExisting": false, "upserted": 7},
            "value": null})"},
            {R"({"findAndModify": "c", "query": {"_id": 8}, "update": {"x": 1}, "upsert": true,
            "new": true})",
             R"({"lastErrorObject": {"upserted": 8}, "value": {"_id": 8, "x": 1}})"},
        });
    server.expect_error(R"({"findAndModify": "c"})", 9,
                        "Either an update or remove=true must be specified");
    server.expect_error(R"({"findAndModify": "c", "update": {"x": 1}, "remove": true})", 9,
                        "Cannot specify both an update and remove=true");
    server.expect_error(R"({"findAndModify": "c", "new": true, "remove": true})", 9);
}

TEST(lab_write, a_statement_that_makes_no_sense_fails_the_command)
{
    test_node server;
    server.run(R"({"insert": "c", "documents": [{"_id": 1}]})");
    server.expect_error(R"({"update": "c", "updates": [{"q": {}, "u": {"$set": {"x": 1}},
        "multi": true, "sort": {"_id": 1}}]})",
                        9, "Cannot specify sort with multi=true");
    for (const char* const limit : {"2", "-1", "0.5"})
        server.expect_error(R"({"delete": "c", "deletes": [{"q": {}, "limit": )" +
                                std::string{limit} + "}]}",
                            9, "The limit field in delete objects must be 0 or 1");
    server.expect(R"({"find": "c"})", R"({"cursor": {"firstBatch": [{"_id": 1}]}})");
}

TEST(lab_bulk_write, reply_cursor_has_a_result_per_operation)
{
    test_node server;
    run_steps(server,
              {
                  {R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}, {"ns": "db.b"}],
            "ops": [
            {"insert": 0, "document": {"_id": 1, "x": 1}},
            {"insert": 1, "document": {"_id": 2}},
            {"update": 0, "filter": {"_id": 1}, "updateMods": {"$inc": {"x": 1}}},
            {"update": 1, "filter": {"_id": 3}, "updateMods": {"$set": {"x": 1}}, "upsert": true},
            {"delete": 1, "filter": {}, "multi": true}]})",
                   R"({"cursor": {"id": 0, "ns": "admin.$cmd.bulkWrite", "firstBatch": [
             {"ok": 1, "idx": 0, "n": 1}, {"ok": 1, "idx": 1, "n": 1},
             {"ok": 1, "idx": 2, "n": 1, "nModified": 1},
             {"ok": 1, "idx": 3, "n": 1, "nModified": 0, "upserted": {"_id": 3}},
             {"ok": 1, "idx": 4, "n": 2}]},
             "nErrors": 0, "nInserted": 2, "nMatched": 1, "nModified": 1, "nUpserted": 1,
             "nDeleted": 2})"},
                  {R"({"bulkWrite": 1, "$db": "admin", "errorsOnly": true, "ordered": false,
            "nsInfo": [{"ns": "db.a"}], "ops": [{"insert": 0, "document": {"_id": 1}},
            {"insert": 0, "document": {"_id": 5}}]})",
                   R"({"cursor": {"firstBatch": [{"ok": 0, "idx": 0, "code": 11000, "n": 0,
             "keyValue": {"_id": 1}}]}, "nErrors": 1, "nInserted": 1})"},
                  {R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}], "ops": [
            {"insert": 0, "document": {"_id": 1}}, {"insert": 0, "document": {"_id": 6}}]})",
                   R"({"nErrors": 1, "nInserted": 0})"},
                  {R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}], "ops": [
            {"update": 0, "filter": {"_id": 5}, "updateMods": [{"$set": {"x": "$$seven"}}],
             "constants": {"seven": 7}}]})",
                   R"({"nErrors": 0, "nModified": 1})"},
                  {R"({"find": "a", "filter": {"_id": 5}})",
                   R"({"cursor": {"firstBatch": [{"_id": 5, "x": 7}]}})"},
              });
    const auto sorted = server.run(R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}],
        "ops": [{"update": 0, "filter": {}, "updateMods": {"$set": {"x": 1}}, "multi": true,
        "sort": {"_id": 1}}]})");
    EXPECT_NE(bson::to_json(sorted).value().find("Cannot specify sort with multi=true"),
              std::string::npos);
    server.expect(R"({"count": "a", "query": {"_id": 5, "x": 7}})", R"({"n": 1})");
    server.expect_error(R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}],
        "ops": [{"insert": 1, "document": {}}]})",
                        2);
    server.expect_error(R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}],
        "ops": [{"upsert": 0}]})",
                        2);
    server.expect_error(R"({"bulkWrite": 1, "nsInfo": [], "ops": []})", 13, "admin");
    test_node old{"7.0"};
    old.expect_error(R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}],
        "ops": [{"insert": 0, "document": {}}]})",
                     59);
}

TEST(lab_bulk_write, ops_and_ns_info_are_read_from_document_sequences)
{
    test_node server;
    const auto reply = server.run(
        json(R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}]})"), "ops",
        {json(R"({"insert": 0, "document": {"_id": 1}})")});
    EXPECT_TRUE(contains(reply, json(R"({"nInserted": 1})")));
}

}  // namespace
}  // namespace holdfast::lab::write_test
