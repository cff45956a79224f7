#include "core/sasl/crypto.hpp"

#include "core/bson/base64.hpp"
#include "core/sasl/errc.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

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

/// HMAC with one key for many texts: what depends on the key alone is computed once.
struct password_salting::keyed_hash {
    explicit keyed_hash(scram_hash used) : which{used} {}
    keyed_hash(const keyed_hash&) = delete;
    keyed_hash& operator=(const keyed_hash&) = delete;
    ~keyed_hash()
    {
        for (EVP_MD_CTX* const context : {inner, outer, work})
            EVP_MD_CTX_free(context);  // wipes it
    }

    bool set_key(std::string_view key)
    {
        constexpr std::size_t largest_block = 128;  // of SHA-512
        const auto block = static_cast<std::size_t>(EVP_MD_get_block_size(algorithm(which)));
        std::array<std::uint8_t, largest_block> pad{};
        if (key.size() > block) {
            const auto shorter = hash(which, {unsigned_chars(key), key.size()});
            if (!shorter)
                return false;
            std::ranges::copy(shorter->bytes(), pad.begin());
        } else {
            std::ranges::copy(key, pad.begin());
        }
        const auto begin = [&](EVP_MD_CTX* context, std::uint8_t with) {
            for (std::uint8_t& byte : pad)
                byte ^= with;
            return EVP_DigestInit_ex(context, algorithm(which), nullptr) == 1 &&
                   EVP_DigestUpdate(context, pad.data(), block) == 1;
        };
        constexpr std::uint8_t inner_pad = 0x36;
        constexpr std::uint8_t outer_pad = 0x5C;
        const bool begun = inner != nullptr && outer != nullptr && work != nullptr &&
                           begin(inner, inner_pad) && begin(outer, inner_pad ^ outer_pad);
        OPENSSL_cleanse(pad.data(), pad.size());
        return begun;
    }

    bool compute(std::span<const std::uint8_t> text, std::span<const std::uint8_t> more,
                 digest& out) const
    {
        digest inside{which};
        return EVP_MD_CTX_copy_ex(work, inner) == 1 &&
               EVP_DigestUpdate(work, text.data(), text.size()) == 1 &&
               EVP_DigestUpdate(work, more.data(), more.size()) == 1 &&
               EVP_DigestFinal_ex(work, inside.bytes().data(), nullptr) == 1 &&
               EVP_MD_CTX_copy_ex(work, outer) == 1 &&
               EVP_DigestUpdate(work, inside.bytes().data(), inside.bytes().size()) == 1 &&
               EVP_DigestFinal_ex(work, out.bytes().data(), nullptr) == 1;
    }

    scram_hash which;
    EVP_MD_CTX* inner = EVP_MD_CTX_new();
    EVP_MD_CTX* outer = EVP_MD_CTX_new();
    EVP_MD_CTX* work = EVP_MD_CTX_new();
};

password_salting::password_salting(std::unique_ptr<keyed_hash> hash,
                                   std::int32_t iterations) noexcept
    : hash_{std::move(hash)}, last_{hash_->which}, salted_{hash_->which}, left_{iterations}
{
}
password_salting::password_salting(password_salting&&) noexcept = default;
password_salting& password_salting::operator=(password_salting&&) noexcept = default;
password_salting::~password_salting() = default;

result<password_salting> password_salting::start(scram_hash which, std::string_view password,
                                                 std::span<const std::uint8_t> salt,
                                                 std::int32_t iterations)
{
    auto keyed = std::make_unique<keyed_hash>(which);
    if (iterations < 1 || !keyed->set_key(password))
        return unavailable("PBKDF2");
    password_salting begun{std::move(keyed), iterations - 1};
    // SCRAM wants as many bytes as the hash has: the first block of PBKDF2, which has number 1.
    constexpr std::uint8_t first_block[] = {0, 0, 0, 1};
    if (!begun.hash_->compute(salt, first_block, begun.last_))
        return unavailable("PBKDF2");
    begun.salted_ = begun.last_;
    return begun;
}

result<void> password_salting::advance(std::int32_t iterations)
{
    for (; iterations > 0 && left_ > 0; --iterations, --left_) {
        if (!hash_->compute(last_.bytes(), {}, last_))
            return unavailable("PBKDF2");
        for (std::size_t i = 0; i < salted_.bytes().size(); ++i)
            salted_.bytes()[i] ^= last_.bytes()[i];
    }
    return {};
}

result<digest> salted_password(scram_hash which, std::string_view password,
                               std::span<const std::uint8_t> salt, std::int32_t iterations)
{
    auto work = password_salting::start(which, password, salt, iterations);
    if (!work)
        return std::move(work).error();
    if (auto done = work->advance(iterations); !done)
        return std::move(done).error();
    return work->salted();
}

std::string to_base64(std::span<const std::uint8_t> bytes)
{
    std::string text(bson::base64_size(bytes.size()), '\0');
    bson::encode_base64(bytes, text.data());
    return text;
}

}  // namespace holdfast::core::sasl
