#include "lab/mongo/command/scram.hpp"

#include "core/bson/base64.hpp"
#include "core/bson/hex.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <optional>

namespace holdfast::lab::mongo {

namespace {

using octets = std::vector<std::uint8_t>;

const EVP_MD* algorithm(bool sha_256)
{
    return sha_256 ? EVP_sha256() : EVP_sha1();
}

std::size_t size_of(bool sha_256)
{
    return sha_256 ? 32 : 20;
}

octets hash(bool sha_256, std::span<const std::uint8_t> bytes)
{
    octets out(size_of(sha_256));
    if (EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, algorithm(sha_256), nullptr) !=
        1)
        out.clear();
    return out;
}

octets hmac(bool sha_256, std::span<const std::uint8_t> key, std::string_view text)
{
    octets out(size_of(sha_256));
    std::size_t size = 0;
    if (EVP_Q_mac(nullptr, "HMAC", nullptr, sha_256 ? "SHA256" : "SHA1", nullptr, key.data(),
                  key.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                  out.data(), out.size(), &size) == nullptr)
        out.clear();
    return out;
}

/// "name=value" up to the next comma; what follows is left in `text`.
std::optional<std::string_view> attribute(std::string_view& text, char name)
{
    if (text.size() < 2 || text[0] != name || text[1] != '=')
        return std::nullopt;
    const std::size_t comma = text.find(',');
    const std::string_view value = text.substr(2, comma == text.npos ? comma : comma - 2);
    text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);
    return value;
}

/// "=2C" is a comma and "=3D" an equals sign; nothing else may follow one.
std::optional<std::string> unescaped(std::string_view name)
{
    std::string plain;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] != '=') {
            plain += name[at];
            continue;
        }
        const std::string_view code = name.substr(at + 1, 2);
        if (code != "2C" && code != "3D")
            return std::nullopt;
        plain += code == "2C" ? ',' : '=';
        at += 2;
    }
    return plain;
}

}  // namespace

std::string base64_text(std::span<const std::uint8_t> bytes)
{
    std::string text(bson::base64_size(bytes.size()), '\0');
    bson::encode_base64(bytes, text.data());
    return text;
}

std::optional<octets> bytes_of_base64(std::string_view text)
{
    octets bytes(bson::max_decoded_base64(text.size()) + 3);
    const auto size = bson::decode_base64(text, bytes.data());
    if (!size)
        return std::nullopt;
    bytes.resize(*size);
    return bytes;
}

error authentication_failed()
{
    return refuse(server_code::authentication_failed, "Authentication failed.");
}

result<scram_keys> derive_scram_keys(bool sha_256, std::string_view password, octets salt,
                                     std::int32_t iterations)
{
    octets salted(size_of(sha_256));
    if (PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), salt.data(),
                          static_cast<int>(salt.size()), iterations, algorithm(sha_256),
                          static_cast<int>(salted.size()), salted.data()) != 1)
        return refuse(server_code::internal_error, "no keys can be made of this password");
    octets client_key = hmac(sha_256, salted, "Client Key");
    scram_keys made;
    made.iterations = iterations;
    made.salt = std::move(salt);
    made.stored_key = hash(sha_256, client_key);
    made.server_key = hmac(sha_256, salted, "Server Key");
    OPENSSL_cleanse(salted.data(), salted.size());
    OPENSSL_cleanse(client_key.data(), client_key.size());
    if (made.stored_key.empty() || made.server_key.empty())
        return refuse(server_code::internal_error, "no keys can be made of this password");
    return made;
}

result<std::string> digest_password(std::string_view user, std::string_view password)
{
    std::string text{user};
    text.append(":mongo:").append(password);
    std::array<unsigned char, 16> md5{};
    const int done = EVP_Digest(text.data(), text.size(), md5.data(), nullptr, EVP_md5(), nullptr);
    OPENSSL_cleanse(text.data(), text.size());
    if (done != 1)
        return refuse(server_code::internal_error, "there is no MD5 here; use SCRAM-SHA-256");
    std::string hex(2 * md5.size(), '\0');
    bson::encode_hex(md5, hex.data());
    return hex;
}

octets fingerprint(std::string_view text)
{
    return hash(true, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

result<client_first> read_client_first(std::string_view text)
{
    // Channel binding is not offered ("p="); who thinks that we might ("y") is right to go on.
    if (text.size() < 3 || (text[0] != 'n' && text[0] != 'y') || text[1] != ',')
        return authentication_failed();
    const std::size_t comma = text.find(',', 2);
    if (comma == text.npos)
        return authentication_failed();
    client_first read;
    read.header = text.substr(0, comma + 1);
    std::string_view rest = text.substr(comma + 1);
    read.bare = rest;
    const auto name = attribute(rest, 'n');
    const auto nonce = attribute(rest, 'r');
    const auto user = name ? unescaped(*name) : std::nullopt;
    if (!user || !nonce || nonce->empty())
        return authentication_failed();
    read.user = *user;
    read.nonce = *nonce;
    return read;
}

std::string begin_scram(login_conversation& in, client_first from, const scram_keys& keys,
                        std::string_view nonce)
{
    in.user = std::move(from.user);
    in.header = std::move(from.header);
    in.first_bare = std::move(from.bare);
    in.nonce = std::move(from.nonce);
    in.nonce.append(nonce);
    in.stored_key = keys.stored_key;
    in.server_key = keys.server_key;
    in.server_first = "r=" + in.nonce + ",s=" + base64_text(keys.salt) +
                      ",i=" + std::to_string(keys.iterations);
    return in.server_first;
}

result<std::string> end_scram(const login_conversation& in, std::string_view client_final)
{
    const std::size_t proof_at = client_final.rfind(",p=");
    if (proof_at == client_final.npos)
        return authentication_failed();
    std::string_view rest = client_final;
    const auto binding = attribute(rest, 'c');
    const auto nonce = attribute(rest, 'r');
    const auto header = binding ? bytes_of_base64(*binding) : std::nullopt;
    const auto proof = bytes_of_base64(client_final.substr(proof_at + 3));
    if (!header || !nonce || !proof || *nonce != in.nonce ||
        std::string_view{reinterpret_cast<const char*>(header->data()), header->size()} !=
            in.header)
        return authentication_failed();

    const std::string signed_text = in.first_bare + ',' + in.server_first + ',' +
                                    std::string{client_final.substr(0, proof_at)};
    octets client_key = hmac(in.sha_256, in.stored_key, signed_text);
    if (client_key.empty() || client_key.size() != proof->size())
        return authentication_failed();
    for (std::size_t i = 0; i < client_key.size(); ++i)
        client_key[i] ^= (*proof)[i];
    const octets stored = hash(in.sha_256, client_key);
    const bool same = stored.size() == in.stored_key.size() &&
                      CRYPTO_memcmp(stored.data(), in.stored_key.data(), stored.size()) == 0;
    if (!same || !in.known)
        return authentication_failed();
    return "v=" + base64_text(hmac(in.sha_256, in.server_key, signed_text));
}

}  // namespace holdfast::lab::mongo
