#pragma once
#include "holdfast/bson/element.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

namespace holdfast::bson {

/// Steps through the elements of a document. If an element is malformed, it is the last that is
/// given, and says so: `element::malformed()`.
class element_iterator {
public:
    using value_type = element;
    using difference_type = std::ptrdiff_t;

    element_iterator() = default;

    const element& operator*() const noexcept { return current_; }
    const element* operator->() const noexcept { return &current_; }

    element_iterator& operator++() noexcept;
    element_iterator operator++(int) noexcept
    {
        auto before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(const element_iterator& a, const element_iterator& b) noexcept
    {
        return a.at_ == b.at_;
    }
    friend bool operator==(const element_iterator& a, std::default_sentinel_t) noexcept
    {
        return a.at_ == a.terminator_;
    }

private:
    friend class view;

    element current_;
    const std::uint8_t* begin_ = nullptr;
    const std::uint8_t* at_ = nullptr;
    const std::uint8_t* terminator_ = nullptr;
};

/// A document in bytes that the view does not own. Its length and its last byte are known to be
/// right; each element is checked when a loop or a look-up comes to it, so that no bytes, however
/// wrong, lead outside. Text is checked when it is asked for. Use validate() to check all at once.
class view {
public:
    /// The empty document.
    view() noexcept : view{empty_bytes, sizeof empty_bytes} {}

    /// All of `bytes` as one document.
    static result<view> parse(std::span<const std::uint8_t> bytes);

    /// The document at the start of `bytes`, which may go on after it.
    static result<view> parse_prefix(std::span<const std::uint8_t> bytes);

    /// For bytes that this library has just written: no check at all.
    static view trusted(const std::uint8_t* document) noexcept
    {
        return {document, load<std::uint32_t>(document)};
    }

    std::span<const std::uint8_t> bytes() const noexcept { return {data_, size_}; }
    const std::uint8_t* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }  // in bytes, at least 5
    bool empty() const noexcept { return size_ == sizeof empty_bytes; }

    element_iterator begin() const noexcept;
    std::default_sentinel_t end() const noexcept { return {}; }

    /// The first element with this key; missing if there is none. Walks the document.
    element find(std::string_view key) const noexcept;
    element operator[](std::string_view key) const noexcept { return find(key); }

    /// The element at a dotted path: "a.b.2.c". Numbers pick from arrays.
    element find_path(std::string_view path) const noexcept;

    /// The value at a dotted path. The error names the whole path.
    template <class T>
    result<T> get(std::string_view path) const
    {
        const element found = find_path(path);
        auto value = found.template get<T>();
        if (!value && found.key().size() != path.size())
            return at_path(std::move(value).error(), path, found);
        return value;
    }

    friend bool operator==(const view& a, const view& b) noexcept
    {
        return a.size_ == b.size_ && std::memcmp(a.data_, b.data_, a.size_) == 0;
    }

private:
    friend class element;

    view(const std::uint8_t* data, std::uint32_t size) noexcept : data_{data}, size_{size} {}

    static error at_path(error e, std::string_view path, const element& found);

    static constexpr std::uint8_t empty_bytes[5] = {5, 0, 0, 0, 0};

    const std::uint8_t* data_;
    std::uint32_t size_;
};

/// An array: a document whose keys are "0", "1" and so on, though readers do not look at them.
class array_view {
public:
    array_view() = default;
    explicit array_view(view elements) noexcept : elements_{elements} {}

    view as_document() const noexcept { return elements_; }
    std::span<const std::uint8_t> bytes() const noexcept { return elements_.bytes(); }
    bool empty() const noexcept { return elements_.empty(); }
    element_iterator begin() const noexcept { return elements_.begin(); }
    std::default_sentinel_t end() const noexcept { return {}; }

    /// By position. Both walk the array.
    element operator[](std::size_t index) const noexcept;
    std::size_t count() const noexcept;

    friend bool operator==(const array_view&, const array_view&) = default;

private:
    view elements_;
};

/// JavaScript with the values of its variables; deprecated.
struct code_with_scope {
    std::string_view source;
    view scope;
    friend bool operator==(const code_with_scope&, const code_with_scope&) = default;
};

inline element_iterator view::begin() const noexcept
{
    element_iterator first;
    first.begin_ = data_;
    first.at_ = data_ + sizeof(std::int32_t);
    first.terminator_ = data_ + size_ - 1;
    if (first.at_ != first.terminator_)
        first.current_.step(first.at_, data_, first.terminator_);
    return first;
}

inline element_iterator& element_iterator::operator++() noexcept
{
    at_ = current_.value_bytes().data() + current_.value_bytes().size();
    if (at_ != terminator_)
        current_.step(at_, begin_, terminator_);
    return *this;
}

inline element view::find(std::string_view key) const noexcept
{
    for (const element& e : *this) {
        if (e.malformed() || e.key() == key)
            return e;
    }
    return element::missing(key);
}

inline result<db_pointer> element::as_db_pointer() const
{
    return read_db_pointer(*this);
}
inline result<code_with_scope> element::as_code_with_scope() const
{
    return read_code_with_scope(*this);
}
inline view element::as_document() const noexcept
{
    return {value_, value_size_};
}
inline array_view element::as_array() const noexcept
{
    return array_view{as_document()};
}
inline regex element::as_regex() const noexcept
{
    const auto* pattern = reinterpret_cast<const char*>(value_);
    const std::size_t length = std::strlen(pattern);
    return {{pattern, length}, {pattern + length + 1, value_size_ - length - 2}};
}
inline binary element::as_binary() const noexcept
{
    const auto subtype = binary_subtype{value_[4]};
    std::span<const std::uint8_t> payload{value_ + 5, value_size_ - 5U};
    if (subtype == binary_subtype::binary_old && payload.size() >= 4 &&
        load<std::uint32_t>(payload.data()) == payload.size() - 4)
        payload = payload.subspan(4);
    return {payload, subtype};
}

}  // namespace holdfast::bson

// Typed access needs the codecs, and they need the view: including one includes both.
#include "holdfast/bson/codec.hpp"  // IWYU pragma: export
