#pragma once
#include "net/socket_types.hpp"
#include "runtime/world.hpp"

#include <boost/asio/ip/address.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net {

using address = asio::ip::address;

/// The order in which to try addresses (RFC 8305, section 4): the families take turns, the family
/// of the first one begins, and within a family nothing changes. So a family that leads nowhere
/// costs one head start, however many addresses it has.
std::vector<address> take_turns(const std::vector<address>& in_order);

/// The addresses among those texts.
std::vector<address> parse_addresses(const std::vector<std::string>& texts);

/// None if the path is too long for the system, which allows a hundred bytes or so.
std::optional<stream_endpoint> unix_endpoint(std::string_view path);
stream_endpoint tcp_endpoint(const address& host, std::uint16_t port);

/// Where to listen: an address of this machine, "localhost" or a path, and no other name.
result<stream_endpoint> listening_endpoint(const runtime::destination& where);

/// TCP with no delay for small writes and with keep-alive; nothing happens to a Unix socket.
void set_connection_options(int socket) noexcept;

/// Whether the other end has closed, or the connection broke, also if there is still something to
/// read. Does not wait.
bool has_hung_up(int socket) noexcept;

/// "127.0.0.1:27017", "[::1]:27017"; an empty text for anything but TCP.
std::string describe(const stream_endpoint& which);
/// The same of this end of a socket.
std::string describe_local(int socket);
std::uint16_t port_of(const stream_endpoint& which) noexcept;

/// The system's words, as part of a sentence of ours: "connection refused".
std::string cause_text(const error_code& why);

}  // namespace holdfast::net
