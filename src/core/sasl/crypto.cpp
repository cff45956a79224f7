#include "core/sasl/crypto.hpp"

#include "core/bson/base64.hpp"
#include "core/sasl/errc.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace holdfast::core::sasl {

namespace {

const EVP_MD* algorithm(scram_hash which)
{
    switch (which) {
    case scram_hash::sha_1:
        return EVP_sha1();
    case scram_hash::sha_256:
        return EVP_sha256();
    case scram_hash::sha_512:
        return EVP_sha512();
    }
    return nullptr;
}

const char* name_of(scram_hash which)
{
    switch (which) {
    case scram_hash::sha_1:
        return "SHA1";
    case scram_hash::sha_256:
        return "SHA256";
    case scram_hash::sha_512:
        return "SHA512";
    }
    return "unknown";
}

const unsigned char* unsigned_chars(std::string_view text)
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

error unavailable(std::string_view what)
{
    return error{errc::crypto_unavailable,
                 "OpenSSL refuses to compute " + std::string{what} + "; is it in FIPS mode?"};
}

}  // namespace

secret::secret(std::initializer_list<std::string_view> parts)
{
    std::size_t size = 0;
    for (const std::string_view part : parts)
        size += part.size();
    bytes_.reserve(size);
    for (const std::string_view part : parts)
        bytes_.insert(bytes_.end(), part.begin(), part.end());
}

secret& secret::operator=(const secret& other)
{
    if (this != &other) {
        wipe();
        bytes_ = other.bytes_;
    }
    return *this;
}

secret& secret::operator=(secret&& other) noexcept
{
    if (this != &other) {
        wipe();
        bytes_ = std::move(other.bytes_);
    }
    return *this;
}

void secret::wipe() noexcept
{
    if (!bytes_.empty())
        OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

digest::~digest()
{
    OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

bool operator==(const digest& a, const digest& b) noexcept
{
    return equal_in_constant_time(a.bytes(), b.bytes());
}

bool equal_in_constant_time(std::span<const std::uint8_t> a,
                            std::span<const std::uint8_t> b) noexcept
{
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

result<digest> hash(scram_hash which, std::span<const std::uint8_t> bytes)
{
    digest out{which};
    if (EVP_Digest(bytes.data(), bytes.size(), out.bytes().data(), nullptr, algorithm(which),
                   nullptr) != 1)
        return unavailable(name_of(which));
    return out;
}

result<digest> hmac(scram_hash which, std::span<const std::uint8_t> key, std::string_view text)
{
    digest out{which};
    std::size_t size = 0;
    if (EVP_Q_mac(nullptr, "HMAC", nullptr, name_of(which), nullptr, key.data(), key.size(),
                  unsigned_chars(text), text.size(), out.bytes().data(), out.bytes().size(),
                  &size) == nullptr)
        return unavailable("HMAC");
    return out;
}

result<digest> salted_password(scram_hash which, std::string_view password,
                               std::span<const std::uint8_t> salt, std::int32_t iterations)
{
    digest out{which};
    if (PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), salt.data(),
                          static_cast<int>(salt.size()), iterations, algorithm(which),
                          static_cast<int>(out.bytes().size()), out.bytes().data()) != 1)
        return unavailable("PBKDF2");
    return out;
}

std::string to_base64(std::span<const std::uint8_t> bytes)
{
    std::string text(bson::base64_size(bytes.size()), '\0');
    bson::encode_base64(bytes, text.data());
    return text;
}

}  // namespace holdfast::core::sasl
