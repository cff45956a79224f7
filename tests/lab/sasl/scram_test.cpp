#include "lab/sasl/scram.hpp"

#include "core/sasl/scram.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::lab::scram_test {
namespace {

using core::sasl::scram_exchange;

const std::vector<std::uint8_t> salt{1, 2, 3, 4, 5, 6, 7, 8};

scram_keys keys_for(scram_hash with, std::string_view password)
{
    return derive_scram_keys(with, password, salt, 4096).value();
}

/// The server's last message to a client with this password, if it takes the client's proof.
std::optional<std::string> log_in(scram_exchange& client, scram_hash with)
{
    auto first = read_client_first(client.first_message());
    if (!first)
        return std::nullopt;
    scram_conversation server;
    server.hash = with;
    const std::string answer = begin_scram(server, *std::move(first), keys_for(with, "pencil"),
                                           "server");
    return end_scram(server, client.answer(answer).value());
}

TEST(lab_scram, client_and_server_prove_the_password_to_each_other_with_each_hash)
{
    for (const auto with : {scram_hash::sha_1, scram_hash::sha_256, scram_hash::sha_512}) {
        auto client = scram_exchange::start(with, "us,er=", secret{"pencil"}, "client").value();
        const auto last = log_in(client, with);
        ASSERT_TRUE(last);
        EXPECT_TRUE(client.check(*last));
        auto wrong = scram_exchange::start(with, "us,er=", secret{"Pencil"}, "client").value();
        EXPECT_FALSE(log_in(wrong, with));
    }
}

TEST(lab_scram, example_of_rfc_7677_ends_with_its_signature)
{
    const auto rfc_salt = bytes_of_base64("W22ZaJ0SNY7soEsUEjb6gQ==");
    const auto keys = derive_scram_keys(scram_hash::sha_256, "pencil", *rfc_salt, 4096);
    scram_conversation server;
    auto first = read_client_first("n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
    ASSERT_TRUE(first && keys);
    EXPECT_EQ(begin_scram(server, *first, *keys, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"),
              "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
              "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    const auto last = end_scram(server,
                                "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                                "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
    EXPECT_EQ(last, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

TEST(lab_scram, client_first_message_may_have_spaces_in_its_nonce_and_escapes_in_its_name)
{
    const auto read = read_client_first("n,,n=a=2Cb=3Dc,r=0x5a 0x1c");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->user, "a,b=c");
    EXPECT_EQ(read->nonce, "0x5a 0x1c");
    for (const char* text :
         {"", "n", "n,,", "p=x,,n=a,r=b", "n,,n=a", "n,,r=b,n=a", "n,,n=a=2,r=b", "n,,n=a,r="})
        EXPECT_FALSE(read_client_first(text)) << text;
}

/// The client's last message with this beginning and a proof that is right for it.
std::string with_proof(const scram_conversation& talk, const std::string& beginning)
{
    const auto salted = core::sasl::salted_password(talk.hash, "pencil", salt, 4096);
    auto proof = core::sasl::hmac(talk.hash, salted->bytes(), "Client Key");
    const std::string text = talk.first_bare + ',' + talk.server_first + ',' + beginning;
    const auto signature = core::sasl::hmac(talk.hash, talk.stored_key, text);
    for (std::size_t n = 0; n != proof->bytes().size(); ++n)
        proof->bytes()[n] ^= signature->bytes()[n];
    return beginning + ",p=" + base64_text(proof->bytes());
}

TEST(lab_scram, final_message_needs_the_nonce_and_the_header_and_a_proof)
{
    scram_conversation server;
    const auto first = read_client_first("n,,n=user,r=abc");
    begin_scram(server, *first, keys_for(scram_hash::sha_256, "pencil"), "def");
    EXPECT_TRUE(end_scram(server, with_proof(server, "c=biws,r=abcdef")));
    EXPECT_FALSE(end_scram(server, with_proof(server, "c=biws,r=abcdeg")));
    EXPECT_FALSE(end_scram(server, with_proof(server, "c=eSws,r=abcdef")));
    for (const char* text : {"", "c=biws,r=abcdef", "c=biws,r=abcdef,p=AAAA"})
        EXPECT_FALSE(end_scram(server, text)) << text;
}

}  // namespace
}  // namespace holdfast::lab::scram_test
