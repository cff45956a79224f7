#pragma once
#include "net/tls/openssl.hpp"

#include <cstddef>
#include <list>
#include <mutex>
#include <string>

namespace holdfast::net {

/// The sessions that servers have offered to resume, the oldest first. A ticket of TLS 1.3 is given
/// out once, since using it twice lets an observer link the two connections; a session of TLS 1.2
/// serves until a newer one replaces it. Thread-safe.
class session_cache {
public:
    static constexpr std::size_t limit = 64;
    static constexpr std::size_t limit_per_server = 4;  // a pool opens several connections at once

    void put(const std::string& server, openssl_ptr<SSL_SESSION> offered);

    /// The newest one of that server; null if there is none.
    openssl_ptr<SSL_SESSION> take(const std::string& server);

    std::size_t size() const;

private:
    struct entry {
        std::string server;
        openssl_ptr<SSL_SESSION> session;
        bool once;
    };

    mutable std::mutex mutex_;
    std::list<entry> entries_;
};

}  // namespace holdfast::net
