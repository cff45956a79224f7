#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/expression.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

namespace holdfast::bson {

/// A document that owns its bytes. Reading goes through its view, to which it converts.
class document {
public:
    document() = default;
    explicit document(bson::view source) { append(source.bytes()); }

    /// Takes over a buffer that holds exactly one document, as a builder has written it.
    static document adopt(byte_buffer bytes) noexcept
    {
        document d;
        d.bytes_ = std::move(bytes);
        return d;
    }

    /// A copy of `bytes`, which must be one document as a whole; elements are checked when read.
    static result<document> parse(std::span<const std::uint8_t> bytes)
    {
        auto checked = view::parse(bytes);
        if (!checked)
            return std::move(checked).error();
        return document{*checked};
    }

    /// Becomes a copy of `source`, which is not a part of it, in the memory that it has if that
    /// is enough.
    void assign(bson::view source)
    {
        bytes_.clear();
        append(source.bytes());
    }

    bson::view view() const noexcept
    {
        return bytes_.empty() ? bson::view{} : bson::view::trusted(bytes_.data());
    }
    operator bson::view() const noexcept { return view(); }

    std::span<const std::uint8_t> bytes() const noexcept { return view().bytes(); }
    std::size_t size() const noexcept { return view().size(); }
    bool empty() const noexcept { return view().empty(); }
    element_iterator begin() const noexcept { return view().begin(); }
    std::default_sentinel_t end() const noexcept { return {}; }
    element find(std::string_view key) const noexcept { return view().find(key); }
    element operator[](std::string_view key) const noexcept { return view().find(key); }
    element find_path(std::string_view path) const noexcept { return view().find_path(path); }
    template <class T>
    result<T> get(std::string_view path) const
    {
        return view().template get<T>(path);
    }

    friend bool operator==(const document& a, const document& b) noexcept
    {
        return a.view() == b.view();
    }

private:
    void append(std::span<const std::uint8_t> bytes)
    {
        std::memcpy(bytes_.grow(bytes.size()), bytes.data(), bytes.size());
    }

    byte_buffer bytes_;  // nothing: the empty document
};

/// An array that owns its bytes.
class array {
public:
    array() = default;
    explicit array(array_view source) : elements_{source.as_document()} {}

    static array adopt(byte_buffer bytes) noexcept
    {
        array a;
        a.elements_ = document::adopt(std::move(bytes));
        return a;
    }

    array_view view() const noexcept { return array_view{elements_.view()}; }
    operator array_view() const noexcept { return view(); }

    std::span<const std::uint8_t> bytes() const noexcept { return elements_.bytes(); }
    bool empty() const noexcept { return elements_.empty(); }
    std::size_t count() const noexcept { return view().count(); }
    element_iterator begin() const noexcept { return elements_.begin(); }
    std::default_sentinel_t end() const noexcept { return {}; }
    element operator[](std::size_t index) const noexcept { return view()[index]; }

    friend bool operator==(const array&, const array&) = default;

private:
    document elements_;
};

template <>
struct codec<document> {
    static result<document> read(const element& e)
    {
        auto seen = codec<view>::read(e);
        if (!seen)
            return std::move(seen).error();
        return document{*seen};
    }
    static void write(auto& out, std::string_view key, const document& value)
    {
        out.put(key, value.view());
    }
};

template <>
struct codec<array> {
    static result<array> read(const element& e)
    {
        auto seen = codec<array_view>::read(e);
        if (!seen)
            return std::move(seen).error();
        return array{*seen};
    }
    static void write(auto& out, std::string_view key, const array& value)
    {
        out.put(key, value.view());
    }
};

/// A document in one expression: `doc("name", "Ada", "born", 1815, "langs", list("en", "fr"))`.
/// Throws `failure` if a key holds a zero byte, and if a text is not UTF-8; use a builder where
/// such comes from outside, or unchecked_text{} for text that is to be stored as it is.
template <class... Parts>
document doc(const Parts&... keys_and_values)
{
    byte_buffer bytes;
    builder out{bytes, check_utf8};
    out.fields(keys_and_values...);
    out.finish().value();
    return document::adopt(std::move(bytes));
}

/// An array in one expression: `arr(1, 2.5, "three")`. Throws as doc() does.
template <class... Parts>
array arr(const Parts&... values)
{
    byte_buffer bytes;
    array_builder out{bytes, check_utf8};
    (out.add(values), ...);
    out.finish().value();
    return array::adopt(std::move(bytes));
}

}  // namespace holdfast::bson
