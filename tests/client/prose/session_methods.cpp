#include "client/prose/session_methods.hpp"

#include "client/prose/shop.hpp"

namespace holdfast::proof {

namespace {

using session = const mongo::session*;

template <class T>
std::optional<error> why_not(result<T> outcome)
{
    return outcome ? std::nullopt : std::optional<error>{std::move(outcome).error()};
}

/// The outcome of an operation that was made with use_awaitable.
template <class T>
std::optional<error> run(lab_scene& in, runtime::awaitable<result<T>> what)
{
    return why_not(in.get(std::move(what)));
}

std::optional<error> drain(lab_scene& in, mongo::cursor of)
{
    return run(in, of.all(use_awaitable));
}

const bson::document key = bson::doc("a", 1);
const bson::document ping = bson::doc("ping", 1);
const bson::document find_all = bson::doc("find", "coll");

void add_writes(std::vector<session_method>& to)
{
    to.push_back({"insert_one", "insert", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().insert_one(everything.view(),
                                                                   {.session = in}, use_awaitable));
                  }});
    to.push_back({"insert_many", "insert", [](lab_scene& s, session in) {
                      return run(s,
                                 s.test_collection().insert_many(std::vector{bson::doc("b", 1)},
                                                                 {.session = in}, use_awaitable));
                  }});
    to.push_back({"update_one", "update", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().update_one(everything.view(), change,
                                                                   {.session = in}, use_awaitable));
                  }});
    to.push_back({"update_many", "update", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().update_many(
                                        everything.view(), change, {.session = in}, use_awaitable));
                  }});
    to.push_back({"replace_one", "update", [](lab_scene& s, session in) {
                      return run(s,
                                 s.test_collection().replace_one(everything.view(), key.view(),
                                                                 {.session = in}, use_awaitable));
                  }});
    to.push_back({"find_one_and_update", "findAndModify", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().find_one_and_update(
                                        everything.view(), change, {.session = in}, use_awaitable));
                  }});
    to.push_back({"find_one_and_replace", "findAndModify", [](lab_scene& s, session in) {
                      return run(
                          s, s.test_collection().find_one_and_replace(
                                 everything.view(), key.view(), {.session = in}, use_awaitable));
                  }});
    to.push_back({"bulk_write", "insert", [](lab_scene& s, session in) {
                      mongo::bulk_writes work;
                      work.insert_one(bson::doc("c", 1).view());
                      return run(s, s.test_collection().bulk_write(std::move(work), {.session = in},
                                                                   use_awaitable));
                  }});
    to.push_back({"client.bulk_write", "bulkWrite", [](lab_scene& s, session in) {
                      mongo::client_bulk_writes work;
                      work.insert_one("sea.coll", bson::doc("d", 1).view());
                      return run(
                          s, s.client->bulk_write(std::move(work), {.session = in}, use_awaitable));
                  }});
}

void add_reads(std::vector<session_method>& to)
{
    to.push_back({"find", "find", [](lab_scene& s, session in) {
                      return drain(s, s.test_collection().find(everything.view(), {.session = in}));
                  }});
    to.push_back({"find_one", "find", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().find_one(everything.view(), {.session = in},
                                                                 use_awaitable));
                  }});
    to.push_back({"aggregate", "aggregate", [](lab_scene& s, session in) {
                      const bson::array stages = bson::arr();
                      return drain(s,
                                   s.test_collection().aggregate(stages.view(), {.session = in}));
                  }});
    to.push_back({"database.aggregate", "aggregate", [](lab_scene& s, session in) {
                      const bson::array stages = bson::arr(
                          bson::object("$listLocalSessions", bson::object()),
                          bson::object("$limit", 1));
                      return drain(s, (*s.client)["sea"].aggregate(stages.view(), {.session = in}));
                  }});
    to.push_back({"count_documents", "aggregate", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().count_documents(
                                        everything.view(), {.session = in}, use_awaitable));
                  }});
    to.push_back({"estimated_document_count", "count", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().estimated_document_count({.session = in},
                                                                                 use_awaitable));
                  }});
    to.push_back({"distinct", "distinct", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().distinct("a", everything.view(),
                                                                 {.session = in}, use_awaitable));
                  }});
    to.push_back({"run_command", "ping", [](lab_scene& s, session in) {
                      return run(s, (*s.client)["sea"].run_command(ping.view(), {.session = in},
                                                                   use_awaitable));
                  }});
    to.push_back({"run_cursor_command", "find", [](lab_scene& s, session in) {
                      return drain(s, (*s.client)["sea"].run_cursor_command(find_all.view(),
                                                                            {.session = in}));
                  }});
    to.push_back({"list_databases", "listDatabases", [](lab_scene& s, session in) {
                      return run(s, s.client->list_databases({.session = in}, use_awaitable));
                  }});
    to.push_back({"list_database_names", "listDatabases", [](lab_scene& s, session in) {
                      return run(s, s.client->list_database_names({.session = in}, use_awaitable));
                  }});
    to.push_back({"list_collections", "listCollections", [](lab_scene& s, session in) {
                      return drain(s, (*s.client)["sea"].list_collections({.session = in}));
                  }});
    to.push_back({"list_collection_names", "listCollections", [](lab_scene& s, session in) {
                      return run(s, (*s.client)["sea"].list_collection_names({.session = in},
                                                                             use_awaitable));
                  }});
    to.push_back({"list_indexes", "listIndexes", [](lab_scene& s, session in) {
                      return drain(s, s.test_collection().list_indexes({.session = in}));
                  }});
}

void add_administration(std::vector<session_method>& to)
{
    to.push_back({"create_index", "createIndexes", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().create_index(
                                        key.view(), {}, {.session = in}, use_awaitable));
                  }});
    to.push_back({"create_indexes", "createIndexes", [](lab_scene& s, session in) {
                      const mongo::index_model one{.keys = key.view()};
                      return run(s, s.test_collection().create_indexes({&one, 1}, {.session = in},
                                                                       use_awaitable));
                  }});
    to.push_back({"drop_index", "dropIndexes", [](lab_scene& s, session in) {
                      return run(
                          s, s.test_collection().drop_index("a_1", {.session = in}, use_awaitable));
                  }});
    to.push_back({"drop_indexes", "dropIndexes", [](lab_scene& s, session in) {
                      return run(s,
                                 s.test_collection().drop_indexes({.session = in}, use_awaitable));
                  }});
    to.push_back({"modify_collection", "collMod", [](lab_scene& s, session in) {
                      return run(s, (*s.client)["sea"].modify_collection(
                                        "coll", bson::doc("validationLevel", "off").view(),
                                        {.session = in}, use_awaitable));
                  }});
    to.push_back({"create_collection", "create", [](lab_scene& s, session in) {
                      return run(s, (*s.client)["sea"].create_collection("reef", {.session = in},
                                                                         use_awaitable));
                  }});
    to.push_back({"rename", "renameCollection", [](lab_scene& s, session in) {
                      return run(s, (*s.client)["sea"]["reef"].rename("shoal", {.session = in},
                                                                      use_awaitable));
                  }});
    to.push_back({"drop", "drop", [](lab_scene& s, session in) {
                      return run(s,
                                 (*s.client)["sea"]["shoal"].drop({.session = in}, use_awaitable));
                  }});
    to.push_back({"find_one_and_delete", "findAndModify", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().find_one_and_delete(
                                        everything.view(), {.session = in}, use_awaitable));
                  }});
    to.push_back({"delete_one", "delete", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().delete_one(everything.view(),
                                                                   {.session = in}, use_awaitable));
                  }});
    to.push_back({"delete_many", "delete", [](lab_scene& s, session in) {
                      return run(s, s.test_collection().delete_many(
                                        everything.view(), {.session = in}, use_awaitable));
                  }});
    to.push_back({"database.drop", "dropDatabase", [](lab_scene& s, session in) {
                      return run(s, (*s.client)["sea"].drop({.session = in}, use_awaitable));
                  }});
}

}  // namespace

const std::vector<session_method>& session_methods()
{
    static const std::vector<session_method> all = [] {
        std::vector<session_method> made;
        add_writes(made);
        add_reads(made);
        add_administration(made);
        return made;
    }();
    return all;
}

}  // namespace holdfast::proof
