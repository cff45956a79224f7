#include "sim/dns.hpp"

#include <algorithm>

namespace holdfast::sim {

std::string normal_name(std::string_view name)
{
    if (name.ends_with('.'))
        name.remove_suffix(1);
    std::string normal{name};
    for (char& c : normal)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return normal;
}

bool is_address(std::string_view text) noexcept
{
    if (text.find(':') != text.npos)
        return true;
    return std::ranges::count(text, '.') == 3 && text.find_first_not_of("0123456789.") == text.npos;
}

bool is_loopback(std::string_view address) noexcept
{
    return address == "::1" || (is_address(address) && address.starts_with("127."));
}

}  // namespace holdfast::sim
