#include "core/uri/host.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::core::uri {

namespace {

host_and_port bad_host(std::string_view problem)
{
    return {.problem = problem};
}

/// An address before it is checked.
struct host_pieces {
    std::string_view host = {};
    std::optional<std::string_view> port = {};
    std::string_view problem = {};
};

host_pieces split_bracketed(std::string_view text)
{
    const std::size_t close = text.find(']');
    if (close == text.npos)
        return {.problem = "an IPv6 address starts with '[' but has no ']'"};
    host_pieces pieces{.host = text.substr(1, close - 1)};
    const std::string_view rest = text.substr(close + 1);
    if (rest.starts_with(':'))
        pieces.port = rest.substr(1);
    else if (!rest.empty())
        pieces.problem = "only ':' and a port may follow ']'";
    return pieces;
}

host_pieces split_plain(std::string_view text)
{
    const std::size_t colon = text.find(':');
    if (colon == text.npos)
        return {.host = text};
    if (text.find(':', colon + 1) != text.npos)
        return {.problem = "more than one ':'; an IPv6 address is written in brackets"};
    return {.host = text.substr(0, colon), .port = text.substr(colon + 1)};
}

}  // namespace

host_and_port split_host(std::string_view text)
{
    const bool in_brackets = text.starts_with('[');
    const host_pieces pieces = in_brackets ? split_bracketed(text) : split_plain(text);
    if (!pieces.problem.empty())
        return bad_host(pieces.problem);
    if (const auto problem = host_problem(pieces.host); !problem.empty())
        return bad_host(problem);
    if (in_brackets && !looks_like_ipv6(pieces.host))
        return bad_host("what stands in brackets is no IPv6 address");
    host_and_port made{.host = lower_case_host(pieces.host)};
    if (!pieces.port)
        return made;
    made.port = parse_port(*pieces.port);
    if (!made.port)
        return bad_host("a port is a number from 1 to 65535");
    return made;
}

std::string_view host_problem(std::string_view host) noexcept
{
    if (host.empty())
        return "the host name is empty";
    if (host.size() > longest_host)
        return "a host name has at most 255 characters";
    if (host.find('/') != host.npos)
        return "a host name has no slash";
    const bool has_forbidden = std::ranges::any_of(host, [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == 0x7f ||
               std::string_view{"@?#[]<>\"\\"}.find(c) != std::string_view::npos;
    });
    return has_forbidden ? "a host name has no spaces, quotes, brackets, @, ?, # or \\"
                         : std::string_view{};
}

std::string lower_case_host(std::string_view host)
{
    std::string out{host};
    const auto zone = std::ranges::find(out, '%');
    std::transform(out.begin(), zone, out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out;
}

bool looks_like_ipv6(std::string_view host) noexcept
{
    const std::string_view digits = host.substr(0, host.find('%'));
    constexpr std::string_view allowed = "0123456789abcdefABCDEF:.";
    return std::ranges::count(digits, ':') >= 2 && digits.find_first_not_of(allowed) == digits.npos;
}

bool looks_like_ipv4(std::string_view host) noexcept
{
    return std::ranges::count(host, '.') == 3 && host.find_first_not_of("0123456789.") == host.npos;
}

std::optional<std::uint16_t> parse_port(std::string_view digits) noexcept
{
    std::uint16_t port = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (failed != std::errc{} || end != digits.data() + digits.size() || port == 0)
        return std::nullopt;
    return port;
}

std::string join_host(std::string_view host, std::uint16_t port)
{
    const bool is_ipv6 = host.find(':') != host.npos;
    std::string text = is_ipv6 ? "[" : "";
    text.append(host).append(is_ipv6 ? "]:" : ":").append(std::to_string(port));
    return text;
}

}  // namespace holdfast::core::uri
