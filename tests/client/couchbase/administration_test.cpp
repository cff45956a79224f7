// Buckets, collections and users against the management service of the lab; query indexes, search
// and views against scripted services.
#include "client/couchbase/lab_services_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace holdfast::couchbase_administration_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::http_method;
using couchbase::service_type;
using proof::lab_services_scene;
using proof::reply_of;
using proof::reply_with_code;
using proof::reply_with_rows;
using proof::use_awaitable;

class couchbase_administration : public ::testing::Test {
protected:
    couchbase_administration() { scene.connect_and_wait(); }

    template <class T>
    error_code code_of(runtime::awaitable<result<T>> what)
    {
        return scene.run(std::move(what))->code();
    }

    lab_services_scene scene{{.nodes = 2}};
};

TEST_F(couchbase_administration, buckets_are_made_changed_flushed_and_dropped)
{
    const couchbase::bucket_admin all = scene.client->buckets();
    EXPECT_FALSE(
        code_of(all.create("shop", {.replicas = 1, .flush_enabled = true}, {}, use_awaitable)));
    EXPECT_EQ(code_of(all.create("shop", {}, {}, use_awaitable)), errc::bucket_exists);
    EXPECT_FALSE(
        code_of(all.update("shop", {.ram_quota_mb = 200, .max_expiry = 60s}, {}, use_awaitable)));
    const auto shop = scene.run(all.get("shop", {}, use_awaitable));
    ASSERT_TRUE(shop->good()) << shop->explain();
    EXPECT_EQ((*shop->outcome)->ram_quota_mb, 200u);
    EXPECT_EQ((*shop->outcome)->max_expiry, 60s);
    EXPECT_EQ((*shop->outcome)->replicas, 1u);
    EXPECT_FALSE(code_of(all.flush("shop", {}, use_awaitable)));
    EXPECT_FALSE(code_of(all.update("shop", {.flush_enabled = false}, {}, use_awaitable)));
    EXPECT_EQ(code_of(all.flush("shop", {}, use_awaitable)), errc::bucket_not_flushable);
    const auto list = scene.run(all.get_all({}, use_awaitable));
    ASSERT_TRUE(list->good()) << list->explain();
    EXPECT_EQ((*list->outcome)->size(), 2u);
    EXPECT_FALSE(code_of(all.drop("shop", {}, use_awaitable)));
    EXPECT_EQ(code_of(all.drop("shop", {}, use_awaitable)), errc::bucket_not_found);
    EXPECT_EQ(code_of(all.get("shop", {}, use_awaitable)), errc::bucket_not_found);
    EXPECT_EQ(code_of(all.get("", {}, use_awaitable)), errc::invalid_argument);
}

TEST_F(couchbase_administration, collections_can_be_used_as_soon_as_they_are_made)
{
    const couchbase::bucket travel = (*scene.client)["travel"];
    const couchbase::collection_admin all = travel.collections();
    EXPECT_FALSE(code_of(all.create_scope("s", {}, use_awaitable)));
    EXPECT_EQ(code_of(all.create_scope("s", {}, use_awaitable)), errc::scope_exists);
    EXPECT_FALSE(code_of(all.create_collection("s", "c", {.max_expiry = 60s}, {}, use_awaitable)));
    EXPECT_EQ(code_of(all.create_collection("s", "c", {}, {}, use_awaitable)),
              errc::collection_exists);
    EXPECT_EQ(code_of(all.create_collection("none", "c", {}, {}, use_awaitable)),
              errc::scope_not_found);
    const couchbase::raw_json content{"{}"};
    const auto stored = scene.run(travel["s"]["c"].upsert("a", content, {}, use_awaitable));
    EXPECT_TRUE(stored->good()) << stored->explain();
    EXPECT_FALSE(code_of(all.update_collection("s", "c", {.max_expiry = 90s}, {}, use_awaitable)));
    const auto scopes = scene.run(all.get_all_scopes({}, use_awaitable));
    ASSERT_TRUE(scopes->good()) << scopes->explain();
    const auto& list = **scopes->outcome;
    const auto s = std::ranges::find(list, "s", &couchbase::scope_info::name);
    ASSERT_NE(s, list.end());
    ASSERT_EQ(s->collections.size(), 1u);
    EXPECT_EQ(s->collections[0].max_expiry, 90s);
    EXPECT_FALSE(code_of(all.drop_collection("s", "c", {}, use_awaitable)));
    EXPECT_EQ(code_of(all.drop_collection("s", "c", {}, use_awaitable)),
              errc::collection_not_found);
    EXPECT_FALSE(code_of(all.drop_scope("s", {}, use_awaitable)));
    EXPECT_EQ(code_of(all.drop_scope("s", {}, use_awaitable)), errc::scope_not_found);
    EXPECT_EQ(code_of((*scene.client)["none"].collections().create_scope("s", {}, use_awaitable)),
              errc::bucket_not_found);
}

TEST_F(couchbase_administration, users_are_made_changed_and_dropped)
{
    const couchbase::user_admin all = scene.client->users();
    const couchbase::role roles[] = {{"data_reader", "travel"}, {"ro_admin"}};
    EXPECT_FALSE(code_of(all.upsert(
        "bob", {.password = "babbage", .display_name = "Bob", .roles = roles}, {}, use_awaitable)));
    const auto bob = scene.run(all.get("bob", {}, use_awaitable));
    ASSERT_TRUE(bob->good()) << bob->explain();
    EXPECT_EQ((*bob->outcome)->display_name, "Bob");
    ASSERT_EQ((*bob->outcome)->roles.size(), 2u);
    EXPECT_TRUE((*bob->outcome)->roles[0].from_user);
    const couchbase::role unknown[] = {{"king"}};
    EXPECT_EQ(
        code_of(all.upsert("eve", {.password = "babbage", .roles = unknown}, {}, use_awaitable)),
        errc::invalid_argument);
    const auto list = scene.run(all.get_all({}, use_awaitable));
    ASSERT_TRUE(list->good()) << list->explain();
    EXPECT_FALSE((*list->outcome)->empty());
    const auto known = scene.run(all.get_roles({}, use_awaitable));
    ASSERT_TRUE(known->good()) << known->explain();
    EXPECT_FALSE((*known->outcome)->empty());
    EXPECT_FALSE(code_of(all.drop("bob", {}, use_awaitable)));
    EXPECT_EQ(code_of(all.drop("bob", {}, use_awaitable)), errc::user_not_found);
    EXPECT_EQ(code_of(all.get("bob", {}, use_awaitable)), errc::user_not_found);
}

TEST_F(couchbase_administration, password_that_was_changed_is_needed_for_new_connections)
{
    EXPECT_FALSE(code_of(scene.client->users().change_password("byron123", {}, use_awaitable)));
    scene.client->set_authenticator(proof::kv_scene::login("byron123"));
    scene.simulation.run_for(2s);
    const auto again = scene.run(scene.client->buckets().get_all({}, use_awaitable));
    EXPECT_TRUE(again->good()) << again->explain();
}

TEST_F(couchbase_administration, indexes_are_statements_and_what_is_there_already_can_be_ignored)
{
    const couchbase::query_index_admin all = scene.client->query_indexes();
    const std::string_view keys[] = {"country"};
    scene.answer("n1ql", reply_with_rows({}));
    EXPECT_FALSE(
        code_of(all.create({"travel"}, "by", keys, {.deferred = true}, {}, use_awaitable)));
    EXPECT_FALSE(code_of(all.create_primary({"travel", "s", "c"}, {}, {}, use_awaitable)));
    EXPECT_FALSE(code_of(all.drop({"travel"}, "by", {}, {}, use_awaitable)));
    EXPECT_FALSE(code_of(all.drop_primary({"travel"}, {}, {}, use_awaitable)));
    const auto seen = scene.seen("n1ql");
    ASSERT_EQ(seen.size(), 4u);
    EXPECT_EQ(seen[3].member("statement"), R"("DROP PRIMARY INDEX ON `travel` USING GSI")");
    EXPECT_EQ(seen[3].member("readonly"), "");

    scene.answer("n1ql", reply_with_code(4300, "The index by already exists."));
    EXPECT_EQ(code_of(all.create({"travel"}, "by", keys, {}, {}, use_awaitable)),
              errc::index_exists);
    EXPECT_FALSE(
        code_of(all.create({"travel"}, "by", keys, {.ignore_if_exists = true}, {}, use_awaitable)));
    scene.answer("n1ql", reply_with_code(12016, "Index Not Found"));
    EXPECT_EQ(code_of(all.drop({"travel"}, "by", {}, {}, use_awaitable)), errc::index_not_found);
    EXPECT_FALSE(
        code_of(all.drop({"travel"}, "by", {.ignore_if_missing = true}, {}, use_awaitable)));
    EXPECT_EQ(code_of(all.create({}, "by", keys, {}, {}, use_awaitable)), errc::invalid_argument);
}

std::string index_row(const std::string& name, const std::string& state)
{
    return R"({"name":")" + name + R"(","state":")" + state +
           R"(","using":"gsi","keyspace_id":"travel","index_key":["`a`"]})";
}

TEST_F(couchbase_administration, deferred_indexes_are_built_and_watched_until_they_are_online)
{
    const couchbase::query_index_admin all = scene.client->query_indexes();
    std::string state = "deferred";
    int listed = 0;
    scene.answer("n1ql", [&](const proof::service_request_seen& request) {
        if (request.member("statement").starts_with("\"BUILD")) {
            state = "building";
            return reply_with_rows({});
        }
        if (state == "building" && ++listed == 3)
            state = "online";
        return reply_with_rows({index_row("by", state), index_row("other", "online")});
    });
    const auto list = scene.run(all.get_all({"travel"}, {}, use_awaitable));
    ASSERT_TRUE(list->good()) << list->explain();
    ASSERT_EQ((*list->outcome)->size(), 2u);
    EXPECT_EQ((*list->outcome)->front().state, "deferred");
    EXPECT_EQ(scene.seen("n1ql")[0].member("readonly"), "true");
    const auto built = scene.run(all.build_deferred({"travel"}, {}, use_awaitable));
    ASSERT_TRUE(built->good()) << built->explain();
    EXPECT_EQ(**built->outcome, std::vector<std::string>{"by"});
    const std::string_view names[] = {"by", "other"};
    const auto watched = scene.run(all.watch({"travel"}, names, {}, use_awaitable));
    EXPECT_TRUE(watched->good()) << watched->explain();
    EXPECT_EQ(state, "online");
    const auto none = scene.run(all.build_deferred({"travel"}, {}, use_awaitable));
    ASSERT_TRUE(none->good()) << none->explain();
    EXPECT_TRUE((*none->outcome)->empty());

    const std::string_view missing[] = {"missing"};
    EXPECT_EQ(code_of(all.watch({"travel"}, missing, {}, use_awaitable)), errc::index_not_found);
    state = "paused";
    const auto late = scene.run(all.watch({"travel"}, names, {.timeout = 3s}, use_awaitable));
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 3s);
    EXPECT_NE(late->error().message().find("paused"), std::string::npos);
}

TEST_F(couchbase_administration, whatever_else_is_sent_as_it_is_and_answered_as_it_is)
{
    scene.answer("cbas", reply_of(201, "made"));
    const couchbase::http_header headers[] = {{"X-One", "1"}};
    const auto got = scene.run(scene.client->http(
        service_type::analytics, http_method::post, "/analytics/link?x=1",
        {.content_type = "text/plain", .body = "a body", .headers = headers}, use_awaitable));
    ASSERT_TRUE(got->good()) << got->explain();
    EXPECT_EQ((*got->outcome)->status, 201);
    EXPECT_EQ((*got->outcome)->body, "made");
    EXPECT_TRUE((*got->outcome)->is_success());
    const auto seen = scene.seen("cbas");
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].what.method, "POST");
    EXPECT_EQ(seen[0].what.path, "/analytics/link");
    EXPECT_EQ(seen[0].what.query, "x=1");
    EXPECT_EQ(seen[0].what.body, "a body");
    EXPECT_EQ(seen[0].what.content_type, "text/plain");
    EXPECT_EQ(code_of(scene.client->http(service_type::key_value, http_method::get, "/", {},
                                         use_awaitable)),
              errc::invalid_argument);
    EXPECT_EQ(
        code_of(scene.client->http(service_type::query, http_method::get, "x", {}, use_awaitable)),
        errc::invalid_argument);
}

// ---- Search and views ----

TEST_F(couchbase_administration, hits_of_a_search_are_rows)
{
    scene.answer("fts", reply_of(200, R"({"status":{"total":2,"failed":1,"successful":1,
        "errors":{"p1":"gone"}},"request":{"size":10},"hits":[{"index":"i_1","id":"a","score":1.5,
        "fields":{"name":"KLM"},"sort":["_score"]},{"id":"b"}],"total_hits":17,"max_score":1.5,
        "took":1000000,"facets":{"f":{"total":2}}})"));
    auto rows = (*scene.client)["travel"]["inventory"].search("i", R"({"query":{"match":"KLM"}})",
                                                              {.limit = 5, .explain = true});
    const auto got = scene.run(rows.all(use_awaitable));
    ASSERT_TRUE(got->good()) << got->explain();
    ASSERT_EQ((*got->outcome)->size(), 2u);
    const couchbase::search_hit& first = (*got->outcome)->front();
    EXPECT_EQ(first.id, "a");
    EXPECT_EQ(first.score, 1.5);
    EXPECT_EQ(first.fields.text(), R"({"name":"KLM"})");
    EXPECT_EQ(rows.metadata().total_hits, 17u);
    EXPECT_EQ(rows.metadata().failed_partitions, 1u);
    ASSERT_EQ(rows.metadata().errors.size(), 1u);
    EXPECT_EQ(rows.metadata().facets.text(), R"({"f":{"total":2}})");
    const auto seen = scene.seen("fts");
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].what.path, "/api/bucket/travel/scope/inventory/index/i/query");
    EXPECT_EQ(seen[0].member("size"), "5");
    EXPECT_EQ(seen[0].member("explain"), "true");
    auto of_cluster = scene.client->search("i", R"({"query":{"match_all":{}}})");
    EXPECT_TRUE(scene.run(of_cluster.all(use_awaitable))->good());
    EXPECT_EQ(scene.seen("fts")[1].what.path, "/api/index/i/query");
    auto wrong = scene.client->search("i", "no JSON");
    EXPECT_EQ(scene.run(wrong.all(use_awaitable))->code(), errc::invalid_argument);
}

TEST_F(couchbase_administration, rows_of_a_view_have_id_key_and_value)
{
    scene.answer("capi", reply_of(200, R"({"total_rows":7,"rows":[
        {"id":"a","key":["x",1],"value":null},{"key":null,"value":12}]})"));
    auto rows = (*scene.client)["travel"].view_query("d", "v", {.limit = 2, .start_key = R"("a")"});
    const auto got = scene.run(rows.all(use_awaitable));
    ASSERT_TRUE(got->good()) << got->explain();
    ASSERT_EQ((*got->outcome)->size(), 2u);
    EXPECT_EQ((*got->outcome)->front().id, "a");
    EXPECT_EQ((*got->outcome)->front().key.text(), R"(["x",1])");
    EXPECT_FALSE((*got->outcome)->back().id);
    EXPECT_EQ((*got->outcome)->back().value.text(), "12");
    EXPECT_EQ(rows.metadata().total_rows, 7u);
    const auto seen = scene.seen("capi");
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].what.method, "GET");
    EXPECT_EQ(seen[0].what.path, "/travel/_design/d/_view/v");
    EXPECT_NE(seen[0].what.query.find("limit=2"), std::string::npos);
}

// ---- Ping ----

TEST_F(couchbase_administration, ping_asks_every_service_of_every_node)
{
    for (const char* const service : {"n1ql", "cbas", "fts", "capi"})
        scene.answer(service, reply_of(200, "{}"));
    const auto all = scene.run(scene.client->ping({}, use_awaitable));
    ASSERT_TRUE(all->good()) << all->explain();
    const couchbase::ping_report& report = **all->outcome;
    EXPECT_TRUE(report.all_answered()) << report.to_json();
    for (const auto service : {service_type::query, service_type::analytics, service_type::search,
                               service_type::views, service_type::management})
        EXPECT_EQ(report.of(service).size(), 2u) << report.to_json();
    EXPECT_NE(report.to_json().find("\"n1ql\":[{"), std::string::npos) << report.to_json();

    scene.answer("fts", reply_of(500, ""));
    const service_type wanted[] = {service_type::search, service_type::query};
    const auto some = scene.run(scene.client->ping({.services = wanted}, use_awaitable));
    ASSERT_TRUE(some->good()) << some->explain();
    EXPECT_TRUE((*some->outcome)->key_value.empty());
    EXPECT_EQ((*some->outcome)->query.size(), 2u);
    ASSERT_EQ((*some->outcome)->search.size(), 2u);
    EXPECT_FALSE((*some->outcome)->all_answered());
    EXPECT_NE((*some->outcome)->search[0].error.find("500"), std::string::npos);
    scene.cluster->freeze(1, true);
    const auto late = scene.run(
        scene.client->ping({.timeout = 300ms, .services = wanted}, use_awaitable));
    ASSERT_TRUE(late->good()) << late->explain();
    EXPECT_EQ(late->took(), 300ms);
    EXPECT_EQ(std::ranges::count_if((*late->outcome)->query,
                                    [](const auto& one) { return one.latency.has_value(); }),
              1);
    EXPECT_FALSE(scene.client->diagnostics().services.empty());
}

}  // namespace
}  // namespace holdfast::couchbase_administration_test
