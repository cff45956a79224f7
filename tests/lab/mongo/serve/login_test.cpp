#include "core/mongo/handshake/password_digest.hpp"
#include "core/sasl/scram.hpp"
#include "lab/mongo/command/users.hpp"
#include "lab/mongo/serve/served_node.hpp"
#include "support/canary.hpp"

namespace holdfast::lab::mongo::login_test {
namespace {

using core::sasl::scram_exchange;
using core::sasl::scram_hash;
namespace canary = proof::canary;

struct login_options {
    bool sha_256 = true;
    std::string user = canary::user;
    std::string password = canary::password;
    std::string database = "admin";
    bool skip_empty = true;
};

bson::binary binary_of(std::string_view text)
{
    bson::binary bytes;
    bytes.bytes = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    return bytes;
}

class login : public served_node {
protected:
    void SetUp() override
    {
        node_options options;
        options.auth = true;
        start(options);
        ASSERT_TRUE(create_root_user(*server, canary::user, canary::password));
    }

    static scram_exchange begin(const login_options& login)
    {
        const auto digest = core::mongo::mongo_password_digest(login.user, login.password).value();
        secret password = login.sha_256 ? secret{{std::string_view{login.password}}} : digest;
        return scram_exchange::start(login.sha_256 ? scram_hash::sha_256 : scram_hash::sha_1,
                                     login.user, std::move(password), "cNonce")
            .value();
    }
    static bson::document start_of(const login_options& login, const scram_exchange& talk)
    {
        const std::string first = talk.first_message();
        return bson::doc("saslStart", 1, "mechanism",
                         login.sha_256 ? "SCRAM-SHA-256" : "SCRAM-SHA-1", "payload",
                         binary_of(first), "options",
                         bson::doc("skipEmptyExchange", login.skip_empty), "$db", login.database);
    }
    static std::string payload_of(const bson::document& reply)
    {
        const bson::element e = reply.find("payload");
        if (e.type() != bson::type::binary)
            return {};
        const auto bytes = e.as_binary().bytes;
        return {bytes.begin(), bytes.end()};
    }

    /// The reply that ended it: the last one, or a refusal.
    bson::document go_on(test_client& by, const login_options& login, scram_exchange& talk,
                         const bson::document& first)
    {
        const auto answer = talk.answer(payload_of(first));
        EXPECT_TRUE(answer) << answer.error().message();
        auto last = run(by,
                        bson::doc("saslContinue", 1, "conversationId", first.find("conversationId"),
                                  "payload", binary_of(*answer), "$db", login.database));
        if (!ok(last))
            return last;
        const auto trusted = talk.check(payload_of(last));
        EXPECT_TRUE(trusted) << trusted.error().message();
        EXPECT_EQ(last.get<bool>("done").value_or(false), login.skip_empty);
        if (!login.skip_empty)
            last = run(by, bson::doc("saslContinue", 1, "conversationId", 1, "payload",
                                     binary_of(""), "$db", login.database));
        return last;
    }
    bson::document log_in(test_client& by, const login_options& login)
    {
        auto talk = begin(login);
        const auto first = run(by, start_of(login, talk));
        if (!ok(first))
            return first;
        return go_on(by, login, talk, first);
    }
};

TEST_F(login, command_without_authentication_is_unauthorized)
{
    auto client = connect();
    const auto refused = run(*client, R"({"read": 1, "$db": "sea"})");
    EXPECT_EQ(code_of(refused), 13);
    EXPECT_EQ(message_of(refused), "Command read requires authentication");
    EXPECT_EQ(refused.get<std::string>("codeName").value_or(""), "Unauthorized");
    EXPECT_TRUE(ok(run(*client, R"({"ping": 1, "$db": "sea"})")));
    EXPECT_TRUE(ok(run(*client, R"({"hello": 1, "$db": "sea"})")));
}

TEST_F(login, works_with_both_mechanisms_and_in_both_lengths)
{
    for (const bool sha_256 : {false, true}) {
        for (const bool skip : {false, true}) {
            auto client = connect();
            login_options login;
            login.sha_256 = sha_256;
            login.skip_empty = skip;
            const auto last = log_in(*client, login);
            EXPECT_TRUE(ok(last)) << text_of(last);
            EXPECT_TRUE(last.get<bool>("done").value_or(false));
            EXPECT_TRUE(ok(run(*client, R"({"read": 1, "$db": "sea"})")));
        }
    }
}

TEST_F(login, fails_in_one_way_only)
{
    for (const bool sha_256 : {false, true}) {
        for (const char* user : {canary::user, "unknown"}) {
            auto client = connect();
            login_options login;
            login.sha_256 = sha_256;
            login.user = user;
            login.password = canary::wrong_password;
            const auto refused = log_in(*client, login);
            EXPECT_EQ(code_of(refused), 18);
            EXPECT_EQ(message_of(refused), "Authentication failed.");
            EXPECT_EQ(code_of(run(*client, R"({"read": 1, "$db": "sea"})")), 13);
        }
    }
}

TEST_F(login, wrong_auth_source_fails)
{
    auto client = connect();
    login_options login;
    login.database = "sea";
    EXPECT_EQ(code_of(log_in(*client, login)), 18);
}

TEST_F(login, unknown_user_is_refused_at_once)
{
    auto client = connect();
    login_options login;
    login.user = "unknown";
    for (const bool sha_256 : {false, true}) {
        login.sha_256 = sha_256;
        EXPECT_EQ(code_of(run(*client, start_of(login, begin(login)))), 18);
    }
    const auto unknown = run(*client, R"({"hello": 1, "saslSupportedMechs": "admin.unknown",
        "$db": "admin"})");
    EXPECT_TRUE(ok(unknown));
    EXPECT_FALSE(unknown.find("saslSupportedMechs"));
}

TEST_F(login, speculative_authenticate_in_the_hello_is_answered)
{
    auto client = connect();
    const login_options login;
    auto talk = begin(login);
    const std::string first = talk.first_message();
    const auto reply = run(
        *client, bson::doc("hello", 1, "saslSupportedMechs", "admin.ada", "speculativeAuthenticate",
                           bson::doc("saslStart", 1, "mechanism", "SCRAM-SHA-256", "payload",
                                     binary_of(first), "db", "admin", "options",
                                     bson::doc("skipEmptyExchange", true)),
                           "$db", "admin"));
    EXPECT_EQ(bson::to_json(reply.find("saslSupportedMechs").as_array()).value(),
              R"(["SCRAM-SHA-1","SCRAM-SHA-256"])");
    const bson::element begun = reply.find("speculativeAuthenticate");
    ASSERT_EQ(begun.type(), bson::type::document) << text_of(reply);
    const auto last = go_on(*client, login, talk, bson::document{begun.as_document()});
    EXPECT_TRUE(ok(last)) << text_of(last);
    EXPECT_TRUE(ok(run(*client, R"({"read": 1, "$db": "sea"})")));
}

TEST_F(login, hello_with_failed_speculative_authenticate_succeeds)
{
    auto client = connect();
    const auto reply = run(*client, R"({"hello": 1, "speculativeAuthenticate":
        {"saslStart": 1, "mechanism": "PLAIN", "payload": "", "db": "admin"}, "$db": "admin"})");
    EXPECT_TRUE(ok(reply));
    EXPECT_FALSE(reply.find("speculativeAuthenticate"));
}

TEST_F(login, messages_out_of_order_are_refused)
{
    auto client = connect();
    EXPECT_EQ(code_of(run(*client, R"({"saslContinue": 1, "conversationId": 1, "payload": "",
        "$db": "admin"})")),
              17);
    const login_options login;
    EXPECT_TRUE(ok(run(*client, start_of(login, begin(login)))));
    EXPECT_EQ(code_of(run(*client, R"({"saslContinue": 1, "conversationId": 2, "payload": "",
        "$db": "admin"})")),
              17);
    EXPECT_EQ(code_of(run(*client, R"({"saslStart": 1, "mechanism": "GSSAPI", "payload": "",
        "$db": "admin"})")),
              334);
    EXPECT_EQ(code_of(run(*client, R"({"authenticate": 1, "mechanism": "MONGODB-X509",
        "$db": "$external"})")),
              334);
}

TEST_F(login, hostile_payloads_are_refused)
{
    for (const char* text :
         {"", "n", "n,", "n,,", "p=tls,,n=a,r=b", "n,,n=a", "n,,r=b", "n,,n==,r=b", "n,,n=a=2,r=b",
          "n,,n=ada,r=", "n,a=x,n", "y,,m=1,n=a,r=b"}) {
        auto client = connect();
        const auto reply = run(*client, bson::doc("saslStart", 1, "mechanism", "SCRAM-SHA-256",
                                                  "payload", binary_of(text), "$db", "admin"));
        EXPECT_EQ(code_of(reply), 18) << text;
    }
    for (const char* text :
         {"", ",p=", "c=biws,r=x,p=AAAA", "c=,r=,p=", "r=x,c=biws,p=====", "c=biws,r=cNonce,p=!"}) {
        auto client = connect();
        const login_options login;
        EXPECT_TRUE(ok(run(*client, start_of(login, begin(login)))));
        const auto reply = run(*client, bson::doc("saslContinue", 1, "conversationId", 1, "payload",
                                                  binary_of(text), "$db", "admin"));
        EXPECT_EQ(code_of(reply), 18) << text;
    }
}

TEST_F(login, logout_ends_the_authentication)
{
    auto client = connect();
    EXPECT_TRUE(ok(log_in(*client, {})));
    const auto status = run(*client, R"({"connectionStatus": 1, "$db": "admin"})");
    EXPECT_EQ(bson::to_json(status.find("authInfo").as_document()).value(),
              R"({"authenticatedUsers":[{"user":"ada","db":"admin"}],)"
              R"("authenticatedUserRoles":[{"role":"root","db":"admin"}]})");
    EXPECT_TRUE(ok(run(*client, R"({"logout": 1, "$db": "admin"})")));
    EXPECT_EQ(code_of(run(*client, R"({"read": 1, "$db": "sea"})")), 13);
}

TEST_F(login, fail_points_reach_it)
{
    ASSERT_TRUE(server->faults.configure(
        bson::from_json(R"({"configureFailPoint": "failCommand", "mode": {"times": 1},
            "data": {"failCommands": ["saslContinue"], "closeConnection": true}})")
            .value()));
    auto client = connect();
    auto talk = begin({});
    const auto first = run(*client, start_of({}, talk));
    ASSERT_TRUE(ok(first));
    send(*client, bson::doc("saslContinue", 1, "conversationId", 1, "payload", binary_of("x"),
                            "$db", "admin"));
    EXPECT_TRUE(receive_bytes(*client).empty());
    auto again = connect();
    EXPECT_TRUE(ok(log_in(*again, {})));
}

TEST_F(login, member_without_the_cluster_key_is_not_trusted)
{
    node_options options;
    options.auth = true;
    options.cluster_key = "of the sea";
    port.reset();
    net.run_for(1ms);
    start(options);
    for (const char* key : {"wrong", "", "of the sea"}) {
        auto client = connect();
        EXPECT_TRUE(ok(
            run(*client, bson::doc("hello", 1, "internalClient",
                                   bson::doc("maxWireVersion", 27, "key", key), "$db", "admin"))));
        const bool trusted = options.cluster_key == key;
        EXPECT_EQ(ok(run(*client, R"({"read": 1, "$db": "sea"})")), trusted) << key;
    }
}

}  // namespace
}  // namespace holdfast::lab::mongo::login_test
