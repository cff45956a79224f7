#include "core/mongo/settings/address.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/uri/host.hpp"

#include <optional>

namespace holdfast::core::mongo {

namespace {

error bad_address(std::string_view text, std::string_view why)
{
    constexpr std::size_t most_quoted = uri::longest_host + 8;  // brackets and a port
    const std::string_view quoted = text.size() > most_quoted ? text.substr(0, 32) : text;
    return error{errc::invalid_address, "host \"" + std::string{quoted} + "\": " + std::string{why}}
        .with_context("why", std::string{why});
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
    if (text.find('/') != text.npos)
        return bad_address(text, "a Unix socket is a path that ends with .sock, percent-encoded");
    const uri::host_and_port parts = uri::split_host(text);
    if (!parts.problem.empty())
        return bad_address(text, parts.problem);
    return endpoint{uri::join_host(parts.host, parts.port.value_or(default_port))};
}

endpoint reported_address(std::string_view text)
{
    auto parsed = parse_address(text);
    return parsed ? *std::move(parsed) : endpoint{uri::lower_case_host(text)};
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
    return {std::string{host}, uri::parse_port(text.substr(colon + 1)).value_or(default_port)};
}

}  // namespace holdfast::core::mongo
