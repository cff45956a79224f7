#include "net/dns/names.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>

namespace holdfast::net {
namespace {

constexpr std::size_t longest_name = 253;  // RFC 1035, as text
constexpr std::size_t longest_label = 63;

constexpr char lower(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view without_brackets(std::string_view host) noexcept
{
    const bool has_both = host.size() > 2 && host.front() == '[' && host.back() == ']';
    return has_both ? host.substr(1, host.size() - 2) : host;
}

std::string_view without_last_dot(std::string_view name) noexcept
{
    return name.substr(0, name.size() - name.ends_with('.'));
}

}  // namespace

std::optional<std::vector<std::string>> known_addresses(std::string_view host)
{
    boost::system::error_code no_address;
    const auto literal = boost::asio::ip::make_address(std::string{without_brackets(host)},
                                                       no_address);
    if (!no_address)
        return std::vector{literal.to_string()};
    const std::string name = in_lower_case(without_last_dot(host));
    if (name == "localhost" || name.ends_with(".localhost"))
        return std::vector<std::string>{"127.0.0.1", "::1"};
    return std::nullopt;
}

bool can_be_asked_for(std::string_view name) noexcept
{
    const std::string_view text = without_last_dot(name);
    return !text.empty() && text.size() <= longest_name &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c != '\x7f'; });
}

bool is_host_name(std::string_view name) noexcept
{
    std::size_t label = 0;
    for (const char c : name) {
        const bool fits = (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
                          c == '-' || c == '_';
        if (c == '.' ? label == 0 : !fits || label == longest_label)
            return false;
        label = c == '.' ? 0 : label + 1;
    }
    return label != 0 && name.size() <= longest_name;
}

std::string in_lower_case(std::string_view name)
{
    std::string text{name};
    std::ranges::transform(text, text.begin(), lower);
    return text;
}

}  // namespace holdfast::net
