#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::proof {

/// A port on loopback where connections are neither accepted nor refused: its queue is full.
class full_backlog {
public:
    full_backlog();
    full_backlog(const full_backlog&) = delete;
    full_backlog& operator=(const full_backlog&) = delete;
    ~full_backlog();

    std::uint16_t port() const { return port_; }

private:
    std::vector<int> sockets_;
    std::uint16_t port_ = 0;
};

/// How many files and sockets this process has open.
std::size_t files_and_sockets_open();

}  // namespace holdfast::proof
