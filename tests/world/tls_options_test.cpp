#include "runtime/errc.hpp"
#include "support/tls_pair.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace holdfast::tls_options_test {
namespace {

using proof::certificates;
using runtime::errc;
using runtime::tls_options;

struct file_case {
    const char* why;
    std::optional<const char*> ca;
    std::optional<const char*> certificate;
    std::optional<const char*> password;
    const char* cause;  // null: good
};

constexpr auto none = std::nullopt;

constexpr file_case files[] = {
    {"a CA", "ca.pem", none, none, nullptr},
    {"a certificate and its key", none, "server.pem", none, nullptr},
    {"an encrypted key", "ca.pem", "encrypted.pem", certificates::password, nullptr},
    {"a password that is not needed", none, "client.pem", "canary-wrong", nullptr},
    {"no such CA", "absent.pem", none, none, "No such file or directory"},
    {"a folder", ".", none, none, "Is a directory"},
    {"a key is no CA", "key.pem", none, none, "it holds no certificate in PEM"},
    {"half a CA", "damaged.pem", none, none, "certificate 2 in it is damaged"},
    {"no such certificate", none, "absent.pem", none, "No such file or directory"},
    {"a script", none, "script.txt", none, "it holds no certificate in PEM"},
    {"a certificate alone", none, "certificate.pem", none,
     "it holds no private key in PEM; append the key to the certificate"},
    {"a key alone", none, "key.pem", none, "it holds no certificate in PEM"},
    {"half a chain", none, "damaged.pem", none, "certificate 2 in it is damaged"},
    {"the key of another certificate", none, "mismatch.pem", none,
     "its private key does not belong to its certificate; the certificate must be the first in "
     "the file"},
    {"no password", none, "encrypted.pem", none,
     "its private key is encrypted, and no password was given"},
    {"an empty password", none, "encrypted.pem", "", "the password does not open its private key"},
    {"a wrong password", none, "encrypted.pem", "canary-wrong",
     "the password does not open its private key"},
};

tls_options options_of(const file_case& row)
{
    tls_options options;
    if (row.ca)
        options.ca_file = certificates::file(*row.ca);
    if (row.certificate)
        options.certificate_key_file = certificates::file(*row.certificate);
    if (row.password)
        options.certificate_key_password = *row.password;
    options.verify_peer = row.ca.has_value();  // without one, the system's need not be read
    return options;
}

TEST(tls_options, invalid_file_error_names_file_and_cause)
{
    std::FILE* const script = std::fopen(certificates::file("script.txt").c_str(), "w");
    ASSERT_NE(script, nullptr);
    std::fputs("#!/bin/sh\n", script);
    std::fclose(script);

    for (const file_case& row : files) {
        SCOPED_TRACE(row.why);
        const tls_options options = options_of(row);
        const auto made = net::make_tls(options);
        EXPECT_EQ(made.has_value(), row.cause == nullptr);
        if (made)
            continue;
        EXPECT_EQ(made.error().code(), errc::invalid_tls_options);
        EXPECT_EQ(made.error().context("cause"), row.cause ? row.cause : "");
        const auto& path = options.ca_file ? options.ca_file : options.certificate_key_file;
        EXPECT_EQ(made.error().context("file"), *path);
        EXPECT_NE(made.error().message().find(*path), std::string::npos);
        EXPECT_EQ(made.error().explain().find("canary"), std::string::npos);
    }
}

std::string text_of(const std::string& name)
{
    std::ifstream from{certificates::file(name)};
    return {std::istreambuf_iterator<char>{from}, {}};
}

/// Whether a client with these options trusts the server with that certificate.
bool trusts(const tls_options& client, const std::string& certificate)
{
    proof::virtual_world world;
    return proof::shake_hands(world, proof::layer(client),
                              proof::layer(proof::serving(certificate)), "localhost")
        .good();
}

TEST(tls_options, cas_can_be_given_as_text_alone_or_besides_a_file)
{
    tls_options options;
    options.ca_text = text_of("ca.pem");
    EXPECT_TRUE(trusts(options, "server.pem"));
    EXPECT_FALSE(trusts(options, "untrusted.pem"));
    options.ca_file = certificates::file("other_ca.pem");
    EXPECT_TRUE(trusts(options, "server.pem"));
    EXPECT_TRUE(trusts(options, "untrusted.pem"));
    for (const std::string bad : {"key.pem", "damaged.pem"}) {
        options.ca_text = text_of(bad);
        const auto made = net::make_tls(options);
        ASSERT_FALSE(made) << bad;
        EXPECT_EQ(made.error().code(), errc::invalid_tls_options);
        EXPECT_TRUE(made.error().context("file").empty());
    }
}

TEST(tls_options, text_of_cas_demands_certificates_of_clients)
{
    auto asking = proof::serving("server.pem");
    asking.verify_peer = true;
    asking.ca_text = text_of("ca.pem");
    proof::virtual_world world;
    auto nameless = proof::trusting("ca.pem");
    EXPECT_FALSE(
        proof::shake_hands(world, proof::layer(nameless), proof::layer(asking), "localhost")
            .good());
    nameless.certificate_key_file = certificates::file("client.pem");
    EXPECT_TRUE(proof::shake_hands(world, proof::layer(nameless), proof::layer(asking), "localhost")
                    .good());
}

TEST(tls_options, cas_of_the_system_are_trusted_besides_if_that_is_wanted)
{
    // What OpenSSL takes for those of the system.
    ::setenv("SSL_CERT_FILE", certificates::file("other_ca.pem").c_str(), 1);
    tls_options options;
    options.ca_text = text_of("ca.pem");
    EXPECT_FALSE(trusts(options, "untrusted.pem"));
    options.with_system_cas = true;
    EXPECT_TRUE(trusts(options, "untrusted.pem"));
    EXPECT_TRUE(trusts(options, "server.pem"));
    ::unsetenv("SSL_CERT_FILE");
}

TEST(tls_options, too_long_key_password_is_refused)
{
    tls_options options;
    options.certificate_key_file = certificates::file("encrypted.pem");
    options.certificate_key_password = std::string(5000, 'x');
    const auto made = net::make_tls(options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), errc::invalid_tls_options);
}

TEST(tls_options, encrypted_key_with_its_password_is_accepted)
{
    auto asking = proof::trusting("ca.pem");
    asking.certificate_key_file = certificates::file("server.pem");
    auto known = proof::trusting("ca.pem");
    known.certificate_key_file = certificates::file("encrypted.pem");
    known.certificate_key_password = certificates::password;
    proof::virtual_world world;
    EXPECT_TRUE(
        proof::shake_hands(world, proof::layer(known), proof::layer(asking), "localhost").good());
}

}  // namespace
}  // namespace holdfast::tls_options_test
