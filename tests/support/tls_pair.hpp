#pragma once
#include "net/tls/layer.hpp"
#include "net/tls/tls.hpp"
#include "support/certificates.hpp"
#include "support/memory_stream.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// Keeps what an awaitable came to: co_spawn wants types with a default value, and ours have none.
template <class T>
runtime::awaitable<void> keep(runtime::awaitable<T> what, std::optional<T>& into)
{
    T value = co_await std::move(what);
    into.emplace(std::move(value));
}

template <class T>
void start(virtual_world& in, runtime::awaitable<T> what, std::optional<T>& into)
{
    boost::asio::co_spawn(in.executor(), keep(std::move(what), into), boost::asio::detached);
}

/// Runs it until nothing more can happen. Nothing: it hangs.
template <class T>
std::optional<T> run(virtual_world& in, runtime::awaitable<T> what)
{
    std::optional<T> value;
    start(in, std::move(what), value);
    in.run();
    return value;
}

inline runtime::tls_options trusting(const std::string& ca)
{
    runtime::tls_options options;
    options.ca_file = certificates::file(ca);
    return options;
}

/// A server that asks its clients for nothing.
inline runtime::tls_options serving(const std::string& certificate)
{
    runtime::tls_options options;
    options.certificate_key_file = certificates::file(certificate);
    options.verify_peer = false;
    return options;
}

inline runtime::tls_ptr layer(const runtime::tls_options& options)
{
    return net::make_tls(options).value();
}

inline std::uint64_t resumed(const runtime::tls_ptr& layer)
{
    return dynamic_cast<const net::openssl_layer&>(*layer).resumed();
}

/// Both ends of a handshake. An empty optional: that end hangs.
struct tls_outcome {
    std::optional<result<runtime::stream_ptr>> client;
    std::optional<result<runtime::stream_ptr>> server;

    bool good() const { return client && server && *client && *server; }
    const error& client_error() const { return client->error(); }
    const error& server_error() const { return server->error(); }
};

inline tls_outcome shake_hands(virtual_world& in, const runtime::tls_ptr& client,
                               const runtime::tls_ptr& server, const std::string& host,
                               memory_limits up = {}, memory_limits down = {})
{
    memory_connection ends{in, up, down};
    tls_outcome outcome;
    start(in, client->connect(std::move(ends.client), host), outcome.client);
    start(in, server->accept(std::move(ends.server)), outcome.server);
    in.run();
    return outcome;
}

inline runtime::awaitable<error_code> receive(runtime::stream& from, std::span<std::uint8_t> into)
{
    error_code why;
    while (!into.empty() && !why) {
        const runtime::io_result got = co_await from.read_some(into);
        into = into.subspan(got.bytes);
        why = got.why;
    }
    co_return why;
}

inline std::vector<std::uint8_t> some_bytes(std::size_t size)
{
    std::vector<std::uint8_t> made(size);
    std::uint32_t state = 1;
    for (std::uint8_t& byte : made) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<std::uint8_t>(state >> 24);
    }
    return made;
}

inline const runtime::tls_ptr& client_layer()
{
    static const auto made = layer(trusting("ca.pem"));
    return made;
}

inline const runtime::tls_ptr& server_layer()
{
    static const auto made = layer(serving("server.pem"));
    return made;
}

/// Two ends that have shaken hands, and the pipes between them.
struct open_pair {
    explicit open_pair(memory_limits up = {}, memory_limits down = {})
    {
        memory_connection ends{world, up, down};
        to_server = ends.up;
        to_client = ends.down;
        tls_outcome outcome;
        start(world, client_layer()->connect(std::move(ends.client), "localhost"), outcome.client);
        start(world, server_layer()->accept(std::move(ends.server)), outcome.server);
        world.run();
        client = std::move(outcome.client).value().value();
        server = std::move(outcome.server).value().value();
    }

    runtime::io_result read(runtime::stream& from, std::span<std::uint8_t> into)
    {
        return run(world, from.read_some(into)).value();
    }

    virtual_world world;
    memory_pipe_ptr to_server;
    memory_pipe_ptr to_client;
    runtime::stream_ptr client;
    runtime::stream_ptr server;
};

}  // namespace holdfast::proof
