#include "core/couchbase/admin/users.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace holdfast::core::couchbase::admin_users_test {
namespace {

using holdfast::couchbase::errc;
using holdfast::couchbase::http_method;
using holdfast::couchbase::role;

TEST(couchbase_user_admin, a_user_is_sent_with_roles_and_groups)
{
    const role roles[] = {{"ro_admin"},
                          {"data_reader", "travel", "inventory", "airline"},
                          {"query_select", "*"},
                          {"data_writer", "travel", "", "ignored"}};
    const std::string_view groups[] = {"a", "b"};
    const auto order = upsert_user(
        "ada l",
        {.password = "lovelace&", .display_name = "Ada", .roles = roles, .groups = groups});
    ASSERT_TRUE(order);
    EXPECT_EQ(order->request.method, http_method::put);
    EXPECT_EQ(order->request.path, "/settings/rbac/users/local/ada%20l");
    EXPECT_EQ(order->request.body,
              "name=Ada&password=lovelace%26&roles=ro_admin%2Cdata_reader%5Btravel%3Ainventory%3A"
              "airline%5D%2Cquery_select%5B%2A%5D%2Cdata_writer%5Btravel%5D&groups=a%2Cb");
    EXPECT_FALSE(order->request.idempotent);
    EXPECT_EQ(upsert_user("ada", {})->request.body, "name=&roles=");
}

TEST(couchbase_user_admin, names_and_passwords_are_needed)
{
    EXPECT_FALSE(upsert_user("", {}));
    EXPECT_FALSE(drop_user(""));
    EXPECT_FALSE(get_user(""));
    EXPECT_FALSE(change_password(""));
    EXPECT_EQ(change_password("x y")->request.body, "password=x%20y");
}

TEST(couchbase_user_admin, statuses_become_errors)
{
    const auto refused = drop_user("a")->refused;
    EXPECT_EQ(refused(404, "User was not found.").code, errc::user_not_found);
    EXPECT_EQ(refused(400, "{}").code, errc::invalid_argument);
    EXPECT_EQ(refused(403, "").code, errc::authentication_failure);
}

TEST(couchbase_user_admin, users_are_read_with_the_origins_of_their_roles)
{
    const auto user = get_user("ada")->read(
        R"({"id":"ada","domain":"local","name":"Ada","password_change_date":"2026-01-01",
            "groups":["g"],"roles":[
            {"role":"admin","origins":[{"type":"user"},{"type":"group","name":"g"}]},
            {"role":"data_reader","bucket_name":"b","scope_name":"s","collection_name":"c",
             "origins":[{"type":"group","name":"g"}]},
            {"role":"ro_admin"}]})");
    ASSERT_TRUE(user) << user.error().explain();
    EXPECT_EQ(user->name, "ada");
    EXPECT_EQ(user->display_name, "Ada");
    EXPECT_EQ(user->password_changed, "2026-01-01");
    EXPECT_EQ(user->groups, std::vector<std::string>{"g"});
    ASSERT_EQ(user->roles.size(), 3u);
    EXPECT_TRUE(user->roles[0].from_user);
    EXPECT_EQ(user->roles[0].from_groups, std::vector<std::string>{"g"});
    EXPECT_FALSE(user->roles[1].from_user);
    EXPECT_EQ(user->roles[1].collection, "c");
    EXPECT_TRUE(user->roles[2].from_user);
    for (const char* const body : {"", "[]", "{}", R"({"id":""})"})
        EXPECT_FALSE(get_user("a")->read(body)) << body;
}

TEST(couchbase_user_admin, lists_of_users_and_roles_are_read)
{
    const auto users = get_all_users();
    EXPECT_EQ(users.read(R"([{"id":"a"},{"id":"b"}])")->size(), 2u);
    EXPECT_FALSE(users.read("{}"));
    EXPECT_FALSE(users.read("[{}]"));
    const auto roles = get_roles().read(
        R"([{"role":"admin","name":"Full Admin","desc":"All."},
            {"role":"bucket_admin","bucket_name":"*","name":"n","desc":"d"}])");
    ASSERT_TRUE(roles);
    EXPECT_EQ(roles->at(0).description, "All.");
    EXPECT_EQ(roles->at(1).bucket, "*");
    EXPECT_FALSE(get_roles().read("7"));
}

}  // namespace
}  // namespace holdfast::core::couchbase::admin_users_test
