#include "lab/mongo/command/users.hpp"

#include "lab/mongo/serve/served_node.hpp"
#include "support/canary.hpp"

namespace holdfast::lab::mongo::users_test {
namespace {

class users : public served_node {
protected:
    void SetUp() override
    {
        start();
        client = connect();
    }
    void expect(std::string_view json, int code, std::string_view message = {})
    {
        const auto reply = run(*client, json);
        EXPECT_EQ(code_of(reply), code) << json << '\n' << text_of(reply);
        if (!message.empty()) {
            EXPECT_EQ(message_of(reply), message);
        }
    }
    static constexpr std::string_view create_ada =
        R"({"createUser": "ada", "pwd": "lovelace",
            "roles": ["read", {"role": "root", "db": "admin"}],
            "customData": {"born": 1815}, "$db": "sea"})";
    std::unique_ptr<test_client> client;
};

TEST_F(users, create_users_info_and_drop_user_agree)
{
    expect(create_ada, 0);
    expect(create_ada, 51003, "User \"ada@sea\" already exists");
    const auto info = run(*client, R"({"usersInfo": "ada", "$db": "sea"})");
    const bson::element list = info.find("users");
    ASSERT_EQ(list.type(), bson::type::array);
    const bson::view ada = list.as_array()[0].as_document();
    EXPECT_EQ(ada.get<std::string>("_id").value_or(""), "sea.ada");
    EXPECT_EQ(ada.find("userId").type(), bson::type::binary);
    EXPECT_EQ(bson::to_json(ada.find("roles").as_array()).value(),
              R"([{"role":"read","db":"sea"},{"role":"root","db":"admin"}])");
    EXPECT_EQ(bson::to_json(ada.find("mechanisms").as_array()).value(),
              R"(["SCRAM-SHA-1","SCRAM-SHA-256"])");
    EXPECT_EQ(ada.get<int>("customData.born").value_or(0), 1815);
    EXPECT_FALSE(ada.find("credentials"));
    expect(R"({"dropUser": "ada", "$db": "sea"})", 0);
    expect(R"({"dropUser": "ada", "$db": "sea"})", 11, "User 'ada@sea' not found");
    EXPECT_EQ(text_of(run(*client, R"({"usersInfo": 1, "$db": "sea"})")),
              R"({"users":[],"ok":1.0})");
}

TEST_F(users, passwords_are_not_kept)
{
    expect(R"({"createUser": "ada", "pwd": "lovelace", "roles": [], "$db": "sea"})", 0);
    const auto kept = find_user(*server, "sea", "ada");
    ASSERT_TRUE(kept);
    const std::string text = text_of(*kept);
    EXPECT_EQ(text.find(proof::canary::password), std::string::npos);
    const auto of = [&](bool sha_256) { return keys_of(*kept, sha_256).value(); };
    EXPECT_EQ(of(false).salt.size(), 16U);
    EXPECT_EQ(of(false).iterations, 10'000);
    EXPECT_EQ(of(true).salt.size(), 28U);
    EXPECT_EQ(of(true).iterations, 15'000);
}

TEST_F(users, update_grant_and_revoke_change_a_user)
{
    expect(create_ada, 0);
    const auto before = find_user(*server, "sea", "ada").value();
    expect(R"({"updateUser": "ada", "pwd": "babbage", "$db": "sea"})", 0);
    const auto after = find_user(*server, "sea", "ada").value();
    EXPECT_NE(keys_of(before, true)->stored_key, keys_of(after, true)->stored_key);
    EXPECT_EQ(bson::to_json(after.find("roles").as_array()).value(),
              bson::to_json(before.find("roles").as_array()).value());
    expect(R"({"updateUser": "ada", "roles": ["dbAdmin"], "$db": "sea"})", 0);
    expect(R"({"grantRolesToUser": "ada", "roles": ["read"], "$db": "sea"})", 0);
    expect(R"({"revokeRolesFromUser": "ada", "roles": ["dbAdmin"], "$db": "sea"})", 0);
    const auto last = find_user(*server, "sea", "ada").value();
    EXPECT_EQ(bson::to_json(last.find("roles").as_array()).value(),
              R"([{"role":"read","db":"sea"}])");
    EXPECT_EQ(last.find("userId").as_binary(), before.find("userId").as_binary());
    EXPECT_EQ(keys_of(last, true)->stored_key, keys_of(after, true)->stored_key);
    expect(R"({"updateUser": "bob", "pwd": "babbage", "$db": "sea"})", 11);
    expect(R"({"updateUser": "ada", "$db": "sea"})", 2);
    expect(R"({"dropAllUsersFromDatabase": 1, "$db": "sea"})", 0);
    EXPECT_FALSE(find_user(*server, "sea", "ada"));
}

TEST_F(users, malformed_user_commands_are_refused)
{
    expect(R"({"createUser": 1, "pwd": "lovelace", "roles": [], "$db": "sea"})", 14);
    expect(R"({"createUser": "", "pwd": "lovelace", "roles": [], "$db": "sea"})", 2);
    expect(R"({"createUser": "a", "roles": [], "$db": "sea"})", 2);
    expect(R"({"createUser": "a", "pwd": "", "roles": [], "$db": "sea"})", 2);
    expect(R"({"createUser": "a", "pwd": "lovelace", "$db": "sea"})", 40414);
    expect(R"({"createUser": "a", "pwd": "lovelace", "roles": ["king"], "$db": "sea"})", 31,
           "Could not find role: king@sea");
    expect(R"({"createUser": "a", "pwd": "lovelace", "roles": ["root"], "$db": "sea"})", 31);
    expect(R"({"createUser": "a", "pwd": "lovelace", "roles": [1], "$db": "sea"})", 2);
    expect(R"({"createUser": "a", "pwd": "lovelace", "roles": [], "colour": 1, "$db": "sea"})",
           40415);
    expect(R"({"createUser": "a", "pwd": "lovelace", "roles": [], "mechanisms": ["PLAIN"],
               "$db": "sea"})",
           2);
}

TEST_F(users, users_have_the_requested_mechanisms)
{
    expect(R"({"createUser": "a", "pwd": "lovelace", "roles": [], "mechanisms": ["SCRAM-SHA-1"],
               "$db": "sea"})",
           0);
    const auto hello = run(*client, R"({"hello": 1, "saslSupportedMechs": "sea.a",
        "$db": "admin"})");
    EXPECT_EQ(bson::to_json(hello.find("saslSupportedMechs").as_array()).value(),
              R"(["SCRAM-SHA-1"])");
}

TEST_F(users, first_user_is_created_without_authentication)
{
    port.reset();
    net.run_for(1ms);
    node_options options;
    options.auth = true;
    start(options);
    client = connect();
    expect(R"({"createUser": "a", "pwd": "lovelace", "roles": ["root"], "$db": "admin"})", 0);
    expect(R"({"createUser": "b", "pwd": "lovelace", "roles": ["root"], "$db": "admin"})", 13);
    expect(R"({"usersInfo": 1, "$db": "admin"})", 13);
}

TEST_F(users, create_user_on_a_secondary_is_refused)
{
    auto set = std::make_unique<pretended_set>();
    set->primary = false;
    server->member = std::move(set);
    expect(create_ada, 10107);
}

}  // namespace
}  // namespace holdfast::lab::mongo::users_test
