#include "world/loopback.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <system_error>

namespace holdfast::proof {
namespace {

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void demand(bool done, const char* what)
{
    if (!done)
        throw std::system_error{errno, std::generic_category(), what};
}

const sockaddr* plain(const sockaddr_in& address)
{
    return reinterpret_cast<const sockaddr*>(&address);
}

/// Binds to any free port, and says which.
std::uint16_t bind_to_loopback(int socket)
{
    sockaddr_in address = loopback(0);
    demand(::bind(socket, plain(address), sizeof address) == 0, "bind");
    socklen_t size = sizeof address;
    demand(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
    return ntohs(address.sin_port);
}

}  // namespace

full_backlog::full_backlog()
{
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    demand(listening >= 0, "socket");
    sockets_.push_back(listening);
    port_ = bind_to_loopback(listening);
    demand(::listen(listening, 0) == 0, "listen");
    for (int i = 0; i < 4; ++i) {
        const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        demand(one >= 0, "socket");
        sockets_.push_back(one);
        const sockaddr_in there = loopback(port_);
        static_cast<void>(::connect(one, plain(there), sizeof there));
    }
}

full_backlog::~full_backlog()
{
    for (const int one : sockets_)
        ::close(one);
}

std::size_t files_and_sockets_open()
{
    const std::filesystem::directory_iterator files{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace holdfast::proof
