#pragma once
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/uuid.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::bson {

/// Reading of what BSON knows by itself. Numbers convert where nothing is lost: an int64 that fits
/// is read as int32, an int32 as double, the double 3.0 as int64; 3.5 is no integer, and 2^53 + 1
/// is no double.
namespace reading {

result<std::int32_t> int32(const element& e);
result<std::int64_t> int64(const element& e);
result<double> number(const element& e);
result<std::string_view> text(const element& e, type expected = type::string);
result<binary> bytes(const element& e);
result<bson::uuid> uuid_value(const element& e);  // subtype 4
error out_of_range(const element& e, std::string_view expected);

}  // namespace reading

/// A type that is read in one way only, and that a builder can put as it is.
template <type Type, auto Accessor>
struct exact_codec {
    using T = std::invoke_result_t<decltype(Accessor), const element&>;

    static result<T> read(const element& e)
    {
        if (e.type() != Type) [[unlikely]]
            return e.mismatch(name_of(Type));
        return (e.*Accessor)();
    }
    static void write(auto& out, std::string_view key, const T& value) { out.put(key, value); }
};

/// The same for the types that have no value.
template <type Type, class T>
struct unit_codec {
    static result<T> read(const element& e)
    {
        if (e.type() != Type)
            return e.mismatch(name_of(Type));
        return T{};
    }
    static void write(auto& out, std::string_view key, T value) { out.put(key, value); }
};

// clang-format off
template <> struct codec<bool> : exact_codec<type::boolean, &element::as_bool> {};
template <> struct codec<view> : exact_codec<type::document, &element::as_document> {};
template <> struct codec<array_view> : exact_codec<type::array, &element::as_array> {};
template <> struct codec<object_id> : exact_codec<type::object_id, &element::as_object_id> {};
template <> struct codec<datetime> : exact_codec<type::datetime, &element::as_datetime> {};
template <> struct codec<timestamp> : exact_codec<type::timestamp, &element::as_timestamp> {};
template <> struct codec<decimal128> : exact_codec<type::decimal128, &element::as_decimal128> {};
template <> struct codec<null> : unit_codec<type::null, null> {};
template <> struct codec<undefined> : unit_codec<type::undefined, undefined> {};
template <> struct codec<min_key> : unit_codec<type::min_key, min_key> {};
template <> struct codec<max_key> : unit_codec<type::max_key, max_key> {};
// clang-format on

template <>
struct codec<double> {
    static result<double> read(const element& e) { return reading::number(e); }
    static void write(auto& out, std::string_view key, double value) { out.put(key, value); }
};

template <>
struct codec<float> {
    static result<float> read(const element& e)
    {
        const auto wide = reading::number(e);
        if (!wide)
            return wide.error();
        return static_cast<float>(*wide);
    }
    static void write(auto& out, std::string_view key, float value)
    {
        out.put(key, static_cast<double>(value));
    }
};

template <>
struct codec<std::int32_t> {
    static result<std::int32_t> read(const element& e) { return reading::int32(e); }
    static void write(auto& out, std::string_view key, std::int32_t value) { out.put(key, value); }
};

template <>
struct codec<std::int64_t> {
    static result<std::int64_t> read(const element& e) { return reading::int64(e); }
    static void write(auto& out, std::string_view key, std::int64_t value) { out.put(key, value); }
};

template <class T>
concept character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

/// The other integers: those that fit into 32 bits are written as int32, the rest as int64.
template <std::integral T>
    requires(!character<T>)
struct codec<T> {
    static result<T> read(const element& e)
    {
        const auto wide = reading::int64(e);
        if (!wide)
            return wide.error();
        if (!std::in_range<T>(*wide))
            return reading::out_of_range(e, sizeof(T) == 1   ? "an 8-bit integer"
                                            : sizeof(T) == 2 ? "a 16-bit integer"
                                            : sizeof(T) == 4 ? "a 32-bit integer"
                                                             : "an unsigned 64-bit integer");
        return static_cast<T>(*wide);
    }
    static void write(auto& out, std::string_view key, T value)
    {
        if constexpr (sizeof(T) < 4)
            out.put(key, static_cast<std::int32_t>(value));
        else if (std::in_range<std::int64_t>(value))
            out.put(key, static_cast<std::int64_t>(value));
        else
            out.fail(errc::out_of_range, key);
    }
};

template <>
struct codec<std::string_view> {
    static result<std::string_view> read(const element& e) { return reading::text(e); }
    static void write(auto& out, std::string_view key, std::string_view value)
    {
        out.check_text(key, value);
        out.put(key, value);
    }
};

template <>
struct codec<std::string> {
    static result<std::string> read(const element& e)
    {
        auto text = reading::text(e);
        if (!text)
            return std::move(text).error();
        return std::string{*text};
    }
    static void write(auto& out, std::string_view key, const std::string& value)
    {
        codec<std::string_view>::write(out, key, value);
    }
};

/// Cannot be read: std::string_view refuses what is not UTF-8, element::as_string() does not.
template <>
struct codec<unchecked_text> {
    static void write(auto& out, std::string_view key, unchecked_text value)
    {
        out.put(key, value.text);
    }
};

template <>
struct codec<code> {
    static result<code> read(const element& e)
    {
        auto text = reading::text(e, type::code);
        if (!text)
            return std::move(text).error();
        return code{*text};
    }
    static void write(auto& out, std::string_view key, code value)
    {
        out.check_text(key, value.source);
        out.put(key, value);
    }
};

template <>
struct codec<regex> : exact_codec<type::regex, &element::as_regex> {
    static void write(auto& out, std::string_view key, const regex& value)
    {
        out.check_text(key, value.pattern);
        out.put(key, value);
    }
};

template <>
struct codec<symbol> {
    static result<symbol> read(const element& e)
    {
        auto text = reading::text(e, type::symbol);
        if (!text)
            return std::move(text).error();
        return symbol{*text};
    }
    static void write(auto& out, std::string_view key, symbol value)
    {
        out.check_text(key, value.text);
        out.put(key, value);
    }
};

template <>
struct codec<binary> {
    static result<binary> read(const element& e) { return reading::bytes(e); }
    static void write(auto& out, std::string_view key, const binary& value) { out.put(key, value); }
};

template <>
struct codec<uuid> {
    static result<uuid> read(const element& e) { return reading::uuid_value(e); }
    static void write(auto& out, std::string_view key, const uuid& value)
    {
        out.put(key, binary{value.bytes, binary_subtype::uuid});
    }
};

template <>
struct codec<db_pointer> {
    static result<db_pointer> read(const element& e) { return e.as_db_pointer(); }
    static void write(auto& out, std::string_view key, const db_pointer& value)
    {
        out.put(key, value);
    }
};

template <>
struct codec<code_with_scope> {
    static result<code_with_scope> read(const element& e) { return e.as_code_with_scope(); }
    static void write(auto& out, std::string_view key, const code_with_scope& value)
    {
        out.put(key, value);
    }
};

}  // namespace holdfast::bson
