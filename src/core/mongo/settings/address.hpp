#pragma once
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::core::mongo {

constexpr char ascii_lower(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline constexpr std::uint16_t default_port = 27017;

/// An endpoint taken apart: "[::1]:27017" is host "::1" and port 27017; the path of a Unix socket
/// is the host, with port 0.
struct address_parts {
    std::string host;
    std::uint16_t port = default_port;
};

/// From "host", "host:port", "[v6]", "[v6]:port" or the path of a Unix socket, which has a slash
/// and ends with .sock: lower case and always with a port, so that one server has one name. The
/// error quotes the text; what is wrong with it stands alone in the context "why", for callers who
/// must not quote.
result<endpoint> parse_address(std::string_view text);

/// The same for names that a server reports, which must not stop the client: what is no address is
/// taken as it is, in lower case.
endpoint reported_address(std::string_view text);

address_parts parts_of(const endpoint& address);

}  // namespace holdfast::core::mongo
