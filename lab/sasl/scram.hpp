#pragma once
#include "core/sasl/crypto.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The server's side of SCRAM (RFC 5802), without channel binding. Who has proven what, and how a
/// refusal is sent, is each protocol's own part.
namespace holdfast::lab {

using core::sasl::scram_hash;

std::string base64_text(std::span<const std::uint8_t> bytes);
std::optional<std::vector<std::uint8_t>> bytes_of_base64(std::string_view text);

/// What a server keeps instead of a password.
struct scram_keys {
    std::int32_t iterations = 0;
    std::vector<std::uint8_t> salt = {};
    std::vector<std::uint8_t> stored_key = {};
    std::vector<std::uint8_t> server_key = {};
};

/// Slow on purpose.
result<scram_keys> derive_scram_keys(scram_hash with, std::string_view password,
                                     std::vector<std::uint8_t> salt, std::int32_t iterations);

/// The first message of a client: "n,,n=user,r=nonce". The nonce may have spaces in it.
struct client_first {
    std::string header = {};
    std::string user = {};
    std::string nonce = {};
    std::string bare = {};
};
std::optional<client_first> read_client_first(std::string_view text);

/// An exchange between two messages of the client. Only data.
struct scram_conversation {
    scram_hash hash = scram_hash::sha_256;
    std::string user = {};
    std::string header = {};  // "n,,", as the client sent it
    std::string first_bare = {};
    std::string server_first = {};
    std::string nonce = {};  // of both
    std::vector<std::uint8_t> stored_key = {};
    std::vector<std::uint8_t> server_key = {};
};

/// Gives the server's first message, and keeps what the end needs. `nonce` is printable text.
std::string begin_scram(scram_conversation& in, client_first from, const scram_keys& keys,
                        std::string_view nonce);

/// The client's last message in, the server's last one out; nothing if the proof is wrong.
std::optional<std::string> end_scram(const scram_conversation& in, std::string_view client_final);

}  // namespace holdfast::lab
