#pragma once
#include "holdfast/error.hpp"
#include "lab/serve/conversation.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/tls.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::lab {

/// The server behind a port, as the port sees it.
class acceptor {
public:
    virtual ~acceptor() = default;

    /// Whether another connection may be accepted; if not, it is closed at once (a rate limiter).
    virtual bool admits() = 0;
    virtual std::unique_ptr<conversation> accept(runtime::world& in, std::string peer) = 0;
    /// The event of need::news.
    virtual runtime::event& news() = 0;
};

/// What a port does instead of a TLS handshake.
enum class handshake_fault : std::uint8_t {
    none,
    garbage,  // bytes that are no TLS
    alert,  // the client is refused
    cut,  // the connection is closed
    silent,
};

struct port_options {
    runtime::destination where;  // port 0: any
    runtime::tls_ptr tls = {};
    handshake_fault handshake = handshake_fault::none;
};

/// A port, open from the first moment until stop() or the end of this object. All connections are
/// closed then. If the server behind it answers later, stop() and wait for ended() before that
/// server is destroyed.
class open_port {
public:
    static result<std::unique_ptr<open_port>> open(runtime::world& in,
                                                   std::unique_ptr<acceptor> behind,
                                                   port_options options);
    virtual ~open_port() = default;
    virtual std::uint16_t port() const noexcept = 0;
    /// Accepts no more connections and ends those that are open.
    virtual void stop() = 0;
    virtual runtime::awaitable<void> ended() = 0;
    /// Ends connections, but goes on listening.
    virtual void close_connections(bool internal_too) = 0;
    /// For handshakes that begin from now on, on a port with TLS.
    virtual void set_tls(runtime::tls_ptr tls, handshake_fault handshake) = 0;
    /// Lets those go on that wait for a time.
    virtual void wake_connections() = 0;
    virtual std::size_t connections() const noexcept = 0;
};

}  // namespace holdfast::lab
