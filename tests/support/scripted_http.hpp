#pragma once
#include "runtime/background.hpp"
#include "runtime/stream.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::proof {

/// A request as it came over the wire.
struct http_seen {
    std::string method = {};
    std::string target = {};
    std::string head = {};  // with its first line
    std::string body = {};
    std::size_t connection = 0;  // from 1, in the order of their coming
    time_point when{};

    /// The value of a header, or an empty text.
    std::string header(std::string_view name) const;
};

/// What becomes of a request: the bytes of a reply, and what happens around them.
struct http_answer {
    std::string bytes = {};  // empty: none
    duration delay{};        // before any of it happens
    std::size_t piece = 0;   // so many bytes at a time; 0: all at once
    duration pause{};        // between them
    bool closes = false;     // afterwards
};

/// A reply with that body, by its length.
std::string http_reply_text(std::string_view body, int status = 200,
                            std::string_view more_headers = {});
/// The same in chunks of so many bytes.
std::string http_chunked_text(std::string_view body, std::size_t chunk, int status = 200);
inline http_answer http_ok(std::string_view body, int status = 200)
{
    return {.bytes = http_reply_text(body, status)};
}
/// Closes the connection instead of answering.
inline http_answer http_hang_up()
{
    return {.closes = true};
}

/// A server of HTTP/1.1 that sends scripted bytes, in any world. Each connection is served by one
/// coroutine, request after request.
class scripted_http {
public:
    using script = std::function<http_answer(const http_seen&)>;
    struct shared;

    explicit scripted_http(script what);

    /// Takes connections until stop(), and ends when all of them have.
    runtime::awaitable<void> serve(runtime::world& in, runtime::listener& at);
    /// The same at a port of its own.
    runtime::awaitable<void> serve_at(runtime::world& in, runtime::destination where);
    /// From any thread.
    void stop();
    /// Closes the connections that wait for their next request, or are in the middle of a reply.
    void drop_connections();

    void on(script what);
    /// For connections that come from now on.
    void use_tls(runtime::tls_ptr with);
    std::vector<http_seen> seen() const;
    std::size_t connections() const;  // that ever came
    std::size_t open_connections() const;
    /// Bytes of replies that were handed over to the network.
    std::size_t sent() const;

private:
    std::shared_ptr<shared> shared_;  // outlives the server, if coroutines of it do
};

}  // namespace holdfast::proof
