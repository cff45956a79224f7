#include "core/mongo/error/errc.hpp"
#include "core/mongo/handshake/login.hpp"
#include "core/mongo/handshake/password_digest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace holdfast::core::mongo::login_refusal_test {
namespace {

using bson::doc;
using enum login_mechanism;

std::string payload_of(bson::view command)
{
    const auto bytes = command.find("payload").as_binary().bytes;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(login, refusal_has_the_servers_text_and_code_name)
{
    struct row {
        bson::document reply;
        const char* shown;
    };
    const std::string what =
        "the server refused to authenticate the user by PLAIN, authSource "
        "$external";
    const row table[] = {
        {doc("ok", 0, "code", 18, "codeName", "AuthenticationFailed", "errmsg",
             "Authentication failed."),
         ", error code 18 (AuthenticationFailed): Authentication failed."},
        {doc("ok", 0, "code", 987654, "codeName", "NewInVersion99", "errmsg", "locked out"),
         ", error code 987654 (NewInVersion99): locked out"},
        {doc("ok", 0, "errmsg", "no more to say"), ": no more to say"},
        {doc("ok", 0, "code", 987654, "codeName", "not a name", "errmsg", 5),
         ", error code 987654"},
    };
    for (const row& r : table) {
        login_start login = start_login({plain, "ada", "lovelace"}, "").value();
        const auto step = step_login(login.state, r.reply);
        ASSERT_FALSE(step);
        EXPECT_EQ(step.error().message(), what + r.shown);
    }
    login_start login = start_login({plain, "ada", "lovelace"}, "").value();
    const auto step = step_login(login.state, doc("ok", 0, "errmsg", std::string(5000, 'x')));
    EXPECT_LT(step.error().message().size(), 1300U);
}

/// In every way in which a server might quote it, and any part that is worth something.
TEST(login, refusal_that_quotes_the_client_is_redacted)
{
    const std::string tables[] = {
        "not by lovelace",
        "NOT BY LOVELACE!",
        "AGFkYQBsb3ZlbGFjZQ==",              // the payload of PLAIN
        "payload 00616461006C6F76656C616365",
        "bG92ZWxhY2U",                       // the password alone
        "6c6f76656c616365",
        "user Ada is unknown",
        "lovelace-and-a-longer-one",
    };
    for (const std::string& text : tables) {
        login_start login = start_login({plain, "ada", "lovelace"}, "").value();
        const auto step = step_login(
            login.state, doc("ok", 0, "code", 987654, "codeName", "lovelace", "errmsg", text));
        ASSERT_FALSE(step);
        EXPECT_EQ(step.error().message(),
                  "the server refused to authenticate the user by PLAIN, authSource $external, "
                  "error code 987654 (server message redacted)")
            << text;
    }
    login_start login = start_login({plain, "ada", "lovelace with more"}, "").value();
    EXPECT_TRUE(step_login(login.state, doc("ok", 0, "errmsg", "lovelace w... is wrong"))
                    .error()
                    .message()
                    .ends_with("(server message redacted)"))
        << "a part of it";
}

TEST(scram_login, refusal_that_quotes_the_exchange_is_redacted)
{
    // The reply of the authentication specification to "user" with the password "pencil".
    const std::string nonce = "fyko+d2lbbFgONRv9qkxdawL";
    const std::string server_first = "r=" + nonce +
                                     "Ho+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,"
                                     "i=10000";
    const bson::binary as_sent{
        {reinterpret_cast<const std::uint8_t*>(server_first.data()), server_first.size()},
        bson::binary_subtype::generic};
    const auto refuse = [&](std::string (*quote)(std::string_view first, std::string_view last)) {
        login_start login = start_login({scram_sha_1, "user", "pencil"}, nonce).value();
        auto step = step_login(
            login.state, doc("conversationId", 1, "payload", as_sent, "done", false, "ok", 1));
        while (step && std::holds_alternative<compute_keys>(*step))
            step = continue_login(login.state);
        const bson::document last = std::get<send_next>(*step).command;
        const std::string text = quote(payload_of(login.command), payload_of(last));
        return step_login(login.state, doc("ok", 0, "code", 18, "errmsg", text)).error().message();
    };
    using text = std::string_view;
    const std::string redacted[] = {
        refuse([](text first, text) { return std::string{first}; }),
        refuse([](text, text last) { return std::string{last}; }),
        refuse(
            [](text, text last) { return "p " + std::string{last.substr(last.find("p=") + 2)}; }),
        refuse([](text, text last) {
            return sasl::to_base64(
                {reinterpret_cast<const std::uint8_t*>(last.data()), last.size()});
        }),
        refuse([](text, text) { return std::string{"the password pencil"}; }),
        refuse([](text, text) {
            return std::string{mongo_password_digest("user", "pencil").value().view()};
        }),
    };
    for (const std::string& message : redacted)
        EXPECT_TRUE(
            message.ends_with(", error code 18 (AuthenticationFailed) (server message "
                              "redacted)"))
            << message;
    EXPECT_TRUE(refuse([](text, text) {
                    return std::string{"Authentication failed."};
                }).ends_with(": Authentication failed."));
}

}  // namespace
}  // namespace holdfast::core::mongo::login_refusal_test
