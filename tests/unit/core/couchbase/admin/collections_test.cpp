#include "core/couchbase/admin/collections.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::admin_collections_test {
namespace {

using namespace std::chrono_literals;
using holdfast::couchbase::errc;
using holdfast::couchbase::http_method;

TEST(couchbase_collection_admin, requests_name_bucket_scope_and_collection)
{
    const collection_name name{"b", "s", "c%"};
    const auto made = create_collection(name, {.max_expiry = 60s, .history = true});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->request.method, http_method::post);
    EXPECT_EQ(made->request.path, "/pools/default/buckets/b/scopes/s/collections");
    EXPECT_EQ(made->request.body, "maxTTL=60&history=true&name=c%25");
    const auto changed = update_collection(name, {.history = false});
    ASSERT_TRUE(changed);
    EXPECT_EQ(changed->request.method, http_method::patch);
    EXPECT_EQ(changed->request.path, "/pools/default/buckets/b/scopes/s/collections/c%25");
    EXPECT_EQ(changed->request.body, "history=false");
    EXPECT_EQ(drop_collection(name)->request.method, http_method::remove);
    EXPECT_EQ(create_scope({"b", "s", {}})->request.body, "name=s");
    EXPECT_EQ(drop_scope({"b", "s", {}})->request.path, "/pools/default/buckets/b/scopes/s");
    EXPECT_TRUE(get_all_scopes("b")->request.idempotent);
}

TEST(couchbase_collection_admin, names_are_needed)
{
    EXPECT_FALSE(create_scope({"", "s", {}}));
    EXPECT_FALSE(create_scope({"b", "", {}}));
    EXPECT_FALSE(drop_scope({"b", "", {}}));
    EXPECT_FALSE(get_all_scopes(""));
    EXPECT_FALSE(create_collection({"b", "s", ""}, {}));
    EXPECT_FALSE(update_collection({"b", "", "c"}, {}));
    const auto none = drop_collection({"b", "s", ""});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), errc::invalid_argument);
}

TEST(couchbase_collection_admin, statuses_and_texts_become_errors)
{
    const auto refused = drop_scope({"b", "s", {}})->refused;
    struct row {
        int status;
        const char* body;
        errc expected;
    };
    const row table[] = {
        {404, R"(Scope with name "s" is not found)", errc::scope_not_found},
        {404, R"(Collection with name "c" in scope "s" is not found)", errc::collection_not_found},
        {404, "Requested resource not found.", errc::bucket_not_found},
        {400, R"({"errors":{"_":"Scope with name \"s\" already exists"}})", errc::scope_exists},
        {400, R"({"errors":{"_":"Collection with name \"c\" in scope \"s\" already exists"}})",
         errc::collection_exists},
        {400, "Not allowed on this version of cluster", errc::feature_not_available},
        {400, R"({"errors":{"name":"this name is not allowed"}})", errc::invalid_argument},
        {500, "", errc::internal_server_failure},
    };
    for (const row& one : table)
        EXPECT_EQ(refused(one.status, one.body).code, one.expected) << one.status << one.body;
}

TEST(couchbase_collection_admin, scopes_are_read_with_their_collections)
{
    const auto order = get_all_scopes("b");
    const auto scopes = order->read(
        R"({"uid":"2","scopes":[{"name":"_default","uid":"0","collections":[]},
            {"name":"s","uid":"8","collections":[{"name":"c","uid":"9","maxTTL":60,
             "history":true},{"name":"d","uid":"a"}]}]})");
    ASSERT_TRUE(scopes) << scopes.error().explain();
    ASSERT_EQ(scopes->size(), 2u);
    EXPECT_EQ((*scopes)[1].name, "s");
    ASSERT_EQ((*scopes)[1].collections.size(), 2u);
    const auto& collection = (*scopes)[1].collections[0];
    EXPECT_EQ(collection.name, "c");
    EXPECT_EQ(collection.scope, "s");
    EXPECT_EQ(collection.max_expiry, 60s);
    EXPECT_TRUE(collection.history);
    EXPECT_EQ((*scopes)[1].collections[1].max_expiry, 0s);
    for (const char* const body : {"", "[]", "{}", R"({"scopes":[{}]})", R"({"scopes":[7]})"})
        EXPECT_FALSE(order->read(body)) << body;
}

}  // namespace
}  // namespace holdfast::core::couchbase::admin_collections_test
