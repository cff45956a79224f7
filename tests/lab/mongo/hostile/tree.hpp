#pragma once
#include "holdfast/bson/view.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::hostile {

/// One element of a document, in pieces that can be changed: nothing of it has to be right. Read
/// and written by nothing that is under test.
struct tree {
    std::uint8_t type = 0x0A;
    std::string key = {};
    std::string payload = {};  // of all but documents and arrays
    std::vector<tree> inside = {};

    bool nested() const noexcept { return type == 0x03 || type == 0x04; }
};

inline std::string bytes_of(const void* from, std::size_t size)
{
    return {static_cast<const char*>(from), size};
}

template <class Number>
std::string number_bytes(Number value)
{
    return bytes_of(&value, sizeof value);
}

inline tree text_value(std::string_view text)
{
    tree made{0x02};
    made.payload = number_bytes(static_cast<std::int32_t>(text.size() + 1));
    made.payload.append(text).push_back('\0');
    return made;
}

inline std::size_t payload_size(std::uint8_t type, const char* at)
{
    std::int32_t length = 0;
    switch (type) {
    case 0x02:
    case 0x05:
    case 0x0D:
    case 0x0E:
        std::memcpy(&length, at, sizeof length);
        return 4 + static_cast<std::size_t>(length) + (type == 0x05 ? 1 : 0);
    case 0x01:
    case 0x09:
    case 0x11:
    case 0x12:
        return 8;
    case 0x07:
        return 12;
    case 0x08:
        return 1;
    case 0x0B: {
        const std::size_t pattern = std::strlen(at) + 1;
        return pattern + std::strlen(at + pattern) + 1;
    }
    case 0x10:
        return 4;
    case 0x13:
        return 16;
    default:
        return 0;
    }
}

/// `document` is a valid one.
inline tree read_tree(bson::view document)
{
    tree made{0x03};
    const char* at = reinterpret_cast<const char*>(document.data()) + 4;
    while (*at != 0) {
        tree one;
        one.type = static_cast<std::uint8_t>(*at++);
        one.key = at;
        at += one.key.size() + 1;
        if (one.nested()) {
            const auto type = one.type;
            std::string key = std::move(one.key);
            const auto part = bson::view::trusted(reinterpret_cast<const std::uint8_t*>(at));
            one = read_tree(part);
            one.type = type;
            one.key = std::move(key);
            at += part.size();
        } else {
            one.payload = bytes_of(at, payload_size(one.type, at));
            at += one.payload.size();
        }
        made.inside.push_back(std::move(one));
    }
    return made;
}

/// The document, with lengths that are right. Keys of arrays are kept as they are.
inline void write_tree(const tree& from, std::string& to)
{
    const std::size_t begin = to.size();
    to.append(4, '\0');
    for (const tree& one : from.inside) {
        to.push_back(static_cast<char>(one.type));
        to.append(one.key).push_back('\0');
        if (one.nested())
            write_tree(one, to);
        else
            to.append(one.payload);
    }
    to.push_back('\0');
    const auto length = static_cast<std::int32_t>(to.size() - begin);
    std::memcpy(to.data() + begin, &length, sizeof length);
}

}  // namespace holdfast::lab::hostile
