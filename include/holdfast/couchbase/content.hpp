#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/mapping.hpp"
#include "holdfast/json/raw_json.hpp"

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// What a document's content is in C++, and what it is on the server. The type decides:
///   a described struct, or whatever else holdfast::json maps   JSON
///   raw_json                                                   JSON, byte for byte
///   raw_text, raw_bytes                                        a text; bytes
///   a type of yours with a transcoder                          what that says
/// The server keeps the format beside the content, as flags that all Couchbase SDKs share.
namespace holdfast::couchbase {

using holdfast::raw_json;

/// The flags of the common formats. The last byte is that of SDKs before there were common ones.
namespace content_flags {
inline constexpr std::uint32_t json = 0x02000006;
inline constexpr std::uint32_t binary = 0x03000006;
inline constexpr std::uint32_t text = 0x04000006;
}  // namespace content_flags

enum class content_format : std::uint8_t { unknown, own, json, binary, text };

/// The format that flags stand for, those of old SDKs too.
content_format format_of(std::uint32_t flags) noexcept;

/// Content as it is stored.
struct encoded_content {
    std::string bytes = {};
    std::uint32_t flags = content_flags::binary;
};

/// A text that is not JSON. With a constructor, so that it may be written in place where a call is
/// awaited: g++ 12 destroys temporaries of aggregates twice.
struct raw_text {
    raw_text() = default;
    explicit raw_text(std::string content) noexcept : text{std::move(content)} {}

    std::string text;
    friend bool operator==(const raw_text&, const raw_text&) = default;
};

/// Bytes that mean nothing to the server.
struct raw_bytes {
    raw_bytes() = default;
    explicit raw_bytes(std::vector<std::uint8_t> content) noexcept : bytes{std::move(content)} {}

    std::vector<std::uint8_t> bytes;
    friend bool operator==(const raw_bytes&, const raw_bytes&) = default;
};

/// Bytes of the caller's, for the length of a call: a text, or a range of octets such as
/// std::vector<std::uint8_t>.
class byte_view {
public:
    template <class Text>
        requires std::convertible_to<const Text&, std::string_view>
    byte_view(const Text& text) : bytes_{octets_of(text)}
    {
    }
    template <class Octets>
        requires(!std::convertible_to<const Octets&, std::string_view> &&
                 std::convertible_to<const Octets&, std::span<const std::uint8_t>>)
    byte_view(const Octets& octets) : bytes_{octets}
    {
    }

    std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }

private:
    static std::span<const std::uint8_t> octets_of(std::string_view text) noexcept
    {
        return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    }

    std::span<const std::uint8_t> bytes_;
};

/// A transcoder of yours: two functions beside your type, in its namespace.
///
///     result<couchbase::encoded_content> to_content(const image& from);
///     result<image> from_content(std::type_identity<image>, couchbase::encoded_content stored);
template <class T>
concept has_transcoder = requires(const T& value, encoded_content stored) {
    { to_content(value) } -> std::same_as<result<encoded_content>>;
    { from_content(std::type_identity<T>{}, std::move(stored)) } -> std::same_as<result<T>>;
};

/// Whatever can be the content of a document.
template <class T>
concept content_type = has_transcoder<T> || std::same_as<T, raw_json> ||
                       std::same_as<T, raw_text> || std::same_as<T, raw_bytes> || json::mapped<T>;

namespace details {

/// "the document has the flags 0x04000006 (text); this type is read from JSON (0x02000006)".
error flags_do_not_fit(std::uint32_t found, std::uint32_t expected);
/// The error of a mapping, as one of this protocol.
error not_decoded(error mapping);
error not_encoded(error mapping);

inline void append(bson::byte_buffer& out, const void* bytes, std::size_t count)
{
    if (count != 0)
        std::memcpy(out.grow(count), bytes, count);
}

}  // namespace details

/// Writes the content at the end of `out` and gives its flags. Fails with errc::encoding_failure.
template <class T>
result<std::uint32_t> encode_content(bson::byte_buffer& out, const T& value)
{
    static_assert(content_type<T>,
                  "not a content: describe the struct with BOOST_DESCRIBE_STRUCT, or write "
                  "to_content and from_content for it (docs/couchbase-documents.md)");
    if constexpr (has_transcoder<T>) {
        result<encoded_content> encoded = to_content(value);
        if (!encoded)
            return std::move(encoded).error();
        details::append(out, encoded->bytes.data(), encoded->bytes.size());
        return encoded->flags;
    } else if constexpr (std::same_as<T, raw_json>) {
        details::append(out, value.text().data(), value.text().size());
        return content_flags::json;
    } else if constexpr (std::same_as<T, raw_text>) {
        details::append(out, value.text.data(), value.text.size());
        return content_flags::text;
    } else if constexpr (std::same_as<T, raw_bytes>) {
        details::append(out, value.bytes.data(), value.bytes.size());
        return content_flags::binary;
    } else {
        if (auto done = json::append_json(out, value); !done) [[unlikely]]
            return details::not_encoded(std::move(done).error());
        return content_flags::json;
    }
}

/// Reads what was stored. Fails with errc::decoding_failure, also if the flags do not fit the type.
template <class T>
result<T> decode_content(encoded_content stored)
{
    static_assert(content_type<T>,
                  "not a content: describe the struct with BOOST_DESCRIBE_STRUCT, or write "
                  "to_content and from_content for it (docs/couchbase-documents.md)");
    if constexpr (has_transcoder<T>) {
        return from_content(std::type_identity<T>{}, std::move(stored));
    } else if constexpr (std::same_as<T, raw_text>) {
        if (format_of(stored.flags) != content_format::text) [[unlikely]]
            return details::flags_do_not_fit(stored.flags, content_flags::text);
        return raw_text{std::move(stored.bytes)};
    } else if constexpr (std::same_as<T, raw_bytes>) {
        if (format_of(stored.flags) != content_format::binary) [[unlikely]]
            return details::flags_do_not_fit(stored.flags, content_flags::binary);
        return raw_bytes{std::vector<std::uint8_t>(stored.bytes.begin(), stored.bytes.end())};
    } else {
        if (format_of(stored.flags) != content_format::json) [[unlikely]]
            return details::flags_do_not_fit(stored.flags, content_flags::json);
        if constexpr (std::same_as<T, raw_json>) {
            return raw_json{std::move(stored.bytes)};
        } else {
            auto read = json::from_json<T>(stored.bytes);
            if (!read) [[unlikely]]
                return details::not_decoded(std::move(read).error());
            return read;
        }
    }
}

}  // namespace holdfast::couchbase
