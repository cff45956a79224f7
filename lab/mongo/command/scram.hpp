#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/node/login_conversation.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// What a server keeps instead of a password.
struct scram_keys {
    std::int32_t iterations = 0;
    std::vector<std::uint8_t> salt = {};
    std::vector<std::uint8_t> stored_key = {};
    std::vector<std::uint8_t> server_key = {};
};

constexpr std::size_t salt_size(bool sha_256) noexcept
{
    return sha_256 ? 28 : 16;
}

/// Slow on purpose. `password` is the digest below for SHA-1.
result<scram_keys> derive_scram_keys(bool sha_256, std::string_view password,
                                     std::vector<std::uint8_t> salt, std::int32_t iterations);

/// The hexadecimal MD5 of "user:mongo:password".
result<std::string> digest_password(std::string_view user, std::string_view password);

std::string base64_text(std::span<const std::uint8_t> bytes);
std::optional<std::vector<std::uint8_t>> bytes_of_base64(std::string_view text);

/// 32 bytes that cannot be guessed back.
std::vector<std::uint8_t> fingerprint(std::string_view text);

/// The first message of a client: "n,,n=user,r=nonce".
struct client_first {
    std::string header = {};
    std::string user = {};
    std::string nonce = {};
    std::string bare = {};
};
result<client_first> read_client_first(std::string_view text);

/// Gives the server's first message, and keeps what the end needs. `nonce` is printable text.
std::string begin_scram(login_conversation& in, client_first from, const scram_keys& keys,
                        std::string_view nonce);

/// The client's last message in, the server's last one out; or 18 AuthenticationFailed.
result<std::string> end_scram(const login_conversation& in, std::string_view client_final);

/// 18, in the one sentence that does not say what was wrong.
error authentication_failed();

}  // namespace holdfast::lab::mongo
