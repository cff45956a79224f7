#include "core/mongo/uri/uri.hpp"

#include <gtest/gtest.h>

#include <array>

namespace holdfast::core::mongo::secrets_test {
namespace {

/// Everything that a person could get to read.
std::string all_that_is_said(std::string_view text)
{
    const auto parsed = parse_uri(text);
    if (!parsed) {
        std::string said = parsed.error().explain();
        for (const context_entry& c : parsed.error().context())
            said += ' ' + c.name + ' ' + c.value;
        return said;
    }
    std::string said;
    for (const std::string& warning : parsed->warnings)
        said += warning + '\n';
    return said;
}

void expect_no_secret(const std::string& text)
{
    constexpr std::array<std::string_view, 4> secrets{"lovelace", "ZK8", "babbage", "alice"};
    const std::string said = all_that_is_said(text);
    for (const std::string_view secret : secrets)
        EXPECT_EQ(said.find(secret), std::string::npos) << text << " gives " << said;
}

/// A password with any two characters in it that should have been encoded, each of which may end
/// what the parser takes for the user, the hosts, the database or an option.
TEST(secrets, badly_encoded_password_is_not_in_the_error)
{
    for (const char one : std::string_view{"@:/?#[]&=%,;+ $\"\\<>^`{|}~\x01\x7f\xff"})
        for (const char two : std::string_view{"@:/?#[]&=%,;+ $\"\\<>^`{|}~\x01\x7f\xff"})
            for (const std::string_view start : {"lovelace", "77"})
                for (const std::string_view scheme : {"mongodb://", "mongodb+srv://"}) {
                    const std::string password = std::string{start} + one + "ZK8" + two + "babbage";
                    const std::string user = std::string{scheme} + "alice:" + password;
                    expect_no_secret(user + "@host.example.com/db?replicaSet=rs&w=-1");
                    expect_no_secret(user + "@host.example.com/?oops=1&maxPoolSize=x");
                    expect_no_secret(user + "@host.example.com:1:2");
                    // Without any '@' the other one is a host, a port and an unknown option.
                    if (start == "lovelace")
                        expect_no_secret(user);
                }
}

TEST(secrets, values_of_options_are_not_in_warnings_or_errors)
{
    constexpr std::string_view start = "mongodb://alice:lovelace@host/?";
    for (const std::string_view options : {
             "authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:lovelace,ZK8",
             "authMechanism=MONGODB-AWS&authMechanismProperties=lovelace:ZK8",
             "authMechanism=PLAIN&authMechanismProperties=lovelace:ZK8",
             "authMechanism=lovelace",
             "authMechanism=GSSAPI&authSource=lovelace",
             "authMechanismProperties=lovelace",
             "authMechanismProperties=%lovelace",
             "proxyPassword=lovelace",
             "proxyHost=h&proxyPassword=lovelace",
             "proxyHost=h&proxyPassword=lovelace&proxyPassword=ZK8",
             "tlsCertificateKeyFilePassword=lovelace%",
             "tlsCertificateKeyFilePassword=lovelace&tlsCertificateKeyFilePassword=ZK8",
             "tls=lovelace",
             "maxPoolSize=lovelace",
             "w=-1&appName=lovelace",
             "compressors=lovelace",
             "readPreference=lovelace&readPreferenceTags=ZK8",
             "srvServiceName=lovelace",
             "unknown=lovelace",
             "replicaSet=lovelace&loadBalanced=true",
         })
        expect_no_secret(std::string{start} + std::string{options});
}

TEST(uri_secrets, password_read_as_an_unknown_option_is_not_shown)
{
    const auto hidden = parse_uri("mongodb://alice:12?lovelace=5@host");
    ASSERT_TRUE(hidden);
    ASSERT_EQ(hidden->warnings.size(), 1u);
    EXPECT_TRUE(
        hidden->warnings[0].starts_with("option number 1 is unknown and ignored; it is not "
                                        "shown"))
        << hidden->warnings[0];
    const auto shown = parse_uri("mongodb://alice:lovelace@host/?a=1&app\"\x01=2");
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->warnings,
              (std::vector<std::string>{"option \"a\" is unknown and ignored",
                                        "option \"app??\" is unknown and ignored"}));
    const auto cut = parse_uri("mongodb://host/?" + std::string(100, 'n') + "=1");
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->warnings.front(),
              "option \"" + std::string(64, 'n') + "...\" is unknown and ignored");
}

}  // namespace
}  // namespace holdfast::core::mongo::secrets_test
