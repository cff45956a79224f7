#pragma once
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::bson {

class view;
class array_view;
class element_iterator;
struct code_with_scope;

/// Reads a number from bytes in BSON's order, little endian, at any alignment.
template <class T>
T load(const std::uint8_t* from) noexcept
{
    static_assert(std::endian::native == std::endian::little, "BSON is read in place");
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// Reads a C++ type from an element and writes it with a builder. Specialise it for a type of
/// your own (see docs/bson.md):
///
///     template <>
///     struct holdfast::bson::codec<money> {
///         static result<money> read(const element& from);
///         static void write(auto& out, std::string_view key, const money& value);
///     };
template <class T>
struct codec;

/// One key and its value inside a document, seen in place. An element can also be missing (a
/// look-up found nothing) or malformed (its bytes are no BSON): then its type is `invalid`, it
/// converts to false, and every typed access is an error that says which of the two it was.
class element {
public:
    constexpr element() = default;

    explicit operator bool() const noexcept { return type_ != bson::type::invalid; }
    bson::type type() const noexcept { return type_; }
    std::string_view key() const noexcept
    {
        return {reinterpret_cast<const char*>(key_), key_size_};
    }
    bool is_null() const noexcept { return type_ == bson::type::null; }
    bool malformed() const noexcept { return type_ == bson::type::invalid && value_ != nullptr; }

    /// The byte where it starts.
    const std::uint8_t* data() const noexcept { return key_ - 1; }

    /// The value as T. Numbers convert where nothing is lost; text is checked to be UTF-8.
    template <class T>
    result<T> get() const
    {
        return codec<T>::read(*this);
    }

    /// The bytes of the value as they lie in the document, without type and key.
    std::span<const std::uint8_t> value_bytes() const noexcept { return {value_, value_size_}; }

    /// The whole element, with type and key, ready to be copied into another document.
    std::span<const std::uint8_t> bytes() const noexcept
    {
        return {key_ - 1, static_cast<std::size_t>(value_ + value_size_ - (key_ - 1))};
    }

    /// Direct access for code that has just switched on type(); the type must be the one named.
    /// Bounds were checked when the element was found, text is given as it lies there.
    double as_double() const noexcept { return load<double>(value_); }
    std::int32_t as_int32() const noexcept { return load<std::int32_t>(value_); }
    std::int64_t as_int64() const noexcept { return load<std::int64_t>(value_); }
    bool as_bool() const noexcept { return *value_ != 0; }
    datetime as_datetime() const noexcept
    {
        return datetime{std::chrono::milliseconds{load<std::int64_t>(value_)}};
    }
    timestamp as_timestamp() const noexcept
    {
        return {load<std::uint32_t>(value_ + 4), load<std::uint32_t>(value_)};
    }
    object_id as_object_id() const noexcept { return {load<std::array<std::uint8_t, 12>>(value_)}; }
    decimal128 as_decimal128() const noexcept
    {
        return {load<std::uint64_t>(value_), load<std::uint64_t>(value_ + 8)};
    }
    /// A string, code or symbol.
    std::string_view as_string() const noexcept
    {
        return {reinterpret_cast<const char*>(value_) + 4, value_size_ - 5};
    }
    regex as_regex() const noexcept;
    /// An old binary (subtype 2) gives its payload, without the second length if that is right.
    binary as_binary() const noexcept;
    view as_document() const noexcept;
    array_view as_array() const noexcept;

    /// These two have an inner structure that is checked here.
    result<db_pointer> as_db_pointer() const;
    result<code_with_scope> as_code_with_scope() const;

    /// The error of a typed access: missing, malformed, or "key: expected int32, found string".
    error mismatch(std::string_view expected) const { return mismatch_of(*this, expected); }

    /// The error text of a malformed element.
    std::string fault() const;

private:
    friend class view;
    friend class element_iterator;

    static element missing(std::string_view key) noexcept;
    void step(const std::uint8_t* at, const std::uint8_t* begin,
              const std::uint8_t* terminator) noexcept;
    void be_malformed(const std::uint8_t* at, const std::uint8_t* begin,
                      const std::uint8_t* terminator) noexcept;
    static std::size_t measure(std::size_t rule, const std::uint8_t* value,
                               std::ptrdiff_t room) noexcept;
    static std::size_t measure_two_texts(const std::uint8_t* value, std::ptrdiff_t room) noexcept;

    // Bodies that are not inline get a copy: a loop whose element never lends out its address can
    // keep it in registers, and is a quarter shorter.
    static error mismatch_of(element e, std::string_view expected);
    static result<db_pointer> read_db_pointer(element e);
    static result<code_with_scope> read_code_with_scope(element e);

    const std::uint8_t* key_ = nullptr;
    const std::uint8_t* value_ = nullptr;  // of a malformed element: the document's terminator
    std::uint32_t key_size_ = 0;
    std::uint32_t value_size_ = 0;
    bson::type type_ = bson::type::invalid;
    std::uint32_t offset_ = 0;  // of a malformed element
};

namespace layout {

/// The size of a value as far as its type byte determines it: the size itself or, from
/// `variable` on, which of the shapes below it has.
enum size_rule : std::uint8_t {
    variable = 0xF0,
    text = variable,
    nested,
    bytes,
    pointer,
    scoped,
    two_texts,
    no_type,
};

/// A value that begins with a length: how long it is beyond that, the least length, and whether its
/// last byte must be zero.
struct shape {
    std::uint32_t least;
    std::uint8_t extra;
    bool terminated;
};
inline constexpr shape shapes[] = {
    {1, 4, true},  // text
    {5, 0, true},  // nested
    {0, 5, false},  // bytes
    {0, 16, false},  // pointer
    {14, 0, false},  // scoped: the length is that of the whole value
    {UINT32_MAX, 0, false},  // two_texts have no length
    {UINT32_MAX, 0, false},  // no_type
};

consteval std::array<std::uint8_t, 256> fixed_sizes()
{
    std::array<std::uint8_t, 256> size{};
    size.fill(no_type);
    const auto set = [&](type t, std::uint8_t n) { size[static_cast<std::uint8_t>(t)] = n; };
    for (const type t : {type::undefined, type::null, type::min_key, type::max_key})
        set(t, 0);
    for (const type t : {type::double_, type::datetime, type::timestamp, type::int64})
        set(t, 8);
    set(type::boolean, 1);
    set(type::int32, 4);
    set(type::object_id, 12);
    set(type::decimal128, 16);
    for (const type t : {type::string, type::code, type::symbol})
        set(t, text);
    set(type::document, nested);
    set(type::array, nested);
    set(type::binary, bytes);
    set(type::db_pointer, pointer);
    set(type::code_with_scope, scoped);
    set(type::regex, two_texts);
    return size;
}
inline constexpr std::array<std::uint8_t, 256> fixed_size = fixed_sizes();

/// The length of the key that begins at `key`, in a document whose last byte, a zero, is that at
/// `terminator`. Keys are short: to look at eight bytes at a time costs less than to call strlen.
inline std::size_t key_size(const std::uint8_t* key, const std::uint8_t* terminator) noexcept
{
    const std::uint8_t* at = key;
    for (; terminator - at >= 7; at += 8) {
        const auto chunk = load<std::uint64_t>(at);
        const std::uint64_t zeros = (chunk - 0x0101010101010101) & ~chunk & 0x8080808080808080;
        if (zeros != 0) [[likely]]  // its lowest bit is that of the first zero byte
            return static_cast<std::size_t>(at - key) +
                   static_cast<unsigned>(std::countr_zero(zeros)) / 8;
    }
    while (*at != 0)
        ++at;
    return static_cast<std::size_t>(at - key);
}

}  // namespace layout

/// Becomes the element at `at`, which lies before the document's terminator. Because a document
/// always ends with a zero byte, a search for the end of a key or text cannot leave it.
inline void element::step(const std::uint8_t* at, const std::uint8_t* begin,
                          const std::uint8_t* terminator) noexcept
{
    const std::uint8_t* const key = at + 1;
    const std::size_t key_size = layout::key_size(key, terminator);
    const std::uint8_t* const value = key + key_size + 1;
    const std::ptrdiff_t room = terminator - value;  // -1 if the key was not ended
    std::size_t size = layout::fixed_size[*at];
    if (size >= layout::variable)
        size = measure(size, value, room);
    if (static_cast<std::ptrdiff_t>(size) > room) [[unlikely]]
        return be_malformed(at, begin, terminator);
    key_ = key;
    value_ = value;
    key_size_ = static_cast<std::uint32_t>(key_size);
    value_size_ = static_cast<std::uint32_t>(size);
    type_ = bson::type{*at};
}

inline void element::be_malformed(const std::uint8_t* at, const std::uint8_t* begin,
                                  const std::uint8_t* terminator) noexcept
{
    key_ = at + 1;
    key_size_ = 0;
    value_ = terminator;  // where the walk goes on, and so ends
    value_size_ = 0;
    type_ = bson::type::invalid;
    offset_ = static_cast<std::uint32_t>(at - begin);
}

/// The size of a value whose type does not determine it; more than `room` if it is malformed.
inline std::size_t element::measure(std::size_t rule, const std::uint8_t* value,
                                    std::ptrdiff_t room) noexcept
{
    constexpr std::size_t malformed = PTRDIFF_MAX;
    if (rule == layout::two_texts) [[unlikely]]
        return measure_two_texts(value, room);
    if (room < 5)
        return malformed;
    const layout::shape& shape = layout::shapes[rule - layout::variable];
    const auto length = load<std::uint32_t>(value);
    const std::size_t size = std::size_t{length} + shape.extra;
    if (length < shape.least || size > static_cast<std::size_t>(room))
        return malformed;
    return shape.terminated && value[size - 1] != 0 ? malformed : size;
}

}  // namespace holdfast::bson
