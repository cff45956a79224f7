#include "core/mongo/handshake/crypto.hpp"

#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include <string>

namespace holdfast::core::mongo {
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
    std::uint8_t out[32];
    unsigned size = 0;
    HMAC(which == scram_hash::sha_1 ? EVP_sha1() : EVP_sha256(), key.data(),
         static_cast<int>(key.size()), as_bytes(text).data(), text.size(), out, &size);
    return hex({out, size});
}

TEST(crypto, hash_matches_the_fips_180_examples)
{
    EXPECT_EQ(hex(hash(scram_hash::sha_1, as_bytes("abc")).value().bytes()),
              "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(hex(hash(scram_hash::sha_256, as_bytes("abc")).value().bytes()),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(crypto, hmac_matches_openssl_for_all_key_sizes)
{
    for (const scram_hash which : {scram_hash::sha_1, scram_hash::sha_256}) {
        for (const std::size_t key : sizes{1, 20, 32, 64, 65, 200}) {
            const std::string key_text(key, 'k');
            for (const std::size_t size : sizes{0, 1, 63, 64, 1000}) {
                const std::string text(size, 't');
                EXPECT_EQ(hex(hmac(which, as_bytes(key_text), text).value().bytes()),
                          oracle(which, key_text, text));
            }
        }
    }
}

TEST(crypto, salted_password_matches_rfc_6070_and_7914)
{
    EXPECT_EQ(
        hex(salted_password(scram_hash::sha_1, "password", as_bytes("salt"), 4096).value().bytes()),
        "4b007901b765489abead49d926f721d065a429c1");
    EXPECT_EQ(
        hex(salted_password(scram_hash::sha_256, "passwd", as_bytes("salt"), 1).value().bytes()),
        "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
}

TEST(crypto, mongo_password_digest_matches_the_known_value)
{
    EXPECT_EQ(mongo_password_digest("user", "pencil").value().view(),
              "1c33006ec1ffd90f9cadcbcc0e118200");
}

TEST(crypto, equal_in_constant_time_compares_every_byte)
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

TEST(secret, copy_move_and_assignment_keep_the_value)
{
    const secret one{"pen", "cil"};
    secret two = one;
    EXPECT_EQ(two.view(), "pencil");
    secret three = std::move(two);
    EXPECT_EQ(three.view(), "pencil");
    three = secret{"other"};
    EXPECT_EQ(three.view(), "other");
    three = one;
    EXPECT_EQ(three.view(), "pencil");
    three = secret{};
    EXPECT_TRUE(three.view().empty());
}

}  // namespace
}  // namespace holdfast::core::mongo
