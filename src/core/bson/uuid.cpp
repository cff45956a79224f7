#include "holdfast/bson/uuid.hpp"

#include "core/bson/hex.hpp"
#include "core/bson/quote.hpp"
#include "holdfast/bson/errc.hpp"

#include <algorithm>
#include <span>

namespace holdfast::bson {

namespace {

constexpr std::size_t uuid_text_size = 36;
constexpr std::array<std::size_t, 5> group_sizes = {4, 2, 2, 2, 6};  // in bytes

using uuid_bytes = std::array<std::uint8_t, 16>;

/// From our order to that of `as`, and back: every one of these orders undoes itself.
uuid_bytes reordered(uuid_bytes bytes, uuid_representation as) noexcept
{
    const auto reverse = [&bytes](std::size_t from, std::size_t count) {
        std::ranges::reverse(std::span{bytes}.subspan(from, count));
    };
    switch (as) {
    case uuid_representation::standard:
    case uuid_representation::python_legacy:
        break;
    case uuid_representation::csharp_legacy:  // a GUID: an int32 and two int16, little endian
        reverse(0, 4);
        reverse(4, 2);
        reverse(6, 2);
        break;
    case uuid_representation::java_legacy:  // two int64, little endian
        reverse(0, 8);
        reverse(8, 8);
        break;
    }
    return bytes;
}

bool decode(std::string_view text, uuid_bytes& bytes)
{
    if (text.size() != uuid_text_size)
        return false;
    const char* at = text.data();
    std::size_t filled = 0;
    for (const std::size_t count : group_sizes) {
        if (filled != 0 && *at++ != '-')
            return false;
        if (!decode_hex(at, std::span{bytes}.subspan(filled, count)))
            return false;
        at += 2 * count;
        filled += count;
    }
    return true;
}

std::string subtype_text(binary_subtype subtype)
{
    return std::to_string(static_cast<unsigned>(subtype));
}

}  // namespace

result<uuid> uuid::parse(std::string_view text)
{
    uuid id;
    if (!decode(text, id.bytes))
        return error{errc::invalid_value,
                     "a UUID is 32 hexadecimal digits in groups of 8-4-4-4-12, found " +
                         quote(text)};
    return id;
}

result<uuid> uuid::from_binary(const binary& value, uuid_representation as)
{
    const binary_subtype wanted = subtype_of(as);
    if (value.subtype != wanted) {
        const std::string expected = "binary subtype " + subtype_text(wanted);
        const std::string found = "subtype " + subtype_text(value.subtype);
        return error{errc::wrong_type,
                     "a UUID in this representation is " + expected + ", found " + found}
            .with_context("expected", expected)
            .with_context("found", found);
    }
    uuid_bytes bytes{};
    if (value.bytes.size() != bytes.size())
        return error{errc::invalid_value,
                     "a UUID has 16 bytes, found " + std::to_string(value.bytes.size())};
    std::ranges::copy(value.bytes, bytes.begin());
    return uuid{reordered(bytes, as)};
}

std::array<std::uint8_t, 16> uuid::to_bytes(uuid_representation as) const noexcept
{
    return reordered(bytes, as);
}

std::string uuid::to_string() const
{
    std::string text(uuid_text_size, '-');
    char* at = text.data();
    std::size_t written = 0;
    for (const std::size_t count : group_sizes) {
        at = encode_hex(std::span{bytes}.subspan(written, count), at) + 1;
        written += count;
    }
    return text;
}

}  // namespace holdfast::bson
