// Converts documents, one per line, for programs that compare us with others. A line of hexadecimal
// digits is BSON and becomes canonical and relaxed Extended JSON, a tab between; any other line
// is Extended JSON and becomes hexadecimal BSON. What is neither becomes "error: " and the reason.
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/validate.hpp"

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace holdfast;

constexpr std::string_view digits = "0123456789abcdef";

std::string to_text(const std::string& hex)
{
    std::vector<std::uint8_t> bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
        bytes.push_back(
            static_cast<std::uint8_t>(digits.find(hex[at]) << 4 | digits.find(hex[at + 1])));
    const auto document = bson::validate(bytes);
    if (!document)
        return "error: " + document.error().message();
    const auto canonical = bson::to_json(*document, bson::json_mode::canonical);
    const auto relaxed = bson::to_json(*document, bson::json_mode::relaxed);
    if (!canonical || !relaxed)
        return "error: " + (canonical ? relaxed : canonical).error().message();
    return *canonical + '\t' + *relaxed;
}

std::string to_hex(const std::string& text)
{
    const auto document = bson::from_json(text);
    if (!document)
        return "error: " + document.error().message();
    std::string hex;
    for (const std::uint8_t byte : document->bytes()) {
        hex += digits[byte >> 4];
        hex += digits[byte & 15];
    }
    return hex;
}

}  // namespace

int main()
{
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) {
        const bool is_hex = line.find_first_not_of(digits) == line.npos;
        std::cout << (is_hex ? to_text(line) : to_hex(line)) << '\n';
    }
}
