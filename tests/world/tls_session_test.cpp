#include "net/tls/session_cache.hpp"
#include "net/tls/stream.hpp"
#include "support/tls_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace holdfast::tls_session_test {
namespace {

using net::session_cache;
using proof::layer;
using proof::serving;
using proof::trusting;
using proof::virtual_world;

const session_cache& sessions_of(const runtime::tls_ptr& layer)
{
    return dynamic_cast<const net::openssl_layer&>(*layer).sessions();
}

/// Connects and exchanges a byte, which is when tickets arrive.
bool connect_once(const runtime::tls_ptr& client, const runtime::tls_ptr& server,
                  const std::string& host)
{
    virtual_world world;
    const auto ends = proof::shake_hands(world, client, server, host);
    if (!ends.good())
        return false;
    const std::array<std::uint8_t, 1> byte{7};
    std::array<std::uint8_t, 1> heard{};
    (**ends.server)->write_now(byte);
    return !proof::run(world, proof::receive(***ends.client, heard)).value() && heard == byte;
}

TEST(tls_session, second_connection_is_resumed)
{
    const auto client = layer(trusting("ca.pem"));
    const auto server = layer(serving("server.pem"));
    for (std::uint64_t n = 0; n < 5; ++n) {
        ASSERT_TRUE(connect_once(client, server, "localhost"));
        EXPECT_EQ(proof::resumed(client), n);
        EXPECT_EQ(proof::resumed(server), n);
    }
}

TEST(tls_session, connection_with_client_certificate_is_resumed)
{
    auto known = trusting("ca.pem");
    known.certificate_key_file = proof::certificates::file("client.pem");
    auto asking = trusting("ca.pem");
    asking.certificate_key_file = proof::certificates::file("server.pem");
    const auto client = layer(known);
    const auto server = layer(asking);
    ASSERT_TRUE(connect_once(client, server, "localhost"));
    ASSERT_TRUE(connect_once(client, server, "localhost"));
    EXPECT_EQ(proof::resumed(server), 1u);
}

TEST(tls_session, tls_1_3_ticket_is_used_once)
{
    const auto client = layer(trusting("ca.pem"));
    const auto server = layer(serving("server.pem"));
    ASSERT_TRUE(connect_once(client, server, "localhost"));
    const std::size_t tickets = sessions_of(client).size();
    ASSERT_GT(tickets, 0u);
    virtual_world world;  // nothing is read in here, so no new ticket arrives
    for (std::size_t n = 0; n <= tickets; ++n)
        ASSERT_TRUE(proof::shake_hands(world, client, server, "localhost").good());
    EXPECT_EQ(proof::resumed(client), tickets);
    EXPECT_EQ(sessions_of(client).size(), 0u);
}

TEST(tls_session, session_is_bound_to_one_name_and_one_layer)
{
    const auto client = layer(trusting("ca.pem"));
    const auto other = layer(trusting("ca.pem"));
    const auto server = layer(serving("server.pem"));
    ASSERT_TRUE(connect_once(client, server, "localhost"));
    ASSERT_TRUE(connect_once(client, server, "127.0.0.1"));
    ASSERT_TRUE(connect_once(other, server, "localhost"));
    EXPECT_EQ(proof::resumed(server), 0u);
}

TEST(tls_session, unknown_ticket_gives_a_full_handshake)
{
    const auto client = layer(trusting("ca.pem"));
    ASSERT_TRUE(connect_once(client, layer(serving("server.pem")), "localhost"));
    ASSERT_TRUE(connect_once(client, layer(serving("server.pem")), "localhost"));
    EXPECT_EQ(proof::resumed(client), 0u);
}

TEST(tls_session, resumption_does_not_skip_certificate_verification)
{
    const auto client = layer(trusting("ca.pem"));
    ASSERT_TRUE(connect_once(client, layer(serving("server.pem")), "localhost"));
    EXPECT_FALSE(connect_once(client, layer(serving("untrusted.pem")), "localhost"));
}

runtime::awaitable<bool> serve_1_2(net::tls_stream& peer)
{
    bool done = false;
    const error_code why = co_await peer.shake_hands(done);
    co_return !why && done && peer.engine().resumed();
}

TEST(tls_session, tls_1_2_session_is_used_more_than_once)
{
    const auto client = layer(trusting("ca.pem"));
    const net::openssl_ptr<SSL_CTX> context{SSL_CTX_new(TLS_server_method())};
    const std::string file = proof::certificates::file("server.pem");
    SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_use_certificate_chain_file(context.get(), file.c_str());
    SSL_CTX_use_PrivateKey_file(context.get(), file.c_str(), SSL_FILETYPE_PEM);
    for (int n = 0; n < 4; ++n) {
        virtual_world world;
        proof::memory_connection ends{world};
        net::tls_stream peer{std::move(ends.server), *context, net::tls_side::server};
        std::optional<bool> resumed;
        proof::start(world, serve_1_2(peer), resumed);
        const auto made = proof::run(world, client->connect(std::move(ends.client), "localhost"));
        ASSERT_TRUE(made && *made && resumed);
        EXPECT_EQ(*resumed, n > 0);
    }
    EXPECT_EQ(sessions_of(client).size(), 1u);
}

net::openssl_ptr<SSL_SESSION> session_of(int version)
{
    net::openssl_ptr<SSL_SESSION> made{SSL_SESSION_new()};
    SSL_SESSION_set_protocol_version(made.get(), version);
    return made;
}

TEST(tls_session, session_cache_is_bounded_and_drops_the_oldest)
{
    session_cache cache;
    for (int n = 0; n < 100; ++n)
        cache.put("host" + std::to_string(n), session_of(TLS1_3_VERSION));
    EXPECT_EQ(cache.size(), session_cache::limit);
    EXPECT_EQ(cache.take("host35"), nullptr);
    EXPECT_NE(cache.take("host36"), nullptr);
    EXPECT_EQ(cache.take("host36"), nullptr);
    EXPECT_NE(cache.take("host99"), nullptr);
}

TEST(tls_session, session_cache_keeps_few_sessions_per_server)
{
    session_cache cache;
    cache.put("a", session_of(TLS1_3_VERSION));
    SSL_SESSION* newest = nullptr;
    for (int n = 0; n < 10; ++n) {
        auto offered = session_of(TLS1_3_VERSION);
        newest = offered.get();
        cache.put("b", std::move(offered));
    }
    EXPECT_EQ(cache.size(), 1 + session_cache::limit_per_server);
    EXPECT_EQ(cache.take("b").get(), newest);
    EXPECT_NE(cache.take("a"), nullptr);

    cache.put("c", session_of(TLS1_2_VERSION));
    auto second = session_of(TLS1_2_VERSION);
    SSL_SESSION* const replaced_by = second.get();
    cache.put("c", std::move(second));
    EXPECT_EQ(cache.size(), session_cache::limit_per_server);  // three of b, one of c
    EXPECT_EQ(cache.take("c").get(), replaced_by);
    EXPECT_EQ(cache.take("c").get(), replaced_by);
}

}  // namespace
}  // namespace holdfast::tls_session_test
