#pragma once
#include "holdfast/bson/codec.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/raw_json.hpp"
#include "holdfast/json/reader.hpp"
#include "holdfast/json/writer.hpp"

#include <chrono>
#include <concepts>
#include <string>
#include <string_view>

namespace holdfast::json {

/// How a type becomes JSON, and is read from it. Specialise it for a type of yours:
///
///     template <>
///     struct holdfast::json::codec<colour> {
///         static bool read(reader& in, colour& to);              // false after in.fail(...)
///         static bool write(writer& out, const colour& value);   // false after out.fail(...)
///     };
///
/// A codec may have `static bool absent(const T&)`: such a value of a struct is not written; and
/// `static void reset(T&)`, for a member that is missing in the text and need not be there.
template <class T>
struct codec;

template <class T>
concept readable = requires(reader& in, T& to) {
    { codec<T>::read(in, to) } -> std::same_as<bool>;
};
template <class T>
concept writable = requires(writer& out, const T& value) {
    { codec<T>::write(out, value) } -> std::same_as<bool>;
};
/// What can be read and written.
template <class T>
concept mapped = readable<T> && writable<T>;

template <class T>
bool read_value(reader& in, T& to)
{
    static_assert(readable<T>,
                  "no codec reads this type: describe the struct with BOOST_DESCRIBE_STRUCT, or "
                  "specialise holdfast::json::codec (docs/couchbase-documents.md)");
    return codec<T>::read(in, to);
}

template <class T>
bool write_value(writer& out, const T& value)
{
    static_assert(writable<T>,
                  "no codec writes this type: describe the struct with BOOST_DESCRIBE_STRUCT, or "
                  "specialise holdfast::json::codec (docs/couchbase-documents.md)");
    return codec<T>::write(out, value);
}

/// Integers must be whole: 3.0 is read, 3.5 is not.
template <std::integral T>
    requires(!bson::character<T>)
struct codec<T> {
    static bool read(reader& in, T& to) { return in.read(to); }
    static bool write(writer& out, T value) { return out.write(value); }
};

template <>
struct codec<double> {
    static bool read(reader& in, double& to) { return in.read(to); }
    static bool write(writer& out, double value) { return out.write(value); }
};

template <>
struct codec<float> {
    static bool read(reader& in, float& to)
    {
        double wide = 0;
        if (!in.read(wide))
            return false;
        to = static_cast<float>(wide);
        return true;
    }
    static bool write(writer& out, float value) { return out.write(value); }
};

template <>
struct codec<std::string> {
    static bool read(reader& in, std::string& to) { return in.read(to); }
    static bool write(writer& out, std::string_view value) { return out.write(value); }
};

/// Cannot be read: a text with escapes lies nowhere that a view could point to.
template <>
struct codec<std::string_view> {
    static bool write(writer& out, std::string_view value) { return out.write(value); }
};
template <>
struct codec<const char*> {
    static bool write(writer& out, const char* value) { return out.write(std::string_view{value}); }
};

/// A part that was not looked at, or is to be written as it is.
template <>
struct codec<raw_json> {
    static bool read(reader& in, raw_json& to)
    {
        std::string_view text;
        if (!in.skip(text))
            return false;
        to = raw_json{text};
        return true;
    }
    static bool write(writer& out, const raw_json& value) { return out.write_json(value.text()); }
};

/// A number in their own unit: name the unit in the field, as in `timeout_ms`.
template <class Rep, class Period>
struct codec<std::chrono::duration<Rep, Period>> {
    using duration = std::chrono::duration<Rep, Period>;

    static bool read(reader& in, duration& to)
    {
        Rep count{};
        if (!read_value(in, count))
            return false;
        to = duration{count};
        return true;
    }
    static bool write(writer& out, const duration& value)
    {
        return write_value(out, value.count());
    }
};

}  // namespace holdfast::json
