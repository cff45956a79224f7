#include "net/address.hpp"

#include "net/failures.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cctype>
#include <cstring>

namespace holdfast::net {

using asio::ip::tcp;

std::vector<address> take_turns(const std::vector<address>& in_order)
{
    std::vector<address> families[2];  // that of the first address, and the other one
    for (const auto& one : in_order)
        families[one.is_v6() != in_order.front().is_v6()].push_back(one);
    std::vector<address> turns;
    turns.reserve(in_order.size());
    for (std::size_t turn = 0; turns.size() < in_order.size(); ++turn)
        for (const auto& family : families)
            if (turn < family.size())
                turns.push_back(family[turn]);
    return turns;
}

std::vector<address> parse_addresses(const std::vector<std::string>& texts)
{
    std::vector<address> parsed;
    parsed.reserve(texts.size());
    for (const auto& text : texts) {
        error_code invalid;
        const auto one = asio::ip::make_address(text, invalid);
        if (!invalid)
            parsed.push_back(one);
    }
    return parsed;
}

std::optional<stream_endpoint> unix_endpoint(std::string_view path)
{
    if (path.size() >= sizeof(sockaddr_un::sun_path))
        return std::nullopt;
    return asio::local::stream_protocol::endpoint{path};
}

stream_endpoint tcp_endpoint(const address& host, std::uint16_t port)
{
    return tcp::endpoint{host, port};
}

namespace {

std::optional<tcp::endpoint> as_tcp(const stream_endpoint& which) noexcept
{
    const int family = which.protocol().family();
    if (family != AF_INET && family != AF_INET6)
        return std::nullopt;
    tcp::endpoint same{family == AF_INET ? tcp::v4() : tcp::v6(), 0};
    std::memcpy(same.data(), which.data(), same.size());
    return same;
}

}  // namespace

std::string describe(const stream_endpoint& which)
{
    const auto known = as_tcp(which);
    if (!known)
        return {};
    return runtime::to_string({known->address().to_string(), known->port()});
}

std::string describe_local(int socket)
{
    stream_endpoint local;
    auto size = static_cast<socklen_t>(local.capacity());
    if (::getsockname(socket, local.data(), &size) != 0)
        return {};
    local.resize(size);
    return describe(local);
}

std::uint16_t port_of(const stream_endpoint& which) noexcept
{
    const auto known = as_tcp(which);
    return known ? known->port() : std::uint16_t{0};
}

std::string cause_text(const error_code& why)
{
    std::string text = why.message();
    // "Connection refused", but not "I/O error".
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0)
        text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

result<stream_endpoint> listening_endpoint(const runtime::destination& where)
{
    if (where.is_path()) {
        if (const auto path = unix_endpoint(where.host))
            return *path;
        return cannot_listen(where, "the path is too long for a socket");
    }
    error_code invalid;
    const auto host = where.host == "localhost" ? address{asio::ip::address_v4::loopback()}
                                                : asio::ip::make_address(where.host, invalid);
    if (invalid)
        return cannot_listen(where, "give an address of this machine, \"localhost\" or a path");
    return tcp_endpoint(host, where.port);
}

void set_connection_options(int socket) noexcept
{
    struct {
        int level, name, value;
    } const options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},    {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 120}, {IPPROTO_TCP, TCP_KEEPINTVL, 10},
        {IPPROTO_TCP, TCP_KEEPCNT, 9},
    };
    for (const auto& option : options) {
        // It fails at once for a Unix socket, which has none of them; else without them it works.
        if (::setsockopt(socket, option.level, option.name, &option.value, sizeof option.value) !=
            0)
            return;
    }
}

bool has_hung_up(int socket) noexcept
{
    pollfd looked_at{socket, POLLRDHUP, 0};
    return ::poll(&looked_at, 1, 0) > 0 &&
           (looked_at.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace holdfast::net
