#pragma once
#include "core/mongo/settings/profile.hpp"
#include "holdfast/error.hpp"
#include "holdfast/secret.hpp"

#include <map>
#include <optional>
#include <string>

namespace holdfast::core::mongo {

/// The credential of the application. Nothing in here may ever reach a message, a log or an event.
struct credential {
    std::optional<std::string> username = {};
    std::optional<secret> password = {};
    std::string source = {};                    // the database that knows the user
    std::optional<std::string> mechanism = {};  // none: negotiated with the server
    std::map<std::string, std::string> properties = {};  // names in capitals: "SERVICE_NAME"

    friend bool operator==(const credential&, const credential&) = default;
};

/// Fills in what the specification says about a mechanism whose options were left out: the source,
/// for some the database of the connection string, and the service name of Kerberos.
void fill_defaults(credential& who, const std::optional<std::string>& database);

/// Each mechanism has its own idea of what must, may and must not be given.
result<void> check(const credential& who, const resilience_profile& profile = as_specified);

/// True for the names that the specification knows, spelt exactly; whether this client can speak
/// the mechanism is for core/mongo/handshake to say.
bool is_known_mechanism(std::string_view name) noexcept;

/// "GSSAPI, MONGODB-AWS, ..."
std::string_view known_mechanisms() noexcept;

}  // namespace holdfast::core::mongo
