#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/chrono.hpp"
#include "holdfast/bson/containers.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/mapping_enum.hpp"
#include "holdfast/bson/mapping_rules.hpp"
#include "holdfast/bson/mapping_struct.hpp"
#include "holdfast/bson/read_into.hpp"
#include "holdfast/bson/variant.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <boost/describe.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

/// Your structs as documents, and back. Describe a struct, and it has a codec: it can be converted
/// as a whole, and stand wherever a value can, in doc(...), in a builder, in element::get.
///
///     struct account {
///         std::string owner;
///         double balance = 0;
///     };
///     BOOST_DESCRIBE_STRUCT(account, (), (owner, balance))
///
///     const bson::document stored = bson::to_bson(account{"ada", 100}).value();
///     const result<account> again = bson::from_bson<account>(stored);
///
/// See docs/bson.md for the types that fields may have and mapping_rules.hpp for renaming and more.
namespace holdfast::bson {

/// A type that is a document as a whole: a described struct, a map by std::string, or one with a
/// codec of yours that has read_fields and write_fields.
template <class T>
concept document_type = requires(view from, T& to, reading::state& at, builder& out) {
    { codec<T>::read_fields(from, to, at) } -> std::same_as<bool>;
    codec<T>::write_fields(out, to);
};

/// Writes `value` at the end of `out` and gives it as it lies there, valid until `out` grows. After
/// an error `out` is as it was.
template <class T>
result<view> append_bson(byte_buffer& out, const T& value)
{
    static_assert(document_type<T>,
                  "not a document: describe the struct with BOOST_DESCRIBE_STRUCT (docs/bson.md)");
    const std::size_t before = out.size();
    builder fields{out, check_utf8};
    codec<T>::write_fields(fields, value);
    auto done = fields.finish();
    if (!done) [[unlikely]]
        out.truncate(before);
    return done;
}

/// Fails only for what no document can hold: text that is not UTF-8, a map key with a zero byte, an
/// enum value without a name, a number or time out of range.
template <class T>
result<document> to_bson(const T& value)
{
    byte_buffer bytes;
    auto done = append_bson(bytes, value);
    if (!done) [[unlikely]]
        return std::move(done).error();
    return document::adopt(std::move(bytes));
}

/// The error of a field names its path: "address.lines.2: expected string, found int32". Members
/// that are views (std::string_view, bson::view ...) point into the document.
template <class T>
result<T> from_bson(view from)
{
    static_assert(document_type<T>,
                  "not a document: describe the struct with BOOST_DESCRIBE_STRUCT (docs/bson.md)");
    static_assert(std::default_initializable<T>,
                  "a mapped type is made empty and then filled: give it a default constructor");
    result<T> read{T{}};
    reading::state at;
    if (!codec<T>::read_fields(from, *read, at)) [[unlikely]]
        read = *std::move(at.fault);
    return read;
}

}  // namespace holdfast::bson
