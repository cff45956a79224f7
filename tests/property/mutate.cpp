#include "mutate.hpp"

#include <algorithm>
#include <cstring>

namespace holdfast::property {
namespace {

using byte_string = std::vector<std::uint8_t>;

void put_length(byte_string& bytes, std::size_t at, std::uint32_t length)
{
    if (at + sizeof length <= bytes.size())
        std::memcpy(bytes.data() + at, &length, sizeof length);
}

void edit_length(byte_string& bytes, choices& c)
{
    const std::size_t at = c.below(bytes.size());
    std::uint32_t length = 0;
    if (at + sizeof length > bytes.size())
        return;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    static constexpr std::uint32_t changes[] = {1,   ~0U,        2,          ~1U, 4,
                                                ~3U, 0x80000000, 0x7FFFFFFF, 256};
    put_length(bytes, at, length + c.pick(changes));
}

/// Types, lengths, terminators and the bytes that UTF-8 is made of.
void edit_byte(byte_string& bytes, choices& c)
{
    static constexpr std::uint8_t likely[] = {
        0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,
        13,   14,   15,   16,   17,   18,   19,   20,   0x7F, 0x80, 0xBF, 0xC0, 0xC1,
        0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF};
    bytes[c.below(bytes.size())] = c.pick(likely);
}

void splice(byte_string& bytes, choices& c)
{
    const std::size_t from = c.below(bytes.size());
    const std::size_t count = c.below(bytes.size() - from) + 1;
    const auto part = byte_string(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                                  bytes.begin() + static_cast<std::ptrdiff_t>(from + count));
    const auto to = bytes.begin() + static_cast<std::ptrdiff_t>(c.below(bytes.size()));
    if (c.one_in(2))
        bytes.insert(to, part.begin(), part.end());
    else
        std::copy_n(part.begin(), std::min(part.size(), static_cast<std::size_t>(bytes.end() - to)),
                    to);
}

void cut(byte_string& bytes, choices& c)
{
    const std::size_t from = c.below(bytes.size());
    const std::size_t count = c.one_in(2) ? bytes.size() - from : c.below(bytes.size() - from) + 1;
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(from);
    bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void mutate_once(byte_string& bytes, choices& c)
{
    switch (c.below(6)) {
    case 0:
        bytes[c.below(bytes.size())] ^= static_cast<std::uint8_t>(1U << c.below(8));
        break;
    case 1:
    case 2:
        edit_byte(bytes, c);
        break;
    case 3:
        edit_length(bytes, c);
        break;
    case 4:
        splice(bytes, c);
        break;
    default:
        cut(bytes, c);
    }
}

}  // namespace

byte_string mutate(byte_string bytes, choices& c)
{
    for (std::size_t left = c.below(4) + 1; left != 0 && !bytes.empty(); --left)
        mutate_once(bytes, c);
    if (!c.one_in(8)) {
        if (bytes.empty() || bytes.back() != 0)
            bytes.push_back(0);
        put_length(bytes, 0, static_cast<std::uint32_t>(bytes.size()));
    }
    return bytes;
}

byte_string wrap(byte_string bytes, std::size_t levels)
{
    for (; levels != 0; --levels) {
        byte_string outer(4 + 3);
        put_length(outer, 0, static_cast<std::uint32_t>(bytes.size() + 8));
        outer[4] = levels % 2 == 0 ? 3 : 4;
        outer[5] = '0';
        outer.insert(outer.end(), bytes.begin(), bytes.end());
        outer.push_back(0);
        bytes = std::move(outer);
    }
    return bytes;
}

}  // namespace holdfast::property
