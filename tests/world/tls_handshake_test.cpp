#include "net/tls/stream.hpp"
#include "runtime/errc.hpp"
#include "support/tls_pair.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::tls_handshake_test {
namespace {

using namespace std::chrono_literals;
using proof::layer;
using proof::serving;
using proof::shake_hands;
using proof::trusting;
using proof::virtual_world;
using runtime::errc;

std::vector<std::uint8_t> bytes_of(std::string_view text)
{
    return {text.begin(), text.end()};
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

struct peer_case {
    const char* why;
    const char* certificate;  // of the server
    const char* host;
    const char* cause;  // null: accepted
};

constexpr peer_case peers[] = {
    {"good", "server.pem", "localhost", nullptr},
    {"a dot at the end is no part of the name", "server.pem", "localhost.", nullptr},
    {"good by its IPv4 address", "server.pem", "127.0.0.1", nullptr},
    {"good by its IPv6 address", "server.pem", "::1", nullptr},
    {"expired", "expired.pem", "localhost", "certificate has expired"},
    {"wrong host", "other_host.pem", "localhost",
     "hostname mismatch: the certificate is for db.example.com, not for localhost"},
    {"wrong address", "server.pem", "127.0.0.2",
     "IP address mismatch: the certificate is for localhost, 127.0.0.1, ::1, not for 127.0.0.2"},
    {"wrong address, other kind", "other_host.pem", "::1",
     "IP address mismatch: the certificate is for db.example.com, not for ::1"},
    {"another CA", "untrusted.pem", "localhost", "unable to get local issuer certificate"},
    {"wildcard", "wildcard.pem", "db1.example.com", nullptr},
    {"a wildcard is one label", "wildcard.pem", "a.db1.example.com",
     "hostname mismatch: the certificate is for *.example.com, d*.example.org, not for "
     "a.db1.example.com"},
    {"part of a label is no wildcard", "wildcard.pem", "db1.example.org",
     "hostname mismatch: the certificate is for *.example.com, d*.example.org, not for "
     "db1.example.org"},
    {"a common name, where there is no other", "common_name.pem", "localhost", nullptr},
    {"not that common name", "common_name.pem", "db.example.com",
     "hostname mismatch: the certificate is for localhost, not for db.example.com"},
};

TEST(tls_handshake, wrong_server_certificate_is_rejected)
{
    const auto client = layer(trusting("ca.pem"));
    for (const peer_case& row : peers) {
        SCOPED_TRACE(row.why);
        virtual_world world;
        const auto outcome = shake_hands(world, client, layer(serving(row.certificate)), row.host);
        ASSERT_TRUE(outcome.client && outcome.server);
        if (row.cause == nullptr) {
            EXPECT_TRUE(outcome.client->has_value());
            EXPECT_TRUE(outcome.server->has_value());
            continue;
        }
        ASSERT_FALSE(outcome.client->has_value());
        const error& why = outcome.client_error();
        EXPECT_EQ(why.code(), errc::certificate_rejected);
        EXPECT_EQ(why.context("cause"), row.cause);
        EXPECT_EQ(why.context("phase"), "tls");
        EXPECT_EQ(why.context("server"), row.host);
        EXPECT_TRUE(contains(why.message(), row.cause)) << why.message();
        ASSERT_FALSE(outcome.server->has_value());  // the client has sent an alert
        EXPECT_EQ(outcome.server_error().code(), errc::tls_failed);
        EXPECT_EQ(outcome.server_error().context("client"), "memory:2");
    }
}

TEST(tls_handshake, system_trust_store_rejects_a_private_ca)
{
    virtual_world world;
    const auto outcome = shake_hands(world, layer({}), layer(serving("server.pem")), "localhost");
    ASSERT_TRUE(outcome.client && !*outcome.client);
    EXPECT_EQ(outcome.client_error().code(), errc::certificate_rejected);
    EXPECT_EQ(outcome.client_error().context("cause"), "unable to get local issuer certificate");
    EXPECT_TRUE(contains(outcome.client_error().message(), "give the file of the CA"));
}

TEST(tls_handshake, verify_peer_off_accepts_every_certificate)
{
    auto options = trusting("ca.pem");
    options.verify_peer = false;
    for (const char* const certificate : {"expired.pem", "other_host.pem", "untrusted.pem"}) {
        virtual_world world;
        const auto server = layer(serving(certificate));
        EXPECT_TRUE(shake_hands(world, layer(options), server, "localhost").good()) << certificate;
    }
}

TEST(tls_handshake, verify_hostname_off_still_checks_the_chain)
{
    auto options = trusting("ca.pem");
    options.verify_hostname = false;
    const auto client = layer(options);
    virtual_world world;
    EXPECT_TRUE(shake_hands(world, client, layer(serving("other_host.pem")), "localhost").good());
    for (const char* const certificate : {"expired.pem", "untrusted.pem"}) {
        const auto outcome = shake_hands(world, client, layer(serving(certificate)), "localhost");
        ASSERT_TRUE(outcome.client && !*outcome.client) << certificate;
        EXPECT_EQ(outcome.client_error().code(), errc::certificate_rejected);
    }
}

TEST(tls_handshake, empty_or_malformed_host_name_is_refused)
{
    const auto client = layer(trusting("ca.pem"));
    for (const std::string& host : {std::string{}, std::string{"."}, std::string{".example.com"},
                                    std::string{"localhost\0.example.com", 22}}) {
        virtual_world world;
        const auto outcome = shake_hands(world, client, layer(serving("wildcard.pem")), host);
        ASSERT_TRUE(outcome.client && !*outcome.client) << host;
        EXPECT_EQ(outcome.client_error().code(), errc::tls_failed);
        EXPECT_EQ(outcome.client_error().context("phase"), "tls");
    }
}

/// What a client learns from its first read: in TLS 1.3 it is done before the server has looked at
/// its certificate.
runtime::io_result first_read(virtual_world& in, runtime::stream& from)
{
    std::uint8_t byte[1];
    return proof::run(in, from.read_some(byte)).value();
}

TEST(tls_handshake, server_with_a_ca_requires_a_client_certificate)
{
    auto options = trusting("ca.pem");
    options.certificate_key_file = proof::certificates::file("server.pem");
    const auto server = layer(options);
    virtual_world world;

    auto known = trusting("ca.pem");
    known.certificate_key_file = proof::certificates::file("client.pem");
    EXPECT_TRUE(shake_hands(world, layer(known), server, "localhost").good());

    const auto none_found = shake_hands(world, layer(trusting("ca.pem")), server, "localhost");
    ASSERT_TRUE(none_found.server && !*none_found.server);
    EXPECT_EQ(none_found.server_error().code(), errc::certificate_rejected);
    EXPECT_EQ(none_found.server_error().context("cause"), "the client sent no certificate");
    ASSERT_TRUE(none_found.client && *none_found.client);
    const auto received = first_read(world, ***none_found.client);
    EXPECT_EQ(received.why.message(), "the server demands a client certificate");
    EXPECT_EQ(received.why, boost::system::errc::connection_reset);
    EXPECT_TRUE(runtime::is_broken_by_tls(received.why));
    EXPECT_FALSE(runtime::is_broken_by_tls(boost::asio::error::connection_reset));

    auto stranger = trusting("ca.pem");
    stranger.certificate_key_file = proof::certificates::file("untrusted.pem");
    const auto foreign = shake_hands(world, layer(stranger), server, "localhost");
    ASSERT_TRUE(foreign.server && !*foreign.server);
    EXPECT_EQ(foreign.server_error().code(), errc::certificate_rejected);
    EXPECT_EQ(foreign.server_error().context("cause"), "unable to get local issuer certificate");
    ASSERT_TRUE(foreign.client && *foreign.client);
    EXPECT_EQ(first_read(world, ***foreign.client).why.message(),
              "the peer does not trust the CA that signed our certificate");
}

TEST(tls_handshake, server_without_a_certificate_is_refused)
{
    virtual_world world;
    const auto plain = layer(trusting("ca.pem"));
    const auto outcome = shake_hands(world, plain, plain, "localhost");
    ASSERT_TRUE(outcome.client && outcome.server && !*outcome.server && !*outcome.client);
    EXPECT_EQ(outcome.server_error().code(), errc::invalid_tls_options);
    EXPECT_EQ(outcome.client_error().code(), errc::tls_failed);
}

/// A peer with a scripted TLS version, which the library would refuse.
net::openssl_ptr<SSL_CTX> context_of(net::tls_side side, int min_version, int max_version)
{
    const bool server = side == net::tls_side::server;
    net::openssl_ptr<SSL_CTX> made{SSL_CTX_new(server ? TLS_server_method() : TLS_client_method())};
    SSL_CTX_set_min_proto_version(made.get(), min_version);
    SSL_CTX_set_max_proto_version(made.get(), max_version);
    SSL_CTX_set_cipher_list(made.get(), "DEFAULT@SECLEVEL=0");
    const std::string file = proof::certificates::file("server.pem");
    if (server) {
        SSL_CTX_use_certificate_chain_file(made.get(), file.c_str());
        SSL_CTX_use_PrivateKey_file(made.get(), file.c_str(), SSL_FILETYPE_PEM);
    }
    net::tls_engine::install(*made, side);
    return made;
}

runtime::awaitable<bool> raw_handshake(net::tls_stream& peer)
{
    bool done = false;
    const error_code why = co_await peer.shake_hands(done);
    co_return !why && done;
}

TEST(tls_handshake, tls_1_1_server_is_refused_and_tls_1_2_accepted)
{
    for (const int version : {TLS1_1_VERSION, TLS1_2_VERSION}) {
        virtual_world world;
        proof::memory_connection ends{world};
        const auto context = context_of(net::tls_side::server, version, version);
        net::tls_stream peer{std::move(ends.server), *context, net::tls_side::server};
        std::optional<bool> served;
        proof::start(world, raw_handshake(peer), served);
        const auto outcome = proof::run(
            world, layer(trusting("ca.pem"))->connect(std::move(ends.client), "localhost"));
        ASSERT_TRUE(outcome && served);
        EXPECT_EQ(*served, version == TLS1_2_VERSION);
        EXPECT_EQ(outcome->has_value(), version == TLS1_2_VERSION);
        if (!*outcome) {
            EXPECT_EQ(outcome->error().code(), errc::tls_failed);
            EXPECT_EQ(outcome->error().context("cause"),
                      "the peer speaks no version of TLS that we speak, 1.2 and 1.3");
        }
    }
}

TEST(tls_handshake, tls_1_1_client_is_refused)
{
    virtual_world world;
    proof::memory_connection ends{world};
    const auto context = context_of(net::tls_side::client, TLS1_VERSION, TLS1_1_VERSION);
    net::tls_stream peer{std::move(ends.client), *context, net::tls_side::client};
    std::optional<bool> connected;
    proof::start(world, raw_handshake(peer), connected);
    const auto outcome = proof::run(world,
                                    layer(serving("server.pem"))->accept(std::move(ends.server)));
    ASSERT_TRUE(outcome && connected);
    EXPECT_FALSE(*connected);
    ASSERT_FALSE(outcome->has_value());
    EXPECT_EQ(outcome->error().code(), errc::tls_failed);
}

TEST(tls_handshake, tls_1_2_required_client_certificate_fails_the_handshake)
{
    virtual_world world;
    proof::memory_connection ends{world};
    const auto context = context_of(net::tls_side::server, TLS1_2_VERSION, TLS1_2_VERSION);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    net::tls_stream peer{std::move(ends.server), *context, net::tls_side::server};
    std::optional<bool> served;
    proof::start(world, raw_handshake(peer), served);
    const auto outcome = proof::run(
        world, layer(trusting("ca.pem"))->connect(std::move(ends.client), "localhost"));
    ASSERT_TRUE(outcome && !*outcome);
    EXPECT_EQ(outcome->error().code(), errc::tls_failed);
    EXPECT_EQ(outcome->error().context("cause"), "the server demands a client certificate");
    EXPECT_TRUE(contains(outcome->error().message(), "give the file of a certificate"));
}

/// Hears what the client has to say first.
runtime::awaitable<bool> answer(runtime::stream_ptr& server, std::string_view text, bool closes)
{
    const auto bytes = bytes_of(text);
    std::uint8_t heard[1000];
    const runtime::io_result got = co_await server->read_some(heard);
    server->write_now(bytes);
    if (closes)
        server.reset();
    co_return got.bytes > 0;
}

/// What a client says of a server that sends this, and then closes or waits.
error answered_with(std::string_view text, bool closes)
{
    virtual_world world;
    proof::memory_connection ends{world};
    std::optional<bool> answered;
    proof::start(world, answer(ends.server, text, closes), answered);
    ends.client->expires_at(world.steady_now() + 5s);
    const time_point began = world.steady_now();
    const auto outcome = proof::run(
        world, layer(trusting("ca.pem"))->connect(std::move(ends.client), "localhost"));
    if (!outcome || *outcome)
        return {errc::not_available, "neither answered nor refused"};
    EXPECT_EQ(outcome->error().context("phase"), "tls");
    if (outcome->error().code() == errc::connect_timed_out) {
        EXPECT_EQ(world.steady_now() - began, 5s);
    }
    return outcome->error();
}

TEST(tls_handshake, server_without_tls_is_named_in_the_error)
{
    struct row {
        std::string_view says;
        bool closes;
        errc code;
        std::string_view cause;
    };
    const row table[] = {
        {"HTTP/1.1 400 Bad Request\r\n\r\n", false, errc::tls_failed,
         "the server does not speak TLS"},
        {"5", true, errc::tls_failed, "the server does not speak TLS"},
        {"", true, errc::tls_failed, "the server closed the connection during the handshake"},
        {"\x16\x03", true, errc::tls_failed,
         "the server closed the connection during the handshake"},
        {"", false, errc::connect_timed_out, "the server did not answer in time"},
        {"\x16\x03", false, errc::connect_timed_out, "the handshake took too long"},
    };
    for (const row& r : table) {
        const error why = answered_with(r.says, r.closes);
        EXPECT_EQ(why.code(), r.code) << r.says;
        EXPECT_EQ(why.context("cause"), r.cause);
        const bool broke_off = r.cause == "the server closed the connection during the handshake";
        EXPECT_EQ(why.context("handshake"), broke_off ? runtime::handshake_broke_off : "");
    }
}

TEST(tls_handshake, client_without_tls_is_named_in_the_error)
{
    virtual_world world;
    proof::memory_connection ends{world};
    ends.client->write_now(bytes_of("GET / HTTP/1.1\r\n\r\n"));
    const auto outcome = proof::run(world,
                                    layer(serving("server.pem"))->accept(std::move(ends.server)));
    ASSERT_TRUE(outcome && !*outcome);
    EXPECT_EQ(outcome->error().code(), errc::tls_failed);
    EXPECT_EQ(outcome->error().context("cause"), "the client does not speak TLS");
}

TEST(tls_handshake, pending_handshake_can_be_cancelled)
{
    virtual_world world;
    proof::memory_connection ends{world};
    runtime::stream& under = *ends.client;
    std::optional<result<runtime::stream_ptr>> outcome;
    proof::start(world, layer(trusting("ca.pem"))->connect(std::move(ends.client), "localhost"),
                 outcome);
    world.run();
    EXPECT_FALSE(outcome);
    under.cancel();
    world.run();
    ASSERT_TRUE(outcome && !*outcome);
    EXPECT_EQ(outcome->error().code(), errc::cancelled);
    EXPECT_EQ(world.alarms_set(), 0u);
}

}  // namespace
}  // namespace holdfast::tls_handshake_test
