#include "core/mongo/handshake/withheld_texts.hpp"

#include "core/sasl/crypto.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace holdfast::core::mongo {
namespace {

/// A server may have truncated what it quotes. Fewer characters than these are no use to a thief,
/// and are in many texts by chance.
constexpr std::size_t shortest_piece = 8;

/// Shorter ones give two to four characters in base64, which are in half of all texts by chance.
constexpr std::size_t shortest_encoded = 4;

char lower_case(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

secret in_lower_case(std::string_view text)
{
    std::vector<char> bytes(text.size());
    std::ranges::transform(text, bytes.begin(), lower_case);
    return secret{std::move(bytes)};
}

secret in_hexadecimal(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::vector<char> bytes;
    bytes.reserve(2 * text.size());
    for (const char c : text) {
        bytes.push_back(digits[static_cast<std::uint8_t>(c) >> 4]);
        bytes.push_back(digits[static_cast<std::uint8_t>(c) & 15U]);
    }
    return secret{std::move(bytes)};
}

}  // namespace

void withheld_texts::add(std::string_view text)
{
    if (text.empty())
        return;
    forms_.push_back(in_lower_case(text));
    if (text.size() < shortest_encoded)
        return;
    std::string base64 = sasl::to_base64(
        {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    while (base64.ends_with('='))
        base64.pop_back();
    forms_.push_back(in_lower_case(base64));
    wipe(base64);
    forms_.push_back(in_hexadecimal(text));
}

bool withheld_texts::occur_in(std::string_view text) const
{
    const secret lowered = in_lower_case(text);
    const std::string_view all = lowered.view();
    return std::ranges::any_of(forms_, [all](const secret& form) {
        const std::string_view whole = form.view();
        const std::size_t piece = std::min(whole.size(), shortest_piece);
        for (std::size_t at = 0; at + piece <= whole.size(); ++at) {
            if (all.find(whole.substr(at, piece)) != all.npos)
                return true;
        }
        return false;
    });
}

}  // namespace holdfast::core::mongo
