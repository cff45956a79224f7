#include "core/couchbase/settings/capella.hpp"

#include "core/couchbase/uri/connection_string.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace holdfast::core::couchbase::capella_test {
namespace {

TEST(capella, hosts_of_its_domain_are_recognised_and_no_others)
{
    const auto is_hosted = [](const char* text) {
        return is_capella(parse_connection_string(text).value().settings);
    };
    EXPECT_TRUE(is_hosted("couchbases://cb.abc.cloud.couchbase.com"));
    EXPECT_TRUE(is_hosted("couchbases://CB.abc.Cloud.Couchbase.COM:11207/travel"));
    EXPECT_TRUE(is_hosted("couchbases://a.cloud.couchbase.com,b.cloud.couchbase.com"));
    EXPECT_FALSE(is_hosted("couchbases://a.cloud.couchbase.com,b.example.com"));
    EXPECT_FALSE(is_hosted("couchbases://cloud.couchbase.com.example.com"));
    EXPECT_FALSE(is_hosted("couchbases://mycloud.couchbase.com"));
    EXPECT_FALSE(is_hosted("couchbases://localhost"));
}

TEST(capella, root_certificate_is_whole_and_signs_itself)
{
    const std::string_view text = capella_root_certificate();
    const std::unique_ptr<BIO, decltype(&BIO_free)> from{
        BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
    const std::unique_ptr<X509, decltype(&X509_free)> root{
        PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr), &X509_free};
    ASSERT_NE(root, nullptr);
    EXPECT_EQ(X509_self_signed(root.get(), 1), 1);
    EXPECT_EQ(X509_check_ca(root.get()), 1);
    char name[64] = {};
    X509_NAME_oneline(X509_get_subject_name(root.get()), name, sizeof name);
    EXPECT_STREQ(name, "/O=Couchbase/OU=Cloud");
}

}  // namespace
}  // namespace holdfast::core::couchbase::capella_test
