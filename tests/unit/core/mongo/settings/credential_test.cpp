#include "core/mongo/settings/credential.hpp"

#include "core/mongo/error/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::credential_test {
namespace {

using properties = std::map<std::string, std::string>;

credential with(std::optional<std::string> mechanism, std::optional<std::string> username,
                std::optional<std::string> password, properties extra = {}, std::string source = "")
{
    credential who{std::move(username), std::move(password), std::move(source),
                   std::move(mechanism), std::move(extra)};
    fill_defaults(who, "app");
    return who;
}

TEST(credential, auth_source_defaults_to_the_database_or_mechanism)
{
    struct row {
        std::optional<std::string> mechanism;
        std::string with_database;
        std::string without;
    };
    const row table[] = {
        {std::nullopt, "app", "admin"},
        {"SCRAM-SHA-1", "app", "admin"},
        {"SCRAM-SHA-256", "app", "admin"},
        {"PLAIN", "app", "$external"},
        {"GSSAPI", "$external", "$external"},
        {"MONGODB-X509", "$external", "$external"},
        {"MONGODB-AWS", "$external", "$external"},
        {"MONGODB-OIDC", "$external", "$external"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.mechanism.value_or("negotiated"));
        credential who{.mechanism = r.mechanism};
        fill_defaults(who, "app");
        EXPECT_EQ(who.source, r.with_database);
        who.source.clear();
        fill_defaults(who, std::nullopt);
        EXPECT_EQ(who.source, r.without);
        who.source = "given";
        fill_defaults(who, "app");
        EXPECT_EQ(who.source, "given");
        EXPECT_EQ(who.properties.count("SERVICE_NAME"), r.mechanism == "GSSAPI" ? 1u : 0u);
    }
    credential other{.mechanism = "GSSAPI", .properties = {{"SERVICE_NAME", "other"}}};
    fill_defaults(other, std::nullopt);
    EXPECT_EQ(other.properties.at("SERVICE_NAME"), "other");
}

TEST(credential, each_mechanism_checks_its_fields)
{
    const properties azure{{"ENVIRONMENT", "azure"}, {"TOKEN_RESOURCE", "r"}};
    struct row {
        const char* why;
        credential who;
        std::string_view wrong;  // the option; empty: all is well
    };
    const row table[] = {
        {"the default", with({}, "u", "lovelace"), ""},
        {"no password yet", with({}, "u", {}), ""},
        {"an empty password", with({}, "u", ""), ""},
        {"an empty user", with({}, "", "lovelace"), "authMechanism"},
        {"no user", with({}, {}, "lovelace"), "authMechanism"},
        {"properties of nothing", with({}, "u", "lovelace", {{"A", "b"}}),
         "authMechanismProperties"},
        {"SCRAM", with("SCRAM-SHA-256", "u", "lovelace"), ""},
        {"SCRAM needs a user", with("SCRAM-SHA-256", {}, {}), "authMechanism"},
        {"SCRAM needs a password", with("SCRAM-SHA-1", "u", {}), "authMechanism"},
        {"SCRAM has no properties", with("SCRAM-SHA-1", "u", "lovelace", {{"A", "b"}}),
         "authMechanismProperties"},
        {"PLAIN", with("PLAIN", "u", "lovelace"), ""},
        {"PLAIN needs a password", with("PLAIN", "u", {}), "authMechanism"},
        {"X.509", with("MONGODB-X509", {}, {}), ""},
        {"X.509 with a user", with("MONGODB-X509", "CN=u", {}), ""},
        {"X.509 with an empty user", with("MONGODB-X509", "", {}), "authMechanism"},
        {"X.509 has no password", with("MONGODB-X509", "CN=u", "lovelace"), "authMechanism"},
        {"X.509 has one source", with("MONGODB-X509", {}, {}, {}, "admin"), "authSource"},
        {"Kerberos", with("GSSAPI", "u", {}, {{"CANONICALIZE_HOST_NAME", "forward"}}), ""},
        {"Kerberos, old spelling", with("GSSAPI", "u", {}, {{"CANONICALIZE_HOST_NAME", "true"}}),
         ""},
        {"Kerberos, wrong way", with("GSSAPI", "u", {}, {{"CANONICALIZE_HOST_NAME", "up"}}),
         "authMechanismProperties"},
        {"Kerberos, unknown", with("GSSAPI", "u", {}, {{"SERVICE", "x"}}),
         "authMechanismProperties"},
        {"Kerberos has one source", with("GSSAPI", "u", {}, {}, "app"), "authSource"},
        {"AWS from the environment", with("MONGODB-AWS", {}, {}), ""},
        {"AWS with a key", with("MONGODB-AWS", "u", "lovelace", {{"AWS_SESSION_TOKEN", "t"}}), ""},
        {"AWS without a secret", with("MONGODB-AWS", "u", {}), "authMechanism"},
        {"AWS with a token alone", with("MONGODB-AWS", {}, {}, {{"AWS_SESSION_TOKEN", "t"}}),
         "authMechanismProperties"},
        {"OIDC azure", with("MONGODB-OIDC", "u", {}, azure), ""},
        {"OIDC has no password", with("MONGODB-OIDC", "u", "lovelace", azure), "authMechanism"},
        {"OIDC needs an environment", with("MONGODB-OIDC", {}, {}), "authMechanismProperties"},
        {"OIDC, unknown environment", with("MONGODB-OIDC", {}, {}, {{"ENVIRONMENT", "moon"}}),
         "authMechanismProperties"},
        {"gcp needs a resource", with("MONGODB-OIDC", {}, {}, {{"ENVIRONMENT", "gcp"}}),
         "authMechanismProperties"},
        {"k8s", with("MONGODB-OIDC", {}, {}, {{"ENVIRONMENT", "k8s"}}), ""},
        {"k8s has no resource",
         with("MONGODB-OIDC", {}, {}, {{"ENVIRONMENT", "k8s"}, {"TOKEN_RESOURCE", "r"}}),
         "authMechanismProperties"},
        {"k8s has no user", with("MONGODB-OIDC", "u", {}, {{"ENVIRONMENT", "k8s"}}),
         "authMechanism"},
        {"no such mechanism", with("MONGODB-CR", "u", "lovelace"), "authMechanism"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const auto checked = check(r.who);
        EXPECT_EQ(checked.has_value(), r.wrong.empty());
        if (!checked) {
            EXPECT_EQ(checked.error().code(), errc::invalid_option);
            EXPECT_EQ(checked.error().context("option"), r.wrong) << checked.error().message();
        }
    }
}

TEST(credential, error_names_the_allowed_properties)
{
    const auto checked = check(with("MONGODB-OIDC", {}, {}, {{"UNKNOWN", "x"}}));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().message(),
              "authMechanismProperties (authMechanism MONGODB-OIDC): a property is unknown; "
              "allowed are ENVIRONMENT, TOKEN_RESOURCE");
}

TEST(credential, known_mechanisms_lists_every_mechanism)
{
    std::string_view left = known_mechanisms();
    int count = 0;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find(", "), left.size());
        EXPECT_TRUE(is_known_mechanism(left.substr(0, end))) << left;
        left.remove_prefix(std::min(end + 2, left.size()));
        ++count;
    }
    EXPECT_EQ(count, 7);
    EXPECT_FALSE(is_known_mechanism(""));
    EXPECT_FALSE(is_known_mechanism("scram-sha-1"));
}

TEST(credential, aws_keys_are_refused_under_the_upstream_profile)
{
    credential who{.username = "key", .password = "lovelace"};
    who.mechanism = "MONGODB-AWS";
    fill_defaults(who, std::nullopt);
    EXPECT_TRUE(check(who));
    const auto refused = check(who, upstream_2026_07);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message().find("lovelace"), std::string::npos);
    who.username.reset();
    who.password.reset();
    EXPECT_TRUE(check(who, upstream_2026_07));
}

}  // namespace
}  // namespace holdfast::core::mongo::credential_test
