#pragma once
#include "holdfast/bson/array_index.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/store.hpp"
#include "holdfast/bson/text_check.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::bson {

template <class Buffer>
class basic_builder;
template <class Buffer>
class basic_array_builder;

/// Whatever a codec can write.
template <class T>
concept writable = requires(basic_builder<byte_buffer>& out, std::string_view key, const T& value) {
    codec<T>::write(out, key, value);
};

/// Writes one document at the end of a buffer, in place: its length is filled in when it is closed.
/// Nested documents are builders on the same buffer; while one is open, its parent must rest. After
/// a mistake (a zero byte in a key, a document above 2 GB) a builder goes on and finish() reports,
/// so that callers need not look at each step. Text is taken as it is, unless the builder is made
/// with check_utf8; doc(), arr() and to_bson() make theirs so.
///
///     bson::builder order{out};
///     order.add("item", "rope").add("count", 3);
///     {
///         auto price = order.document("price");
///         price.add("amount", 12.5).add("currency", "EUR");
///     }
///     const result<bson::view> done = order.finish();
template <class Buffer>
class basic_builder {
public:
    explicit basic_builder(Buffer& out) : basic_builder{out, nullptr} {}
    basic_builder(Buffer& out, check_utf8_t) : basic_builder{out, nullptr} { checks_text_ = true; }
    basic_builder(const basic_builder&) = delete;
    basic_builder& operator=(const basic_builder&) = delete;
    ~basic_builder() { close(); }

    /// A value of any type that has a codec, a string literal, a nested object(...) or list(...).
    template <class T>
    basic_builder& add(std::string_view key, const T& value);

    /// Any number of keys and values: `fields("a", 1, "b", true)`.
    basic_builder& fields() { return *this; }
    template <class T, class... Rest>
    basic_builder& fields(std::string_view key, const T& value, const Rest&... keys_and_values)
    {
        return add(key, value).fields(keys_and_values...);
    }

    /// A copy of an element, with its own key or another one.
    basic_builder& copy(const element& e) { return copy(e.key(), e); }
    basic_builder& copy(std::string_view key, const element& e);

    /// A copy of all elements of a document.
    basic_builder& merge(view document);

    basic_builder document(std::string_view key);
    basic_array_builder<Buffer> array(std::string_view key);

    /// JavaScript whose scope is then added to the builder that is returned; deprecated.
    basic_builder code_with_scope(std::string_view key, std::string_view source);

    /// Closes the document and gives it as it lies in the buffer, valid until the buffer grows; or
    /// reports what was wrong with what was added.
    result<view> finish();

    /// The interface for codecs: writes exactly this BSON type.
    void put(std::string_view key, double value) { put_plain(type::double_, key, value); }
    void put(std::string_view key, std::int32_t value) { put_plain(type::int32, key, value); }
    void put(std::string_view key, std::int64_t value) { put_plain(type::int64, key, value); }
    void put(std::string_view key, std::same_as<bool> auto value)
    {
        put_plain(type::boolean, key, static_cast<std::uint8_t>(value));
    }
    void put(std::string_view key, datetime value)
    {
        put_plain(type::datetime, key, std::int64_t{value.time_since_epoch().count()});
    }
    void put(std::string_view key, timestamp value)
    {
        put_plain(type::timestamp, key,
                  std::uint64_t{value.seconds} << 32 | std::uint64_t{value.increment});
    }
    void put(std::string_view key, const object_id& value)
    {
        put_plain(type::object_id, key, value.bytes);
    }
    void put(std::string_view key, const decimal128& value)
    {
        std::uint8_t* const to = start(type::decimal128, key, 16);
        layout::store(layout::store(to, value.low), value.high);
    }
    void put(std::string_view key, null) { start(type::null, key, 0); }
    void put(std::string_view key, undefined) { start(type::undefined, key, 0); }
    void put(std::string_view key, min_key) { start(type::min_key, key, 0); }
    void put(std::string_view key, max_key) { start(type::max_key, key, 0); }
    void put(std::string_view key, std::string_view text) { put_text(type::string, key, text); }
    void put(std::string_view key, code value) { put_text(type::code, key, value.source); }
    void put(std::string_view key, symbol value) { put_text(type::symbol, key, value.text); }
    void put(std::string_view key, const binary& value);
    void put(std::string_view key, const regex& value);
    void put(std::string_view key, const db_pointer& value);
    void put(std::string_view key, const bson::code_with_scope& value);
    void put(std::string_view key, view value) { put_raw(type::document, key, value.bytes()); }
    void put(std::string_view key, array_view value) { put_raw(type::array, key, value.bytes()); }
    void put_raw(type t, std::string_view key, std::span<const std::uint8_t> value_bytes)
    {
        layout::store_bytes(start(t, key, value_bytes.size()), value_bytes.data(),
                            value_bytes.size());
    }

    /// Remembers the first thing that is wrong with what was added.
    void fail(errc what, std::string_view key);

    /// Likewise for text of the field `key`, or a key from outside, if it is not UTF-8.
    void check_text(std::string_view key, std::string_view text, bool is_key = false)
    {
        if (checks_text_ && !is_text(text)) [[unlikely]]
            fail_text(key, text, is_key);
    }

private:
    template <class>
    friend class basic_builder;
    template <class>
    friend class basic_array_builder;

    basic_builder(Buffer& out, basic_builder* parent, std::size_t wrapper = 0)
        : out_{&out}, parent_{parent}, start_{out.size()}, wrapper_{wrapper}
    {
        grow(out, sizeof(std::int32_t));
    }

    /// Writes type and key and makes room for the value; points to that room.
    std::uint8_t* start(type t, std::string_view key, std::size_t value_size);
    template <class T>
    void put_plain(type t, std::string_view key, const T& value)
    {
        layout::store(start(t, key, sizeof value), value);
    }
    void put_text(type t, std::string_view key, std::string_view text);
    void fail_text(std::string_view key, std::string_view text, bool is_key);
    void close();

    Buffer* out_;  // null once closed
    basic_builder* parent_;
    std::size_t start_;
    std::size_t wrapper_;  // of a scope: the bytes before it that its code with scope begins with
    bool checks_text_ = parent_ != nullptr && parent_->checks_text_;
    std::optional<error> fault_;  // the first one; kept by the outermost builder
};

/// Writes an array; the keys "0", "1" ... come by themselves.
template <class Buffer>
class basic_array_builder {
public:
    explicit basic_array_builder(Buffer& out) : inner_{out} {}
    basic_array_builder(Buffer& out, check_utf8_t) : inner_{out, check_utf8} {}

    template <class T>
    basic_array_builder& add(const T& value)
    {
        inner_.add(next_key(), value);
        return *this;
    }
    basic_array_builder& copy(const element& e)
    {
        inner_.copy(next_key(), e);
        return *this;
    }
    basic_builder<Buffer> document() { return inner_.document(next_key()); }
    basic_array_builder array() { return inner_.array(next_key()); }
    result<array_view> finish();

    /// The key of the next element, for writers that use the builder underneath.
    std::string_view next_key() noexcept { return index_.next(); }
    basic_builder<Buffer>& elements() noexcept { return inner_; }

private:
    friend class basic_builder<Buffer>;

    basic_array_builder(Buffer& out, basic_builder<Buffer>* parent) : inner_{out, parent} {}

    basic_builder<Buffer> inner_;
    array_index index_;
};

using builder = basic_builder<byte_buffer>;
using array_builder = basic_array_builder<byte_buffer>;

template <class Buffer>
template <class T>
basic_builder<Buffer>& basic_builder<Buffer>::add(std::string_view key, const T& value)
{
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
        const std::string_view text{value};
        check_text(key, text);
        put(key, text);
    } else if constexpr (std::is_same_v<T, element>)
        copy(key, value);
    else {
        static_assert(writable<T>, "no codec for this type: see docs/bson.md, Your own types");
        codec<T>::write(*this, key, value);
    }
    return *this;
}

template <class Buffer>
basic_builder<Buffer>& basic_builder<Buffer>::copy(std::string_view key, const element& e)
{
    if (e)
        put_raw(e.type(), key, e.value_bytes());
    else
        fail(e.malformed() ? errc::malformed : errc::missing_field, key);
    return *this;
}

template <class Buffer>
basic_builder<Buffer>& basic_builder<Buffer>::merge(view document)
{
    const auto inside = document.bytes().subspan(4, document.size() - 5);
    layout::store_bytes(grow(*out_, inside.size()), inside.data(), inside.size());
    return *this;
}

template <class Buffer>
basic_builder<Buffer> basic_builder<Buffer>::document(std::string_view key)
{
    start(type::document, key, 0);
    return basic_builder{*out_, this};
}

template <class Buffer>
basic_array_builder<Buffer> basic_builder<Buffer>::array(std::string_view key)
{
    start(type::array, key, 0);
    return basic_array_builder<Buffer>{*out_, this};
}

template <class Buffer>
basic_builder<Buffer> basic_builder<Buffer>::code_with_scope(std::string_view key,
                                                             std::string_view source)
{
    const std::size_t wrapper = 4 + 4 + source.size() + 1;
    std::uint8_t* to = start(type::code_with_scope, key, wrapper) + 4;
    to = layout::store(to, static_cast<std::int32_t>(source.size() + 1));
    *layout::store_bytes(to, source.data(), source.size()) = 0;
    return basic_builder{*out_, this, wrapper};
}

template <class Buffer>
std::uint8_t* basic_builder<Buffer>::start(type t, std::string_view key, std::size_t value_size)
{
    std::uint8_t* to = grow(*out_, key.size() + 2 + value_size);
    *to++ = static_cast<std::uint8_t>(t);
    if (!layout::store_key(to, key.data(), key.size())) [[unlikely]] {
        fail(errc::invalid_key, key);
        std::replace(to, to + key.size(), std::uint8_t{0}, std::uint8_t{'?'});
    }
    to += key.size();
    *to++ = 0;
    return to;
}

template <class Buffer>
void basic_builder<Buffer>::put_text(type t, std::string_view key, std::string_view text)
{
    std::uint8_t* to = start(t, key, text.size() + 5);
    to = layout::store(to, static_cast<std::int32_t>(text.size() + 1));
    *layout::store_bytes(to, text.data(), text.size()) = 0;
}

template <class Buffer>
void basic_builder<Buffer>::put(std::string_view key, const binary& value)
{
    const bool old = value.subtype == binary_subtype::binary_old;
    const auto size = static_cast<std::int32_t>(value.bytes.size());
    std::uint8_t* to = start(type::binary, key, value.bytes.size() + (old ? 9 : 5));
    to = layout::store(to, old ? size + 4 : size);
    *to++ = static_cast<std::uint8_t>(value.subtype);
    if (old)
        to = layout::store(to, size);
    layout::store_bytes(to, value.bytes.data(), value.bytes.size());
}

template <class Buffer>
void basic_builder<Buffer>::put(std::string_view key, const regex& value)
{
    const std::size_t pattern = value.pattern.size();
    const std::size_t options = value.options.size();
    std::uint8_t* to = start(type::regex, key, pattern + options + 2);
    to = layout::store_bytes(to, value.pattern.data(), pattern);
    *to++ = 0;
    layout::store_bytes(to, value.options.data(), options);
    to[options] = 0;
    layout::sort_options({to, options});
    if (value.pattern.find('\0') != value.pattern.npos ||
        value.options.find('\0') != value.options.npos)
        fail(errc::invalid_value, key);
}

template <class Buffer>
void basic_builder<Buffer>::put(std::string_view key, const db_pointer& value)
{
    std::uint8_t* to = start(type::db_pointer, key, value.collection.size() + 5 + 12);
    to = layout::store(to, static_cast<std::int32_t>(value.collection.size() + 1));
    to = layout::store_bytes(to, value.collection.data(), value.collection.size());
    *to++ = 0;
    layout::store(to, value.id.bytes);
}

template <class Buffer>
void basic_builder<Buffer>::put(std::string_view key, const bson::code_with_scope& value)
{
    const std::size_t total = 4 + 4 + value.source.size() + 1 + value.scope.size();
    std::uint8_t* to = start(type::code_with_scope, key, total);
    to = layout::store(to, static_cast<std::int32_t>(total));
    to = layout::store(to, static_cast<std::int32_t>(value.source.size() + 1));
    to = layout::store_bytes(to, value.source.data(), value.source.size());
    *to++ = 0;
    layout::store_bytes(to, value.scope.data(), value.scope.size());
}

template <class Buffer>
void basic_builder<Buffer>::fail(errc what, std::string_view key)
{
    if (parent_)
        parent_->fail(what, key);
    else if (!fault_)
        fault_ = build_error(what, key);
}

template <class Buffer>
void basic_builder<Buffer>::fail_text(std::string_view key, std::string_view text, bool is_key)
{
    std::string path{key};
    basic_builder* at = this;
    for (; at->parent_; at = at->parent_) {
        const auto* const bytes = reinterpret_cast<const char*>(out_->data());
        const std::string_view before{bytes, at->start_ - at->wrapper_};
        path.insert(0, std::string{last_key(before)} + '.');
    }
    if (!at->fault_)
        at->fault_ = text_error(path, text, is_key);
}

template <class Buffer>
void basic_builder<Buffer>::close()
{
    if (!out_)
        return;
    *grow(*out_, 1) = 0;
    const std::size_t size = out_->size() - start_;
    if (size > max_document_size) [[unlikely]]
        fail(errc::too_large, {});
    std::uint8_t* const begin = reinterpret_cast<std::uint8_t*>(out_->data()) + start_;
    layout::store(begin, static_cast<std::int32_t>(size));
    if (wrapper_ != 0) [[unlikely]]
        layout::store(begin - wrapper_, static_cast<std::int32_t>(size + wrapper_));
    out_ = nullptr;
}

template <class Buffer>
result<view> basic_builder<Buffer>::finish()
{
    Buffer* const out = out_;
    close();
    if (fault_)
        return *std::move(fault_);
    return view::trusted(reinterpret_cast<const std::uint8_t*>(out->data()) + start_);
}

template <class Buffer>
result<array_view> basic_array_builder<Buffer>::finish()
{
    auto done = inner_.finish();
    if (!done)
        return std::move(done).error();
    return array_view{*done};
}

}  // namespace holdfast::bson
