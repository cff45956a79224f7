#include "lab/mongo/command/scram.hpp"

#include "core/bson/hex.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>

namespace holdfast::lab::mongo {

error authentication_failed()
{
    return refuse(server_code::authentication_failed, "Authentication failed.");
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

std::vector<std::uint8_t> fingerprint(std::string_view text)
{
    std::vector<std::uint8_t> print;
    const std::span octets{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    if (const auto made = core::sasl::hash(scram_hash::sha_256, octets))
        print.assign(made->bytes().begin(), made->bytes().end());
    return print;
}

}  // namespace holdfast::lab::mongo
