#include "core/mongo/settings/credential.hpp"

#include "core/mongo/error/errc.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace holdfast::core::mongo {

namespace {

enum class need : std::uint8_t { required, optional, forbidden };

/// What one mechanism asks for. `source` empty: any, and by default the database of the connection
/// string; `otherwise` is for when there is none.
struct mechanism_rules {
    std::string_view name;
    need username;
    need password;
    std::string_view source;
    std::string_view otherwise;
    std::string_view properties;  // separated by spaces
};

constexpr std::string_view external = "$external";

constexpr std::array<mechanism_rules, 7> rules{{
    {"GSSAPI", need::required, need::optional, external, external,
     "SERVICE_NAME SERVICE_REALM SERVICE_HOST CANONICALIZE_HOST_NAME"},
    {"MONGODB-AWS", need::optional, need::optional, external, external, "AWS_SESSION_TOKEN"},
    {"MONGODB-OIDC", need::optional, need::forbidden, external, external,
     "ENVIRONMENT TOKEN_RESOURCE"},
    {"MONGODB-X509", need::optional, need::forbidden, external, external, ""},
    {"PLAIN", need::required, need::required, "", external, ""},
    {"SCRAM-SHA-1", need::required, need::required, "", "admin", ""},
    {"SCRAM-SHA-256", need::required, need::required, "", "admin", ""},
}};

/// A user without a mechanism. The password may be missing until it is asked for, since servers
/// without access control never ask.
constexpr mechanism_rules negotiated{"", need::required, need::optional, "", "admin", ""};

const mechanism_rules& rules_of(const credential& who) noexcept
{
    const auto found = std::ranges::find(rules, who.mechanism.value_or(""), &mechanism_rules::name);
    return found == rules.end() ? negotiated : *found;
}

error refuse(const mechanism_rules& by, std::string_view option, const std::string& why)
{
    const std::string where = by.name.empty() ? std::string{}
                                              : " (authMechanism " + std::string{by.name} + ")";
    return error{errc::invalid_option, std::string{option} + where + ": " + why}.with_context(
        "option", std::string{option});
}

bool is_one_of(std::string_view item, std::string_view items) noexcept
{
    while (!items.empty()) {
        const std::size_t end = std::min(items.find(' '), items.size());
        if (items.substr(0, end) == item)
            return true;
        items.remove_prefix(std::min(end + 1, items.size()));
    }
    return false;
}

std::string listed(std::string_view items)
{
    std::string text{items};
    for (std::size_t at = 0; (at = text.find(' ', at)) != text.npos; at += 2)
        text.replace(at, 1, ", ");
    return text;
}

const std::string* property(const credential& who, const std::string& name)
{
    const auto found = who.properties.find(name);
    return found == who.properties.end() ? nullptr : &found->second;
}

result<void> check_names(const credential& who, const mechanism_rules& by)
{
    for (const auto& [name, value] : who.properties)
        if (!is_one_of(name, by.properties))
            return refuse(by, "authMechanismProperties",
                          by.properties.empty()
                              ? "this mechanism has no properties"
                              : "a property is unknown; allowed are " + listed(by.properties));
    return {};
}

result<void> check_kerberos(const credential& who, const mechanism_rules& by)
{
    constexpr std::string_view ways = "none forward forwardAndReverse true false";
    const std::string* way = property(who, "CANONICALIZE_HOST_NAME");
    if (way && !is_one_of(*way, ways))
        return refuse(by, "authMechanismProperties",
                      "CANONICALIZE_HOST_NAME is one of none, forward, forwardAndReverse");
    return {};
}

result<void> check_aws(const credential& who, const mechanism_rules& by,
                       const resilience_profile& profile)
{
    if (profile.refuses_aws_keys && who.username)
        return refuse(by, "authMechanism",
                      "keys come from the environment, not from the connection string");
    if (who.username.has_value() != who.password.has_value())
        return refuse(by, "authMechanism",
                      "an access key and its secret are given both, as user name and password, or "
                      "neither");
    if (property(who, "AWS_SESSION_TOKEN") && !who.username)
        return refuse(by, "authMechanismProperties",
                      "AWS_SESSION_TOKEN comes with an access key and its secret");
    return {};
}

result<void> check_oidc(const credential& who, const mechanism_rules& by)
{
    constexpr std::string_view name = "authMechanismProperties";
    const std::string* environment = property(who, "ENVIRONMENT");
    if (!environment || !is_one_of(*environment, "test azure gcp k8s"))
        return refuse(by, name, "ENVIRONMENT is one of azure, gcp, k8s");
    const bool has_resource = property(who, "TOKEN_RESOURCE") != nullptr;
    const bool wants_resource = *environment == "azure" || *environment == "gcp";
    if (wants_resource && !has_resource)
        return refuse(by, name, "TOKEN_RESOURCE is missing; ENVIRONMENT azure and gcp need it");
    if (!wants_resource && has_resource)
        return refuse(by, name, "TOKEN_RESOURCE goes with ENVIRONMENT azure or gcp only");
    if (who.username && *environment != "azure")
        return refuse(by, "authMechanism", "a user name goes with ENVIRONMENT azure only");
    return {};
}

}  // namespace

void fill_defaults(credential& who, const std::optional<std::string>& database)
{
    const mechanism_rules& by = rules_of(who);
    if (who.source.empty())
        who.source = by.source.empty() && database ? *database : std::string{by.otherwise};
    if (by.name == "GSSAPI")
        who.properties.try_emplace("SERVICE_NAME", "mongodb");
}

result<void> check(const credential& who, const resilience_profile& profile)
{
    if (who.mechanism && !is_known_mechanism(*who.mechanism))
        return refuse(negotiated, "authMechanism",
                      "one of " + std::string{known_mechanisms()} + " is expected");
    const mechanism_rules& by = rules_of(who);
    if (by.username == need::required && who.username.value_or("").empty())
        return refuse(by, "authMechanism", "a user name is missing");
    if (who.username && who.username->empty())
        return refuse(by, "authMechanism", "the user name is empty");
    if (by.password == need::required && !who.password)
        return refuse(by, "authMechanism", "a password is missing");
    if (by.password == need::forbidden && who.password)
        return refuse(by, "authMechanism", "this mechanism takes no password");
    if (who.source.empty() || (!by.source.empty() && who.source != by.source))
        return refuse(by, "authSource",
                      by.source.empty() ? "the name of a database is expected"
                                        : "only " + std::string{by.source} + " is allowed");
    if (auto named = check_names(who, by); !named)
        return named;
    if (by.name == "GSSAPI")
        return check_kerberos(who, by);
    if (by.name == "MONGODB-AWS")
        return check_aws(who, by, profile);
    if (by.name == "MONGODB-OIDC")
        return check_oidc(who, by);
    return {};
}

bool is_known_mechanism(std::string_view name) noexcept
{
    return std::ranges::find(rules, name, &mechanism_rules::name) != rules.end();
}

std::string_view known_mechanisms() noexcept
{
    return "GSSAPI, MONGODB-AWS, MONGODB-OIDC, MONGODB-X509, PLAIN, SCRAM-SHA-1, SCRAM-SHA-256";
}

}  // namespace holdfast::core::mongo
