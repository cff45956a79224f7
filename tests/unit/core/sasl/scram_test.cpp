#include "core/sasl/scram.hpp"

#include "core/sasl/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::sasl::scram_test {
namespace {

/// A conversation as an RFC prints it.
struct transcript {
    scram_hash hash;
    std::string password;
    std::string nonce;
    std::string server_first;
    std::string client_final;
    std::string server_final;
};

const transcript rfc_5802{
    scram_hash::sha_1,
    "pencil",
    "fyko+d2lbbFgONRv9qkxdawL",
    "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
    "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
    "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="};

const transcript rfc_7677{
    scram_hash::sha_256,
    "pencil",
    "rOprNGfwEbeRWgbNEkqO",
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="};

/// No RFC prints one for SHA-512. This has the names, nonces and salt of RFC 7677, and was computed
/// by Python's hashlib and hmac from the formulas of RFC 5802, section 3:
///   salted = hashlib.pbkdf2_hmac("sha512", b"pencil", base64.b64decode(salt), 4096)
///   client = hmac.digest(salted, b"Client Key", "sha512")
///   proof = client XOR hmac.digest(hashlib.sha512(client).digest(), auth_message, "sha512")
///   v = hmac.digest(hmac.digest(salted, b"Server Key", "sha512"), auth_message, "sha512")
/// The same program gives the client_final and server_final of RFC 7677 for "sha256".
const transcript sha_512{
    scram_hash::sha_512,
    "pencil",
    "rOprNGfwEbeRWgbNEkqO",
    rfc_7677.server_first,
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "p=gMGXRcevScNtxZ6/8lQYpGtnsNAc3mGcmNomv+xnoOMw+3R2xNJdMNnzMlTN8PPC6wdp6dybEmDYXYTxwnYPJQ==",
    "v=ZQnYEgWQMFmmsM8aQMF0nDDCy/AgCzkwk8CmMZYcMg0vSVlKDanekLtifDSeVGT4+5ZxXnJq199RVG2rR7N7Zw=="};

scram_exchange begin(const transcript& t, std::vector<scram_keys> known = {})
{
    return scram_exchange::start(t.hash, "user", secret{t.password}, t.nonce, std::move(known))
        .value();
}

std::string with(std::string text, const std::string& what, const std::string& other)
{
    return text.replace(text.find(what), what.size(), other);
}

TEST(scram, messages_of_each_hash_equal_the_published_exchange)
{
    for (const transcript& t : {rfc_5802, rfc_7677, sha_512}) {
        scram_exchange exchange = begin(t);
        EXPECT_EQ(exchange.first_message(), "n,,n=user,r=" + t.nonce);
        EXPECT_EQ(exchange.answer(t.server_first).value(), t.client_final);
        EXPECT_TRUE(exchange.check(t.server_final));
    }
}

TEST(scram, comma_and_equals_sign_in_the_user_name_are_escaped)
{
    const auto first = [](std::string_view name) {
        return scram_exchange::start(scram_hash::sha_256, name, secret{"lovelace"}, "abc")
            .value()
            .first_message();
    };
    EXPECT_EQ(first("a,b=c"), "n,,n=a=2Cb=3Dc,r=abc");
    EXPECT_EQ(first("=2C"), "n,,n==3D2C,r=abc");
    EXPECT_EQ(first("\xC3\xA9"), "n,,n=\xC3\xA9,r=abc");
}

TEST(scram, start_with_unusable_name_password_or_nonce_is_invalid_credential)
{
    using namespace std::string_view_literals;
    const auto code = [](std::string_view name, std::string_view password, std::string_view nonce) {
        return scram_exchange::start(scram_hash::sha_256, name, secret{password}, nonce)
            .error()
            .code();
    };
    for (const auto name : {""sv, "a\0b"sv, "\xFF"sv})
        EXPECT_EQ(code(name, "lovelace", "abc"), errc::invalid_credential);
    EXPECT_EQ(code("user", "", "abc"), errc::invalid_credential);
    for (const auto nonce : {""sv, "a,b"sv, "a b"sv, "a\x7F"sv, "a\xC3\xA9"sv})
        EXPECT_EQ(code("user", "p", nonce), errc::invalid_credential);
}

TEST(scram, malformed_server_first_message_is_untrusted_server)
{
    const std::string& good = rfc_7677.server_first;
    const std::string nonce = rfc_7677.nonce;
    const std::string table[] = {
        "",
        "r",
        "r=",
        "e=other-error",
        "m=ext," + good,
        with(good, nonce, "sOprNGfwEbeRWgbNEkqO"),  // another nonce
        with(good, nonce, "rOprNGfwEbeRWgbNEkq"),  // a part of ours
        "r=" + nonce + ",s=QSXCR+Q6sek8bf92,i=4096",  // ours, and nothing of its own
        with(good, "%hv", "% v"),  // not printable
        with(good, "%hv", "%\xC3\xA9"),
        with(good, "s=", "x="),
        with(good, "s=W22ZaJ0SNY7soEsUEjb6gQ==", "s="),
        with(good, "gQ==", "gQ="),  // not base64
        with(good, "gQ==", "g*=="),
        with(good, ",i=4096", ""),
        with(good, "i=4096", "i="),
        with(good, "i=4096", "i=4096x"),
        with(good, "i=4096", "i=-4096"),
        with(good, "i=4096", "i=+4096"),
        with(good, "i=4096", "i=04096"),
        with(good, "i=4096", "i= 4096"),
        with(good, "i=4096", "i=4095"),  // the limits
        with(good, "i=4096", "i=1"),
        with(good, "i=4096", "i=600001"),
        with(good, "i=4096", "i=99999999999999999999"),
        with(good, "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "i=4096,s=W22ZaJ0SNY7soEsUEjb6gQ=="),
        good + "," + std::string(4096, 'x'),
    };
    for (const std::string& message : table) {
        scram_exchange exchange = begin(rfc_7677);
        const auto answer = exchange.answer(message);
        ASSERT_FALSE(answer) << message;
        EXPECT_EQ(answer.error().code(), errc::untrusted_server) << message;
        EXPECT_EQ(answer.error().explain().find("pencil"), std::string::npos);
    }
}

TEST(scram, optional_extensions_are_ignored)
{
    scram_exchange exchange = begin(rfc_7677);
    EXPECT_TRUE(exchange.answer(rfc_7677.server_first + ",x=whatever"));
    scram_exchange other = begin(rfc_7677);
    ASSERT_TRUE(other.answer(rfc_7677.server_first));
    EXPECT_TRUE(other.check(rfc_7677.server_final + ",x=whatever"));
}

TEST(scram, wrong_server_signature_is_untrusted_server)
{
    scram_exchange exchange = begin(rfc_7677);
    ASSERT_TRUE(exchange.answer(rfc_7677.server_first));
    const std::string& good = rfc_7677.server_final;
    const std::string table[] = {
        "",
        "v=",
        "v",
        good.substr(2),
        with(good, "6rri", "7rri"),
        with(good, "5G4=", "5G8="),
        with(good, "5G4=", "5A=="),
        "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",  // that of another exchange
        good + std::string(5000, 'x'),
    };
    for (const std::string& message : table) {
        const auto checked = exchange.check(message);
        ASSERT_FALSE(checked) << message;
        EXPECT_EQ(checked.error().code(), errc::untrusted_server) << message;
    }
    EXPECT_EQ(exchange.check("e=invalid-proof").error().code(), errc::authentication_failed);
    EXPECT_TRUE(exchange.check(good));
}

TEST(scram, another_password_gives_another_proof_and_fails_the_signature)
{
    transcript wrong = rfc_7677;
    wrong.password = "lovelace";
    scram_exchange exchange = begin(wrong);
    EXPECT_NE(exchange.answer(wrong.server_first).value(), wrong.client_final);
    EXPECT_EQ(exchange.check(wrong.server_final).error().code(), errc::untrusted_server);
}

TEST(scram, known_keys_of_the_same_salt_are_used_without_the_password)
{
    scram_exchange first = begin(rfc_7677);
    ASSERT_TRUE(first.answer(rfc_7677.server_first));
    const scram_keys keys = first.keys();
    EXPECT_EQ(keys.hash, scram_hash::sha_256);
    EXPECT_EQ(keys.iterations, 4096);
    EXPECT_EQ(keys.salt.size(), 16U);

    // With another password only the keys can have made the right answer.
    transcript other = rfc_7677;
    other.password = "babbage";
    scram_exchange second = begin(other, {scram_keys{}, keys});
    EXPECT_EQ(second.answer(other.server_first).value(), rfc_7677.client_final);
    EXPECT_TRUE(second.check(rfc_7677.server_final));
    EXPECT_EQ(second.keys().client_key, keys.client_key);
}

TEST(scram, known_keys_of_another_salt_count_or_hash_are_not_used)
{
    scram_exchange first = begin(rfc_7677);
    ASSERT_TRUE(first.answer(rfc_7677.server_first));
    std::vector<scram_keys> wrong(3, first.keys());
    wrong[0].salt[0] ^= 1;
    wrong[1].iterations += 1;
    wrong[2].hash = scram_hash::sha_1;
    for (scram_keys& keys : wrong)
        keys.client_key.bytes()[0] ^= 1;  // and if it is used, it shows
    scram_exchange second = begin(rfc_7677, wrong);
    EXPECT_EQ(second.answer(rfc_7677.server_first).value(), rfc_7677.client_final);
}

}  // namespace
}  // namespace holdfast::core::sasl::scram_test
