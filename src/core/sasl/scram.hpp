#pragma once
#include "core/sasl/crypto.hpp"
#include "holdfast/error.hpp"
#include "holdfast/secret.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::sasl {

/// RFC 7677's minimum, below which a rogue server could guess passwords offline; the maximum bounds
/// the CPU time that a hostile server can demand, and may be chosen.
inline constexpr std::int32_t min_scram_iterations = 4'096;
inline constexpr std::int32_t default_max_scram_iterations = 600'000;
/// As many are computed at a time: less than a millisecond's work on a slow machine.
inline constexpr std::int32_t scram_slice = 512;

/// Keys that are slow to compute and the same at every login of a user. The caller may keep them,
/// under the password, and pass them to the next exchange; they are as secret as the password.
struct scram_keys {
    scram_hash hash = scram_hash::sha_256;
    std::vector<std::uint8_t> salt = {};
    std::int32_t iterations = 0;
    digest client_key = {};
    digest server_key = {};
};

/// The client's side of RFC 5802 without channel binding: four messages as text. No user name or
/// password is changed here but for escaping; preparing them (SASLprep) is the protocol's part.
class scram_exchange {
public:
    /// `nonce` is random printable text without a comma; to_base64() makes such.
    /// `known` are keys of this password from earlier exchanges.
    static result<scram_exchange> start(scram_hash hash, std::string_view username, secret password,
                                        std::string_view nonce, std::vector<scram_keys> known = {},
                                        std::int32_t max_iterations = default_max_scram_iterations);

    std::string first_message() const { return "n,," + first_bare_; }

    /// Takes the server's first message and wipes the password. Then compute_slice() is called
    /// until has_keys(), with other work in between: the keys may take a second.
    result<void> receive(std::string_view server_first);
    bool has_keys() const noexcept { return !salting_; }
    result<void> compute_slice(std::int32_t iterations = scram_slice);

    /// The client's final message.
    result<std::string> final_message() const;

    /// All of these at once, for callers that may block.
    result<std::string> answer(std::string_view server_first);

    /// Checks the server's signature: proof that the server knows the password, too.
    result<void> check(std::string_view server_final) const;

    /// Once has_keys().
    const scram_keys& keys() const noexcept { return keys_; }

private:
    scram_exchange() = default;

    std::string nonce_;
    std::string first_bare_;
    std::string final_without_proof_;
    std::string signed_text_;  // RFC 5802: AuthMessage
    secret password_;
    std::vector<scram_keys> known_;
    std::int32_t max_iterations_ = default_max_scram_iterations;
    std::optional<password_salting> salting_;  // as long as there is something to compute
    scram_keys keys_;
};

}  // namespace holdfast::core::sasl
