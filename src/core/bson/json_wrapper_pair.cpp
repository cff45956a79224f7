#include "core/bson/base64.hpp"
#include "core/bson/hex.hpp"
#include "core/bson/json_parse.hpp"
#include "core/bson/quote.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace holdfast::bson {

namespace {

/// One or two hexadecimal digits.
std::optional<std::uint8_t> parse_subtype(std::string_view text) noexcept
{
    if (text.empty() || text.size() > 2)
        return std::nullopt;
    const int high = text.size() == 2 ? hex_value(text.front()) : 0;
    const int low = hex_value(text.back());
    if (high < 0 || low < 0)
        return std::nullopt;
    return static_cast<std::uint8_t>(high << 4 | low);
}

}  // namespace

/// The inside of an object that has exactly these two keys, up to its '}'.
template <class First, class Second>
bool json_parser::two_fields(std::string_view of, std::string_view first, First read_first,
                             std::string_view second, Second read_second)
{
    bool seen_first = false;
    bool seen_second = false;
    do {
        std::string_view key;
        const char* const at = in_.at();
        if (!read_key(key))
            return false;
        const bool is_first = key == first;
        bool& seen = is_first ? seen_first : seen_second;
        if (seen || (!is_first && key != second))
            return in_.fail(std::string{of} + ": unexpected key " + quote(key), at);
        seen = true;
        if (!colon_after(key) || !(is_first ? read_first() : read_second()))
            return false;
    } while (in_.take(','));
    if (!seen_first || !seen_second)
        return in_.unexpected("',' and key " + quote(seen_first ? second : first) + " of " +
                              std::string{of});
    return close(of);
}

bool json_parser::open(std::string_view of)
{
    return in_.take('{') || in_.unexpected("'{' for " + std::string{of});
}

bool json_parser::binary_value(std::size_t type_at, const char* body)
{
    if (in_.peek() == '"')
        return legacy_binary(type_at, body);
    wrapped base64;
    wrapped subtype;
    return open("$binary") &&
           two_fields(
               "$binary", "base64", [&] { return wrapped_text("base64", base64); }, "subType",
               [&] { return wrapped_text("subType", subtype); }) &&
           put_binary(type_at, base64, subtype) && close("$binary");
}

bool json_parser::legacy_binary(std::size_t type_at, const char* body)
{
    wrapped base64;
    wrapped subtype;
    in_.rewind(body);
    return two_fields(
               "$binary", "$binary", [&] { return wrapped_text("$binary", base64); }, "$type",
               [&] { return wrapped_text("$type", subtype); }) &&
           put_binary(type_at, base64, subtype);
}

bool json_parser::put_binary(std::size_t type_at, const wrapped& base64, const wrapped& subtype)
{
    const auto kind = parse_subtype(subtype.text);
    if (!kind)
        return wrong("$binary", "a subtype of one or two hexadecimal digits", subtype);
    const std::size_t room = max_decoded_base64(base64.text.size());
    const bool old = binary_subtype{*kind} == binary_subtype::binary_old;
    const std::size_t before = old ? 9 : 5;  // an old binary repeats its length
    const std::size_t start = out_.size();
    std::uint8_t* to = start_value(type::binary, type_at, before + room);
    const auto size = decode_base64(base64.text, to + before);
    if (!size)
        return wrong("$binary", "base64 with padding", base64);
    const auto length = static_cast<std::int32_t>(*size);
    to = layout::store(to, old ? length + 4 : length);
    *to++ = *kind;
    if (old)
        layout::store(to, length);
    out_.truncate(start + before + *size);
    return true;
}

bool json_parser::regex_value(std::size_t type_at)
{
    wrapped pattern;
    wrapped options;
    return open("$regularExpression") &&
           two_fields(
               "$regularExpression", "pattern", [&] { return wrapped_text("pattern", pattern); },
               "options", [&] { return wrapped_text("options", options); }) &&
           put_regex(type_at, pattern, options);
}

bool json_parser::legacy_regex(std::size_t type_at, const char* body)
{
    wrapped pattern;
    wrapped options;
    in_.rewind(body);
    return two_fields(
               "$regex", "$regex", [&] { return wrapped_text("$regex", pattern); }, "$options",
               [&] { return wrapped_text("$options", options); }) &&
           put_regex(type_at, pattern, options);
}

bool json_parser::put_regex(std::size_t type_at, const wrapped& pattern, const wrapped& options)
{
    for (const wrapped* part : {&pattern, &options}) {
        if (part->text.find('\0') != std::string_view::npos)
            return in_.fail("a regular expression cannot hold a zero byte", part->at);
    }
    const std::size_t size = options.text.size();
    std::uint8_t* to = start_value(type::regex, type_at, pattern.text.size() + size + 2);
    to = layout::store_bytes(to, pattern.text.data(), pattern.text.size());
    *to++ = 0;
    *layout::store_bytes(to, options.text.data(), size) = 0;
    layout::sort_options({to, size});
    return true;
}

bool json_parser::timestamp_value(std::size_t type_at)
{
    std::uint32_t seconds = 0;
    std::uint32_t increment = 0;
    if (!open("$timestamp") || !two_fields(
                                   "$timestamp", "t", [&] { return timestamp_part("t", seconds); },
                                   "i", [&] { return timestamp_part("i", increment); }))
        return false;
    layout::store(layout::store(start_value(type::timestamp, type_at, 8), increment), seconds);
    return true;
}

bool json_parser::timestamp_part(std::string_view name, std::uint32_t& part)
{
    const auto wrong_part = [&](const char* at) {
        return in_.unexpected("an integer from 0 to 4294967295 for " + quote(name), at);
    };
    const char first = in_.peek();
    const char* const at = in_.at();
    json_number read;
    if (first < '0' || first > '9')
        return wrong_part(at);
    if (!in_.number(read))
        return false;
    if (!read.integer || read.whole > std::numeric_limits<std::uint32_t>::max())
        return wrong_part(at);
    part = static_cast<std::uint32_t>(read.whole);
    return true;
}

bool json_parser::db_pointer_value(std::size_t type_at)
{
    wrapped collection;
    object_id id;
    const auto read_id = [&] {
        return open("$id") && only_key("$id", "$oid") && read_object_id(id.bytes.data()) &&
               close("$oid");
    };
    if (!open("$dbPointer") ||
        !two_fields(
            "$dbPointer", "$ref", [&] { return wrapped_text("$ref", collection); }, "$id", read_id))
        return false;
    put_text(type::db_pointer, type_at, collection.text);
    layout::store(out_.grow(sizeof id.bytes), id.bytes);
    return true;
}

/// Code, with or without a scope behind it.
bool json_parser::code_value(std::size_t type_at, int depth)
{
    const std::size_t start = out_.size();
    wrapped code;
    if (!wrapped_text("$code", code))
        return false;
    if (in_.peek() != ',') {
        put_text(type::code, type_at, code.text);
        return close("$code");
    }
    in_.advance();
    out_.grow(4);
    put_text(type::code_with_scope, type_at, code.text);
    if (!only_key("$code", "$scope") || !open("$scope") || !document_body(depth + 1))
        return false;
    layout::store(out_.data() + start, static_cast<std::int32_t>(out_.size() - start));
    return close("$scope");
}

/// A scope that comes before its code. It is written first, and moved when the code is known.
bool json_parser::scope_value(std::size_t type_at, int depth)
{
    const std::size_t start = out_.size();
    if (!open("$scope") || !document_body(depth + 1))
        return false;
    const std::size_t scope_size = out_.size() - start;
    if (!in_.take(','))
        return in_.unexpected("',' and key \"$code\" after $scope");
    wrapped code;
    if (!only_key("$scope", "$code") || !wrapped_text("$code", code))
        return false;
    const std::size_t code_size = code.text.size() + 1;
    start_value(type::code_with_scope, type_at, 8 + code_size);
    std::uint8_t* to = out_.data() + start;
    std::memmove(to + 8 + code_size, to, scope_size);
    to = layout::store(to, static_cast<std::int32_t>(8 + code_size + scope_size));
    to = layout::store(to, static_cast<std::int32_t>(code_size));
    *layout::store_bytes(to, code.text.data(), code.text.size()) = 0;
    return close("$code");
}

}  // namespace holdfast::bson
