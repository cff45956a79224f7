#include "core/mongo/settings/address.hpp"

#include "core/mongo/error/errc.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace holdfast::core::mongo {

namespace {

constexpr std::size_t longest_host = 255;

error bad_address(std::string_view text, std::string_view why)
{
    return error{errc::invalid_address, "host \"" + std::string{text} + "\": " + std::string{why}}
        .with_context("why", std::string{why});
}

constexpr char lower(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// In lower case; but the zone of an IPv6 address ("fe80::1%Eth0") names a network card, and those
/// keep their case.
std::string lower(std::string_view text)
{
    std::string out{text};
    const auto zone = std::ranges::find(out, '%');
    std::transform(out.begin(), zone, out.begin(), [](char c) { return lower(c); });
    return out;
}

/// Characters that no host name has, and that would be misread when the address is split again.
bool has_forbidden(std::string_view host)
{
    return std::ranges::any_of(host, [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == 0x7f ||
               std::string_view{"@?#[]<>\"\\"}.find(c) != std::string_view::npos;
    });
}

/// Distinguishes an IPv6 address from a name in brackets; the system checks the rest.
bool looks_like_ipv6(std::string_view text)
{
    const std::string_view digits = text.substr(0, text.find('%'));
    constexpr std::string_view allowed = "0123456789abcdefABCDEF:.";
    return std::ranges::count(digits, ':') >= 2 && digits.find_first_not_of(allowed) == digits.npos;
}

std::optional<std::uint16_t> parse_port(std::string_view digits)
{
    std::uint16_t port = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (failed != std::errc{} || end != digits.data() + digits.size() || port == 0)
        return std::nullopt;
    return port;
}

/// A name without a slash is a host, even if it ends like a socket.
bool is_socket_path(std::string_view text)
{
    return text.ends_with(".sock") && text.find('/') != text.npos;
}

}  // namespace

result<endpoint> parse_address(std::string_view text)
{
    if (is_socket_path(text)) {
        if (text.find('\0') != text.npos)
            return bad_address("", "the path of a Unix socket holds a zero byte");
        return endpoint{std::string{text}};  // paths keep their case
    }
    std::string_view host = text;
    std::string_view port;
    bool has_port = false;
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == text.npos)
            return bad_address(text, "an IPv6 address starts with '[' but has no ']'");
        host = text.substr(0, close + 1);
        const std::string_view rest = text.substr(close + 1);
        has_port = rest.starts_with(':');
        if (!has_port && !rest.empty())
            return bad_address(text, "only ':' and a port may follow ']'");
        if (has_port)
            port = rest.substr(1);
    } else if (const std::size_t colon = text.find(':'); colon != text.npos) {
        if (text.find(':', colon + 1) != text.npos)
            return bad_address(text, "more than one ':'; an IPv6 address is written in brackets");
        host = text.substr(0, colon);
        port = text.substr(colon + 1);
        has_port = true;
    }
    if (host.empty() || host == "[]")
        return bad_address(text, "the host name is empty");
    if (host.size() > longest_host)
        return bad_address(text.substr(0, 32), "a host name has at most 255 characters");
    if (host.find('/') != host.npos)
        return bad_address(text, "a Unix socket is a path that ends with .sock, percent-encoded");
    const bool in_brackets = host.starts_with('[');
    if (in_brackets && !looks_like_ipv6(host.substr(1, host.size() - 2)))
        return bad_address(text, "what stands in brackets is no IPv6 address");
    if (has_forbidden(in_brackets ? host.substr(1, host.size() - 2) : host))
        return bad_address(text, "a host name has no spaces, quotes, brackets, @, ?, # or \\");
    const auto number = has_port ? parse_port(port) : default_port;
    if (!number)
        return bad_address(text, "a port is a number from 1 to 65535");
    return endpoint{lower(host) + ':' + std::to_string(*number)};
}

endpoint reported_address(std::string_view text)
{
    auto parsed = parse_address(text);
    return parsed ? *std::move(parsed) : endpoint{lower(text)};
}

address_parts parts_of(const endpoint& address)
{
    const std::string_view text = address.value();
    if (is_socket_path(text))
        return {std::string{text}, 0};
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos)
        return {std::string{text}, default_port};
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    return {std::string{host}, parse_port(text.substr(colon + 1)).value_or(default_port)};
}

}  // namespace holdfast::core::mongo
