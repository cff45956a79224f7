#include "core/couchbase/handshake/mechanism.hpp"

#include "core/couchbase/handshake/hello_key.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::mechanism_test {
namespace {

using enum sasl_mechanism;

TEST(sasl_mechanism, first_of_ours_in_the_list_is_chosen)
{
    const sasl_mechanism ours[] = {scram_sha512, scram_sha256, scram_sha1};
    EXPECT_EQ(choose_mechanism(ours, "PLAIN SCRAM-SHA1 SCRAM-SHA512"), scram_sha512);
    EXPECT_EQ(choose_mechanism(ours, "SCRAM-SHA1"), scram_sha1);
    EXPECT_EQ(choose_mechanism(ours, "  SCRAM-SHA256 "), scram_sha256);
    EXPECT_EQ(choose_mechanism(ours, "PLAIN"), std::nullopt);
    EXPECT_EQ(choose_mechanism(ours, ""), std::nullopt);
    EXPECT_EQ(choose_mechanism(ours, "SCRAM-SHA5123 XSCRAM-SHA512 scram-sha1"), std::nullopt);
}

TEST(sasl_mechanism, only_scram_keeps_its_secret)
{
    EXPECT_TRUE(needs_tls(plain) && needs_tls(oauthbearer));
    EXPECT_FALSE(needs_tls(scram_sha512) || needs_tls(scram_sha256) || needs_tls(scram_sha1));
    EXPECT_EQ(hash_of(scram_sha1), sasl::scram_hash::sha_1);
    EXPECT_EQ(hash_of(plain), std::nullopt);
}

TEST(hello_key, agent_and_connection_are_json)
{
    EXPECT_EQ(hello_key("holdfast/1", "00ff/1"), R"({"a":"holdfast/1","i":"00ff/1"})");
    EXPECT_EQ(hello_key("a\"b\\c\nd", ""), R"({"a":"a\"b\\c d","i":""})");
}

TEST(hello_key, long_agent_is_cut_between_characters)
{
    const std::string name(33, 'f');
    EXPECT_EQ(hello_key(std::string(500, 'x'), name),
              R"({"a":")" + std::string(200, 'x') + R"(","i":")" + name + R"("})");
    EXPECT_LE(hello_key(std::string(500, 'x'), name).size(), 250U);
    const std::string euro = "\xe2\x82\xac";
    EXPECT_EQ(hello_key(std::string(199, 'x') + euro, ""),
              R"({"a":")" + std::string(199, 'x') + R"(","i":""})");
    EXPECT_EQ(hello_key(std::string(197, 'x') + euro, ""),
              R"({"a":")" + std::string(197, 'x') + euro + R"(","i":""})");
    EXPECT_EQ(hello_key(std::string(199, 'x') + "\"", ""),
              R"({"a":")" + std::string(199, 'x') + R"(","i":""})");
}

}  // namespace
}  // namespace holdfast::core::couchbase::mechanism_test
