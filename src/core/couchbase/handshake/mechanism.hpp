#pragma once
#include "core/sasl/crypto.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::core::couchbase {

/// Strongest first among those that keep the password to themselves.
enum class sasl_mechanism : std::uint8_t {
    scram_sha512,
    scram_sha256,
    scram_sha1,
    plain,        // sends the password: inside TLS only
    oauthbearer,  // sends a token: inside TLS only
};

/// The name on the wire, which has one hyphen: "SCRAM-SHA512".
std::string_view name_of(sasl_mechanism which) noexcept;

/// The hash of a SCRAM mechanism; nothing for the others.
std::optional<sasl::scram_hash> hash_of(sasl_mechanism which) noexcept;

constexpr bool needs_tls(sasl_mechanism which) noexcept
{
    return which == sasl_mechanism::plain || which == sasl_mechanism::oauthbearer;
}

/// Whether a mechanism is in a server's list, which is names between spaces.
bool offers(std::string_view list, sasl_mechanism which) noexcept;

/// The first of ours that the list has; nothing if there is none.
std::optional<sasl_mechanism> choose_mechanism(std::span<const sasl_mechanism> ours,
                                               std::string_view list) noexcept;

}  // namespace holdfast::core::couchbase
