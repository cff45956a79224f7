#include "core/sasl/crypto.hpp"

#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include <string>

namespace holdfast::core::sasl::crypto_test {
namespace {

using sizes = std::initializer_list<std::size_t>;

std::string hex(std::span<const std::uint8_t> bytes)
{
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::span<const std::uint8_t> as_bytes(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// HMAC by the older of OpenSSL's two functions.
std::string oracle(scram_hash which, std::string_view key, std::string_view text)
{
    std::uint8_t out[digest::max_size];
    unsigned size = 0;
    const EVP_MD* const algorithms[] = {EVP_sha1(), EVP_sha256(), EVP_sha512()};
    HMAC(algorithms[static_cast<std::size_t>(which)], key.data(), static_cast<int>(key.size()),
         as_bytes(text).data(), text.size(), out, &size);
    return hex({out, size});
}

TEST(crypto, hash_of_abc_equals_the_standards_test_vector)
{
    EXPECT_EQ(hex(hash(scram_hash::sha_1, as_bytes("abc")).value().bytes()),
              "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(hex(hash(scram_hash::sha_256, as_bytes("abc")).value().bytes()),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(hash(scram_hash::sha_512, as_bytes("abc")).value().bytes()),
              "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
              "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

TEST(crypto, hmac_of_every_key_length_equals_openssls)
{
    for (const scram_hash which : {scram_hash::sha_1, scram_hash::sha_256, scram_hash::sha_512}) {
        for (const std::size_t key : sizes{1, 20, 32, 64, 65, 128, 129, 200}) {
            const std::string key_text(key, 'k');
            for (const std::size_t size : sizes{0, 1, 63, 64, 1000}) {
                const std::string text(size, 't');
                EXPECT_EQ(hex(hmac(which, as_bytes(key_text), text).value().bytes()),
                          oracle(which, key_text, text));
            }
        }
    }
}

TEST(password_salting, any_slices_give_what_openssl_computes_at_once)
{
    const EVP_MD* const algorithms[] = {EVP_sha1(), EVP_sha256(), EVP_sha512()};
    const std::string salt = "a salt";
    for (const std::size_t length : sizes{1, 63, 64, 65, 128, 129, 300}) {
        const std::string password(length, 'p');
        for (const auto which : {scram_hash::sha_1, scram_hash::sha_256, scram_hash::sha_512}) {
            digest expected{which};
            ASSERT_EQ(PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(length),
                                        as_bytes(salt).data(), static_cast<int>(salt.size()), 100,
                                        algorithms[static_cast<std::size_t>(which)],
                                        static_cast<int>(expected.bytes().size()),
                                        expected.bytes().data()),
                      1);
            for (const std::int32_t slice : {1, 7, 99, 100, 1'000}) {
                auto work = password_salting::start(which, password, as_bytes(salt), 100).value();
                int slices = 0;
                for (; !work.done(); ++slices)
                    ASSERT_TRUE(work.advance(slice));
                EXPECT_EQ(slices, (99 + slice - 1) / slice) << "the first one is in start()";
                EXPECT_EQ(work.salted(), expected) << length;
            }
        }
    }
}

TEST(crypto, pbkdf2_equals_the_vectors_of_rfc_6070_and_7914)
{
    EXPECT_EQ(
        hex(salted_password(scram_hash::sha_1, "password", as_bytes("salt"), 4096).value().bytes()),
        "4b007901b765489abead49d926f721d065a429c1");
    EXPECT_EQ(
        hex(salted_password(scram_hash::sha_256, "passwd", as_bytes("salt"), 1).value().bytes()),
        "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
    // Python: hashlib.pbkdf2_hmac("sha512", b"passwd", b"salt", 1).hex()
    EXPECT_EQ(
        hex(salted_password(scram_hash::sha_512, "passwd", as_bytes("salt"), 1).value().bytes()),
        "c74319d99499fc3e9013acff597c23c5baf0a0bec5634c46b8352b793e324723"
        "d55caa76b2b25c43402dcfdc06cdcf66f95b7d0429420b39520006749c51a04e");
}

TEST(crypto, equal_in_constant_time_compares_all_bytes)
{
    const std::string a = "0123456789";
    EXPECT_TRUE(equal_in_constant_time(as_bytes(a), as_bytes("0123456789")));
    EXPECT_TRUE(equal_in_constant_time({}, {}));
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::string b = a;
        b[i] ^= 1;
        EXPECT_FALSE(equal_in_constant_time(as_bytes(a), as_bytes(b))) << i;
    }
    EXPECT_FALSE(equal_in_constant_time(as_bytes(a), as_bytes(a).first(9)));
}

}  // namespace
}  // namespace holdfast::core::sasl::crypto_test
