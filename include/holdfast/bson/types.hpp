#pragma once
#include "holdfast/bson/decimal128.hpp"
#include "holdfast/bson/object_id.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::bson {

/// The type byte of an element. `invalid` is no BSON type: it marks an element that is missing or
/// whose bytes are malformed.
enum class type : std::uint8_t {
    invalid = 0x00,
    double_ = 0x01,
    string = 0x02,
    document = 0x03,
    array = 0x04,
    binary = 0x05,
    undefined = 0x06,  // deprecated
    object_id = 0x07,
    boolean = 0x08,
    datetime = 0x09,
    null = 0x0A,
    regex = 0x0B,
    db_pointer = 0x0C,  // deprecated
    code = 0x0D,
    symbol = 0x0E,           // deprecated
    code_with_scope = 0x0F,  // deprecated
    int32 = 0x10,
    timestamp = 0x11,
    int64 = 0x12,
    decimal128 = 0x13,
    max_key = 0x7F,
    min_key = 0xFF,
};

std::string_view name_of(type t) noexcept;

/// No document that Holdfast reads, checks or prints is nested deeper than this.
inline constexpr int max_depth = 100;

/// The largest document that a length field can name.
inline constexpr std::size_t max_document_size = 0x7F'FF'FF'FF;

enum class binary_subtype : std::uint8_t {
    generic = 0x00,
    function = 0x01,
    binary_old = 0x02,  // deprecated: the payload has a second length in front
    uuid_old = 0x03,    // deprecated: byte order depends on who wrote it
    uuid = 0x04,
    md5 = 0x05,
    encrypted = 0x06,
    column = 0x07,
    sensitive = 0x08,
    vector = 0x09,
    user_defined = 0x80,  // and all above
};

/// Milliseconds since the Unix epoch, the whole int64 range.
using datetime = std::chrono::sys_time<std::chrono::milliseconds>;

/// MongoDB's internal timestamp; not a point in time for applications, use `datetime` for that.
struct timestamp {
    std::uint32_t seconds = 0;
    std::uint32_t increment = 0;
    friend constexpr auto operator<=>(const timestamp&, const timestamp&) = default;
};

struct null {
    friend constexpr bool operator==(null, null) = default;
};
struct undefined {
    friend constexpr bool operator==(undefined, undefined) = default;
};
struct min_key {
    friend constexpr bool operator==(min_key, min_key) = default;
};
struct max_key {
    friend constexpr bool operator==(max_key, max_key) = default;
};

/// The types below point into memory that they do not own.

struct binary {
    std::span<const std::uint8_t> bytes;
    binary_subtype subtype = binary_subtype::generic;

    friend bool operator==(const binary& a, const binary& b) noexcept
    {
        return a.subtype == b.subtype && std::ranges::equal(a.bytes, b.bytes);
    }
};

struct regex {
    std::string_view pattern;
    std::string_view options = {};  // written in alphabetical order
    friend constexpr bool operator==(const regex&, const regex&) = default;
};

/// A string that is written as it is, whether or not it is UTF-8, where others are checked:
/// `doc("old", unchecked_text{bytes})`.
struct unchecked_text {
    std::string_view text;
};

struct code {
    std::string_view source;
    friend constexpr bool operator==(const code&, const code&) = default;
};

struct symbol {
    std::string_view text;
    friend constexpr bool operator==(const symbol&, const symbol&) = default;
};

struct db_pointer {
    std::string_view collection;
    object_id id;
    friend constexpr bool operator==(const db_pointer&, const db_pointer&) = default;
};

}  // namespace holdfast::bson
