#include "stub_cluster.hpp"
#include "stub_node.hpp"

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

/// Couchbase data nodes that do as little as possible, in one thread, for a client's costs to be
/// measured against: see stub_node.
namespace holdfast::bench {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18;

struct peer {
    peer(int descriptor, const stub_cluster& of) : socket{descriptor}, node{of} {}
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;
    ~peer() { ::close(socket); }

    const int socket;
    stub_node node;
    std::vector<std::uint8_t> in = std::vector<std::uint8_t>(buffer_size);
    std::size_t filled = 0;
    bson::byte_buffer out = {};
};

/// Sockets in epoll are known by their number.
void watch(int poller, int socket)
{
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = socket;
    ::epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
}

int listen_on(std::uint16_t port, std::uint16_t& bound)
{
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(socket, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(socket, 64) != 0)
        return -1;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size);
    bound = ntohs(at.sin_port);
    return socket;
}

bool send_all(int socket, std::span<const std::uint8_t> bytes)
{
    while (!bytes.empty()) {
        const ssize_t gone = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (gone <= 0)
            return false;
        bytes = bytes.subspan(static_cast<std::size_t>(gone));
    }
    return true;
}

/// False if the connection is over.
bool serve(peer& to, std::chrono::microseconds latency)
{
    const ssize_t got = ::recv(to.socket, to.in.data() + to.filled, to.in.size() - to.filled, 0);
    if (got <= 0)
        return false;
    to.filled += static_cast<std::size_t>(got);
    const auto done = to.node.answer({to.in.data(), to.filled}, to.out);
    if (!done || (*done == 0 && to.filled == to.in.size()))
        return false;  // no request of a benchmark is so large
    std::memmove(to.in.data(), to.in.data() + *done, to.filled - *done);
    to.filled -= *done;
    if (to.out.empty())
        return true;
    if (latency.count() != 0)
        std::this_thread::sleep_for(latency);
    const bool sent = send_all(to.socket, to.out.bytes());
    to.out.clear();
    return sent;
}

void accept_peer(int poller, int listener, const stub_cluster& in,
                 std::vector<std::unique_ptr<peer>>& peers)
{
    const int socket = ::accept(listener, nullptr, nullptr);
    if (socket < 0)
        return;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (peers.size() <= static_cast<std::size_t>(socket))
        peers.resize(static_cast<std::size_t>(socket) + 1);
    peers[static_cast<std::size_t>(socket)] = std::make_unique<peer>(socket, in);
    watch(poller, socket);
}

[[noreturn]] void run(const std::vector<int>& listeners, const stub_cluster& in,
                      std::chrono::microseconds latency)
{
    const int poller = ::epoll_create1(0);
    for (const int one : listeners)
        watch(poller, one);
    std::vector<std::unique_ptr<peer>> peers;  // by their sockets
    std::array<epoll_event, 64> ready{};
    for (;;) {
        const int count = ::epoll_wait(poller, ready.data(), static_cast<int>(ready.size()), -1);
        for (int n = 0; n < count; ++n) {
            const auto which = static_cast<std::size_t>(ready[static_cast<std::size_t>(n)].data.fd);
            if (which >= peers.size() || !peers[which])
                accept_peer(poller, static_cast<int>(which), in, peers);
            else if (!serve(*peers[which], latency))
                peers[which].reset();
        }
    }
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv)
{
    using namespace holdfast::bench;
    stub_settings settings;
    std::uint16_t port = 0;
    std::size_t nodes = 1;
    std::uint32_t latency = 0;
    bool proves_nothing = false;
    CLI::App app{"Couchbase data nodes for benchmarks: every get finds the same document."};
    app.add_option("--port", port, "Of the first node")->required();
    app.add_option("--nodes", nodes)->check(CLI::Range(1, 100))->capture_default_str();
    app.add_option("--collections", settings.collections, "c0, c1, ...")->capture_default_str();
    app.add_option("--latency", latency, "Microseconds before each reply")->capture_default_str();
    app.add_option("--user", settings.user)->capture_default_str();
    app.add_option("--password", settings.password)->capture_default_str();
    app.add_flag("--proves-nothing", proves_nothing,
                 "Log in everybody who knows the password, without proving to know it");
    CLI11_PARSE(app, argc, argv);
    settings.proves = !proves_nothing;
    std::signal(SIGPIPE, SIG_IGN);

    std::vector<int> listeners;
    for (std::size_t n = 0; n != nodes; ++n) {
        std::uint16_t bound = 0;
        listeners.push_back(listen_on(n == 0 ? port : 0, bound));
        if (listeners.back() < 0) {
            std::perror("kv_stub");
            return 1;
        }
        settings.ports.push_back(bound);
    }
    const stub_cluster cluster{std::move(settings)};
    run(listeners, cluster, std::chrono::microseconds{latency});
}
