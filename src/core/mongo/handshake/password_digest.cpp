#include "core/mongo/handshake/password_digest.hpp"

#include "core/bson/hex.hpp"
#include "core/mongo/error/errc.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>

namespace holdfast::core::mongo {

result<secret> mongo_password_digest(std::string_view username, std::string_view password)
{
    constexpr std::size_t md5_size = 16;

    const secret text{username, std::string_view{":mongo:"}, password};
    std::array<unsigned char, md5_size> md5{};
    if (EVP_Digest(text.view().data(), text.view().size(), md5.data(), nullptr, EVP_md5(),
                   nullptr) != 1)
        return error{errc::crypto_unavailable,
                     "OpenSSL refuses to compute MD5; is it in FIPS mode?"};

    std::array<char, 2 * md5_size> hex{};
    bson::encode_hex(md5, hex.data());
    secret made{std::string_view{hex.data(), hex.size()}};
    OPENSSL_cleanse(md5.data(), md5.size());
    OPENSSL_cleanse(hex.data(), hex.size());
    return made;
}

}  // namespace holdfast::core::mongo
