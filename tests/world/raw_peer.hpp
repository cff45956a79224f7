#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::proof {

/// The other end of a connection, with plain system calls: it knows nothing of what is tested.
class raw_peer {
public:
    explicit raw_peer(int socket) : socket_{socket} {}
    raw_peer(raw_peer&& other) noexcept : socket_{std::exchange(other.socket_, -1)} {}
    ~raw_peer();

    void write(std::string_view text) const;
    std::string read(std::size_t length) const;  // less only at the end
    void close_writing() const;
    void reset();  // rudely
    int socket() const { return socket_; }

private:
    int socket_;
};

/// Takes connections on loopback.
class raw_door {
public:
    explicit raw_door(const char* address = "127.0.0.1", std::uint16_t port = 0);
    raw_door(const raw_door&) = delete;
    raw_door& operator=(const raw_door&) = delete;
    ~raw_door();

    raw_peer accept() const;
    std::uint16_t port() const { return port_; }

private:
    int socket_;
    std::uint16_t port_ = 0;
};

/// Comes back when that thread sleeps in the kernel.
void wait_until_asleep(pid_t thread);
pid_t this_thread();

}  // namespace holdfast::proof
