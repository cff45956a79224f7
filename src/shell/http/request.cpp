#include "shell/http/request.hpp"

#include "shell/http/errc.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace holdfast::shell::http {

namespace {

constexpr std::string_view line_end = "\r\n";

/// The characters of a method and of the name of a header.
constexpr bool is_token_character(char c) noexcept
{
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != marks.npos;
}

constexpr bool is_token(std::string_view text) noexcept
{
    return !text.empty() && std::ranges::all_of(text, is_token_character);
}

/// Visible and no space: what stands in the first line.
constexpr bool is_target(std::string_view text) noexcept
{
    return text.starts_with('/') &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

/// No control characters but tabs.
constexpr bool is_value(std::string_view text) noexcept
{
    return std::ranges::none_of(text, [](char c) {
        return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
    });
}

bool is_same(std::string_view a, std::string_view b) noexcept
{
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

/// Headers that write_request() sets itself.
bool is_ours(std::string_view name) noexcept
{
    constexpr std::string_view ours[] = {
        "host",       "authorization",   "user-agent",        "content-type", "content-length",
        "connection", "accept-encoding", "transfer-encoding", "expect",       "upgrade",
        "te",         "trailer"};
    return std::ranges::any_of(ours, [&](std::string_view one) { return is_same(one, name); });
}

error invalid(std::string message)
{
    return error{errc::invalid_request, "the request cannot be sent: " + std::move(message)};
}

result<void> check(const request& what)
{
    if (!is_token(what.method) || what.method == "HEAD" || what.method == "CONNECT")
        return invalid("it has no method that is supported");
    if (!is_target(what.target))
        return invalid("its path must begin with '/', and have no spaces or control characters");
    if (what.host.empty() || !is_target(std::string{'/'}.append(what.host)))
        return invalid("the name of its host is empty or has spaces or control characters");
    const header usual[] = {{"Authorization", what.authorization},
                            {"User-Agent", what.user_agent},
                            {"Content-Type", what.content_type}};
    for (const header& one : usual)
        if (!is_value(one.value))
            return invalid("the header " + std::string{one.name} + " has control characters");
    for (const header& one : what.more) {
        if (!is_token(one.name))
            return invalid("the name of a header is empty or has characters that are not allowed");
        if (is_ours(one.name))
            return invalid("the header " + std::string{one.name} + " is set by the client itself");
        if (!is_value(one.value))
            return invalid("the header " + std::string{one.name} + " has control characters");
    }
    return {};
}

void add(std::string_view text, bson::byte_buffer& to)
{
    if (!text.empty())
        std::memcpy(to.grow(text.size()), text.data(), text.size());
}

void add_header(std::string_view name, std::string_view value, bson::byte_buffer& to)
{
    if (value.empty())
        return;
    add(name, to);
    add(": ", to);
    add(value, to);
    add(line_end, to);
}

}  // namespace

result<void> write_request(const request& what, bson::byte_buffer& to)
{
    if (auto checked = check(what); !checked)
        return checked;
    add(what.method, to);
    add(" ", to);
    add(what.target, to);
    add(" HTTP/1.1\r\n", to);
    add_header("Host", what.host, to);
    add_header("Authorization", what.authorization, to);
    add_header("User-Agent", what.user_agent, to);
    add_header("Content-Type", what.content_type, to);
    for (const header& one : what.more)
        add_header(one.name, one.value, to);
    // Without one, a request by POST or PUT might have a body of unknown length.
    if (!what.body.empty() || (what.method != "GET" && what.method != "DELETE"))
        add_header("Content-Length", std::to_string(what.body.size()), to);
    add(line_end, to);
    add(what.body, to);
    return {};
}

}  // namespace holdfast::shell::http
