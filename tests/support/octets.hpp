#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::proof {

using octets = std::vector<std::uint8_t>;

/// "80 00 0005" as bytes: what is written down in a test is what is on the wire.
inline octets from_hex(std::string_view text)
{
    const auto digit = [](char c) {
        return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    };
    octets bytes;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == ' ' || text[i] == '\n') {
            ++i;
            continue;
        }
        bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) << 4 | digit(text[i + 1])));
        i += 2;
    }
    return bytes;
}

inline octets copy_of(std::span<const std::uint8_t> bytes)
{
    return {bytes.begin(), bytes.end()};
}

}  // namespace holdfast::proof
