#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::uri {

inline constexpr std::size_t longest_host = 255;

/// An address taken apart. `problem` is for the user and quotes nothing; empty: there is none.
struct host_and_port {
    std::string host = {};  // lower case; an IPv6 address without its brackets
    std::optional<std::uint16_t> port = {};
    std::string_view problem = {};
};

/// From "host", "host:port", "[v6]" or "[v6]:port".
host_and_port split_host(std::string_view text);

/// What is wrong with a host that stands alone, without brackets; empty: nothing. Characters are
/// refused that no host name has, and that would be misread when an address is split again.
std::string_view host_problem(std::string_view host) noexcept;

/// In lower case; but the zone of an IPv6 address ("fe80::1%Eth0") names a network card, and those
/// keep their case.
std::string lower_case_host(std::string_view host);

/// Distinguishes an IPv6 address from a name; the system checks the rest.
bool looks_like_ipv6(std::string_view host) noexcept;
/// Four numbers with dots between them.
bool looks_like_ipv4(std::string_view host) noexcept;

/// A decimal number from 1 to 65535.
std::optional<std::uint16_t> parse_port(std::string_view digits) noexcept;

/// "host:port", "[v6]:port".
std::string join_host(std::string_view host, std::uint16_t port);

}  // namespace holdfast::core::uri
