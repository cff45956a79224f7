#include "world/raw_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

namespace holdfast::proof {
namespace {

int demand(int outcome, const char* what)
{
    if (outcome < 0)
        throw std::system_error{errno, std::generic_category(), what};
    return outcome;
}

}  // namespace

raw_peer::~raw_peer()
{
    if (socket_ >= 0)
        ::close(socket_);
}

void raw_peer::write(std::string_view text) const
{
    while (!text.empty()) {
        const ssize_t went = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        demand(static_cast<int>(went), "send");
        text.remove_prefix(static_cast<std::size_t>(went));
    }
}

std::string raw_peer::read(std::size_t length) const
{
    std::string text(length, '\0');
    std::size_t have = 0;
    while (have < length) {
        const ssize_t got = ::recv(socket_, text.data() + have, length - have, 0);
        if (got <= 0)
            break;
        have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return text;
}

void raw_peer::close_writing() const
{
    demand(::shutdown(socket_, SHUT_WR), "shutdown");
}

void raw_peer::reset()
{
    const linger at_once{1, 0};
    demand(::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "linger");
    ::close(std::exchange(socket_, -1));
}

raw_door::raw_door(const char* address, std::uint16_t port)
    : socket_{demand(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")}
{
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &at.sin_addr);
    socklen_t size = sizeof at;
    demand(::bind(socket_, reinterpret_cast<sockaddr*>(&at), size), "bind");
    demand(::listen(socket_, 16), "listen");
    demand(::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
    port_ = ntohs(at.sin_port);
}

raw_door::~raw_door()
{
    ::close(socket_);
}

raw_peer raw_door::accept() const
{
    return raw_peer{demand(::accept(socket_, nullptr, nullptr), "accept")};
}

void wait_until_asleep(pid_t thread)
{
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
    for (;;) {
        std::ifstream file{path};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        const std::size_t name_end = text.rfind(") ");
        if (name_end != std::string::npos && text[name_end + 2] == 'S')
            return;
        std::this_thread::yield();
    }
}

pid_t this_thread()
{
    return ::gettid();
}

}  // namespace holdfast::proof
