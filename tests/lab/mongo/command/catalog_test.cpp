#include "lab/mongo/command/test_node.hpp"

namespace holdfast::lab::catalog_test {
namespace {

struct row {
    std::string_view command;
    std::string_view reply;
};

void run_rows(test_node& server, std::initializer_list<row> rows)
{
    for (const row& one : rows)
        server.expect(one.command, one.reply);
}

TEST(lab_catalog, creates_lists_and_drops)
{
    test_node server;
    run_rows(
        server,
        {
            {R"({"create": "c"})", R"({"ok": 1})"},
            {R"({"create": "c"})", R"({"ok": 1})"},
            {R"({"create": "c", "capped": true, "size": 100})", R"({"code": 48})"},
            {R"({"create": "k", "capped": true, "size": 4096, "max": 2})", R"({"ok": 1})"},
            {R"({"listCollections": 1})", R"({"cursor": {"id": 0, "ns": "db.$cmd.listCollections",
            "firstBatch": [{"name": "c", "type": "collection", "options": {},
            "info": {"readOnly": false}, "idIndex": {"v": 2, "key": {"_id": 1}, "name": "_id_"}},
            {"name": "k", "options": {"capped": true}}]}})"},
            {R"({"listCollections": 1, "filter": {"name": "k"}, "nameOnly": true})",
             R"({"cursor": {"firstBatch": [{"name": "k", "type": "collection"}]}})"},
            {R"({"insert": "k", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}]})",
             R"({"n": 3})"},
            {R"({"find": "k"})", R"({"cursor": {"firstBatch": [{"_id": 2}, {"_id": 3}]}})"},
            {R"({"drop": "c"})", R"({"ns": "db.c", "nIndexesWas": 1, "ok": 1})"},
            {R"({"drop": "c"})", R"({"ok": 1})"},
            {R"({"create": "$bad"})", R"({"code": 73})"},
            {R"({"create": "x", "capped": true})", R"({"code": 72})"},
            {R"({"create": "x", "foo": 1})", R"({"code": 40415})"},
            {R"({"create": "x", "validator": {"$foo": 1}})", R"({"ok": 0})"},
            {R"({"create": "p", "changeStreamPreAndPostImages": {"enabled": true}})",
             R"({"ok": 1})"},
            {R"({"create": "t", "timeseries": {"timeField": "t"}})", R"({"ok": 1})"},
            {R"({"insert": "t", "documents": [{"_id": 1, "t": {"$date": "2026-01-01T00:00:00Z"}},
                {"_id": 1, "t": {"$date": "2026-01-02T00:00:00Z"}}]})",
             R"({"n": 2})"},
            {R"({"count": "t", "query": {"_id": 1}})", R"({"n": 2})"},
            {R"({"find": "t", "filter": {"_id": 1}, "projection": {"_id": 1}})",
             R"({"cursor": {"firstBatch": [{"_id": 1}, {"_id": 1}]}})"},
            {R"({"delete": "t", "deletes": [{"q": {"_id": 1}, "limit": 0}]})", R"({"n": 2})"},
            {R"({"count": "t"})", R"({"n": 0})"},
            {R"({"create": "l", "clusteredIndex": {"key": {"_id": 1}, "unique": true}})",
             R"({"ok": 1})"},
            {R"({"listCollections": 1, "filter": {"name": "p"}})", R"({"cursor": {"firstBatch": [
            {"options": {"changeStreamPreAndPostImages": {"enabled": true}}}]}})"},
        });
    test_node old{"6.0"};
    run_rows(old, {
                      {R"({"create": "c"})", R"({"ok": 1})"},
                      {R"({"create": "c"})", R"({"code": 48, "codeName": "NamespaceExists"})"},
                      {R"({"drop": "none"})", R"({"code": 26, "errmsg": "ns not found"})"},
                  });
}

TEST(lab_catalog, lists_and_drops_databases)
{
    test_node server;
    run_rows(
        server,
        {
            {R"({"insert": "c", "$db": "a", "documents": [{"_id": 1}]})", R"({"n": 1})"},
            {R"({"insert": "c", "$db": "b", "documents": [{"_id": 1}]})", R"({"n": 1})"},
            {R"({"listDatabases": 1, "$db": "admin", "nameOnly": true,
            "filter": {"name": {"$in": ["a", "b"]}}})",
             R"({"databases": [{"name": "a"}, {"name": "b"}]})"},
            {R"({"listDatabases": 1, "$db": "admin", "filter": {"name": "a"}})",
             R"({"databases": [{"name": "a", "empty": false}]})"},
            {R"({"listDatabases": 1})", R"({"code": 13})"},
            {R"({"dropDatabase": 1, "$db": "a"})", R"({"dropped": "a", "ok": 1})"},
            {R"({"dropDatabase": 1, "$db": "a"})", R"({"ok": 1})"},
            {R"({"dropDatabase": 1, "$db": "admin"})", R"({"code": 20})"},
            {R"({"listDatabases": 1, "$db": "admin", "nameOnly": true, "filter": {"name": "a"}})",
             R"({"databases": []})"},
        });
}

TEST(lab_catalog, renames)
{
    test_node server;
    run_rows(
        server,
        {
            {R"({"insert": "a", "documents": [{"_id": 1}]})", R"({"n": 1})"},
            {R"({"insert": "b", "documents": [{"_id": 2}]})", R"({"n": 1})"},
            {R"({"renameCollection": "db.a", "to": "db.b", "$db": "admin"})", R"({"code": 48})"},
            {R"({"renameCollection": "db.none", "to": "db.x", "$db": "admin"})", R"({"code": 26})"},
            {R"({"renameCollection": "db.a", "to": "db.a", "$db": "admin"})", R"({"code": 20})"},
            {R"({"renameCollection": "db.a", "to": "db.b", "dropTarget": true, "$db": "admin"})",
             R"({"ok": 1})"},
            {R"({"find": "b"})", R"({"cursor": {"firstBatch": [{"_id": 1}]}})"},
            {R"({"count": "a"})", R"({"n": 0})"},
        });
}

TEST(lab_indexes, create_list_and_drop_indexes_agree)
{
    test_node server;
    run_rows(
        server,
        {
            {R"({"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1"}],
            "commitQuorum": "majority"})",
             R"({"numIndexesBefore": 1, "numIndexesAfter": 2,
             "createdCollectionAutomatically": true})"},
            {R"({"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1"}]})",
             R"({"numIndexesBefore": 2, "numIndexesAfter": 2,
            "note": "all indexes already exist"})"},
            {R"({"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "other"}]})",
             R"({"code": 85, "codeName": "IndexOptionsConflict"})"},
            {R"({"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1",
            "unique": true}]})",
             R"({"code": 86, "codeName": "IndexKeySpecsConflict"})"},
            {R"({"createIndexes": "c", "indexes": []})", R"({"code": 2})"},
            {R"({"createIndexes": "c", "indexes": [{"key": {"_id": {"$numberLong": "1"}},
            "name": "_id_"}]})",
             R"({"numIndexesBefore": 2, "numIndexesAfter": 2})"},
            {R"({"createIndexes": "c", "indexes": [{"key": {"_id": "hashed"}, "name": "_id_"}]})",
             R"({"code": 2, "codeName": "BadValue"})"},
            {R"({"createIndexes": "c", "indexes": [{"key": {"w": 1}, "name": "_id_"}]})",
             R"({"code": 2, "codeName": "BadValue"})"},
            {R"({"createIndexes": "c", "indexes": [{"key": {"y": 1}, "name": "y_1", "unique": true},
            {"key": {"z": 1}, "name": "z_1"}]})",
             R"({"numIndexesAfter": 4})"},
            {R"({"listIndexes": "c"})", R"({"cursor": {"id": 0, "firstBatch": [
            {"v": 2, "key": {"_id": 1}, "name": "_id_"}, {"v": 2, "key": {"x": 1}, "name": "x_1"},
            {"name": "y_1", "unique": true}, {"name": "z_1"}]}})"},
            {R"({"listIndexes": "none"})", R"({"code": 26})"},
            {R"({"insert": "c", "documents": [{"_id": 1, "y": 1}, {"_id": 2, "y": 1}]})",
             R"({"n": 1, "writeErrors": [{"index": 1, "code": 11000, "keyPattern": {"y": 1},
             "keyValue": {"y": 1}}]})"},
            {R"({"dropIndexes": "c", "index": "x_1"})", R"({"nIndexesWas": 4, "ok": 1})"},
            {R"({"dropIndexes": "c", "index": {"y": 1}})", R"({"nIndexesWas": 3, "ok": 1})"},
            {R"({"dropIndexes": "c", "index": "x_1"})",
             R"({"code": 27, "errmsg": "index not found with name [x_1]"})"},
            {R"({"dropIndexes": "c", "index": {"q": 1}})", R"({"code": 27})"},
            {R"({"dropIndexes": "c", "index": "_id_"})", R"({"code": 72})"},
            {R"({"deleteIndexes": "c", "index": ["z_1"]})", R"({"nIndexesWas": 2})"},
            {R"({"dropIndexes": "c", "index": "*"})",
             R"({"nIndexesWas": 1, "msg": "non-_id indexes dropped for collection"})"},
            {R"({"dropIndexes": "none", "index": "*"})", R"({"code": 26})"},
        });
    test_node old{"4.2"};
    old.expect_error(R"({"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1"}],
        "commitQuorum": 1})",
                     40415, "createIndexes.commitQuorum");
}

TEST(lab_coll_mod, changes_options_and_indexes)
{
    test_node server;
    run_rows(
        server,
        {
            {R"({"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 1}]})",
             R"({"n": 2})"},
            {R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]})",
             R"({"ok": 1})"},
            {R"({"collMod": "c", "index": {"keyPattern": {"a": 1}, "unique": true}})",
             R"({"code": 72})"},
            {R"({"collMod": "c", "index": {"keyPattern": {"a": 1}, "prepareUnique": true}})",
             R"({"prepareUnique_old": false, "prepareUnique_new": true})"},
            {R"({"insert": "c", "documents": [{"_id": 3, "a": 1}]})",
             R"({"writeErrors": [{"code": 11000}]})"},
            {R"({"collMod": "c", "index": {"keyPattern": {"a": 1}, "unique": true}})",
             R"({"ok": 0, "code": 359, "codeName": "CannotConvertIndexToUnique",
             "violations": [{"ids": [1, 2]}]})"},
            {R"({"collMod": "c", "index": {"name": "a_1", "hidden": true}})",
             R"({"hidden_old": false, "hidden_new": true})"},
            {R"({"collMod": "c", "index": {"name": "none", "hidden": true}})", R"({"code": 27})"},
            {R"({"collMod": "none", "validator": {}})", R"({"code": 26})"},
            {R"({"collMod": "c", "validator": {"x": 1}, "validationLevel": "moderate"})",
             R"({"ok": 1})"},
            {R"({"listCollections": 1})", R"({"cursor": {"firstBatch": [{"options": {
            "validator": {"x": 1}, "validationLevel": "moderate"}}]}})"},
            {R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"b": 1}}}]})",
             R"({"nModified": 1})"},
            {R"({"collMod": "c", "changeStreamPreAndPostImages": {"enabled": true}})",
             R"({"ok": 1})"},
            {R"({"collMod": "c", "foo": 1})", R"({"code": 40415})"},
        });
}

TEST(lab_stats, describe_collections_and_databases)
{
    test_node server;
    run_rows(
        server,
        {
            {R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]})", R"({"n": 2})"},
            {R"({"collStats": "c"})",
             R"({"ns": "db.c", "count": 2, "nindexes": 1, "capped": false})"},
            {R"({"collStats": "none"})", R"({"count": 0, "ok": 1})"},
            {R"({"dbStats": 1})", R"({"db": "db", "collections": 1, "objects": 2, "indexes": 1})"},
            {R"({"validate": "c"})", R"({"ns": "db.c", "nrecords": 2, "valid": true})"},
            {R"({"validate": "none"})", R"({"code": 26})"},
            {R"({"aggregate": "c", "pipeline": [{"$collStats": {"count": {}}}], "cursor": {}})",
             R"({"cursor": {"firstBatch": [{"ns": "db.c", "count": 2}]}})"},
            {R"({"aggregate": "c", "pipeline": [{"$indexStats": {}}], "cursor": {}})",
             R"({"cursor": {"firstBatch": [{"name": "_id_", "key": {"_id": 1}}]}})"},
        });
}

}  // namespace
}  // namespace holdfast::lab::catalog_test
