#pragma once
#include "holdfast/bson/codec.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/validate.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::bson {

/// Whatever a codec can read.
template <class T>
concept readable = requires(const element& from) {
    { codec<T>::read(from) } -> std::same_as<result<T>>;
};

/// Reading into an object that already exists, so that structs and containers are filled in place
/// and a success costs no result<T> per field. Codecs of composite types offer it as
///
///     static bool read_into(const element& from, T& to, reading::state& at);
///
/// which gives false after `at.fail(...)`. For all other types read() is enough.
namespace reading {

/// The state that one read passes from level to level.
struct state {
    std::optional<error> fault;
    int depth = 1;             // the outermost document counts as one
    bool trying = false;       // inside a variant, whose other alternatives may have to be tried
    std::size_t budget = 0;  // how many bytes may still be read in vain for it

    bool fail(error why)
    {
        fault = std::move(why);
        return false;
    }
    /// The fault again, seen from outside of `field`.
    bool fail_inside(std::string_view field) { return fail(inside(*std::move(fault), field)); }
};

/// Errors other than a wrong type. The last one does not know its path.
error nested_too_deeply(const element& e);
error unknown_field(const element& e);
error unknown_enumerator(const element& e, std::string_view allowed);
error wrong_subtype(const element& e);
error too_many_alternatives(const element& e);
error wrong_count(std::string_view of, std::size_t expected, std::size_t found);

/// A codec's error names its element; one that forgot (a user's own, perhaps) gets it here.
bool fail_at(const element& e, error why, state& at);

/// The cases in which nothing has to be converted: true if `e` was one of them.
template <class T>
bool plain_value(const element& e, T& to)
{
    if constexpr (std::same_as<T, std::int32_t>) {
        if (e.type() == type::int32) [[likely]]
            return to = e.as_int32(), true;
    } else if constexpr (std::same_as<T, std::int64_t>) {
        if (e.type() == type::int64) [[likely]]
            return to = e.as_int64(), true;
    } else if constexpr (std::same_as<T, double>) {
        if (e.type() == type::double_) [[likely]]
            return to = e.as_double(), true;
    } else if constexpr (std::same_as<T, std::string>) {
        if (e.type() == type::string && is_utf8(e.as_string())) [[likely]]
            return to.assign(e.as_string()), true;
    }
    return false;
}

template <class T>
bool into(const element& e, T& to, state& at)
{
    if constexpr (requires { codec<T>::read_into(e, to, at); }) {
        return codec<T>::read_into(e, to, at);
    } else {
        static_assert(
            readable<T>,
            "no codec reads this type: describe the struct with BOOST_DESCRIBE_STRUCT, or "
            "specialise holdfast::bson::codec (docs/bson.md, Your own types)");
        if (plain_value(e, to)) [[likely]]
            return true;
        auto value = e.malformed() ? result<T>{e.mismatch("a value")} : codec<T>::read(e);
        if (!value) [[unlikely]]
            return fail_at(e, std::move(value).error(), at);
        to = *std::move(value);
        return true;
    }
}

/// Into a new T, which `make` puts where it belongs and gives back: empty, to be filled in place,
/// or from the value that was read, if T cannot be made empty or is a bit of a vector<bool>.
template <class T, class Make>
bool into_new(const element& e, state& at, Make make)
{
    if constexpr (std::default_initializable<T> && !std::same_as<T, bool>) {
        return into(e, make(), at);
    } else {
        static_assert(readable<T>, "no codec reads this type: docs/bson.md, Your own types");
        auto value = codec<T>::read(e);
        if (!value)
            return fail_at(e, std::move(value).error(), at);
        make(*std::move(value));
        return true;
    }
}

/// Runs `read` one level deeper, if `e` has the expected type. All recursion over documents goes
/// through here, so that no bytes from outside can exhaust the stack.
template <class Read>
bool nested(const element& e, type expected, state& at, Read read)
{
    if (e.type() != expected) [[unlikely]]
        return at.fail(e.mismatch(name_of(expected)));
    if (at.depth >= max_depth) [[unlikely]]
        return at.fail(nested_too_deeply(e));
    ++at.depth;
    const bool done = read();
    --at.depth;
    return done || at.fail_inside(e.key());
}

/// The body of read() for codecs that have read_into().
template <class T>
result<T> value(const element& e)
{
    static_assert(std::default_initializable<T>,
                  "a mapped type is made empty and then filled: give it a default constructor");
    result<T> read{T{}};
    state at;
    if (!codec<T>::read_into(e, *read, at)) [[unlikely]]
        read = *std::move(at.fault);
    return read;
}

/// The type under which a C++ type is written, if it is always the same; else `invalid`. A codec
/// of your own may say it with `static constexpr type written_as`.
template <class T>
consteval type written_as()
{
    if constexpr (requires { codec<T>::written_as; })
        return codec<T>::written_as;
    else if constexpr (std::same_as<T, bool>)
        return type::boolean;
    else if constexpr (std::integral<T>)
        return sizeof(T) < 4 || std::same_as<T, std::int32_t> ? type::int32 : type::int64;
    else if constexpr (std::floating_point<T>)
        return type::double_;
    else if constexpr (std::is_convertible_v<const T&, std::string_view>)
        return type::string;
    else if constexpr (std::same_as<T, object_id>)
        return type::object_id;
    else if constexpr (std::same_as<T, datetime>)
        return type::datetime;
    else if constexpr (std::same_as<T, decimal128>)
        return type::decimal128;
    else if constexpr (std::same_as<T, uuid>)
        return type::binary;
    else if constexpr (std::is_convertible_v<const T&, view>)
        return type::document;
    else if constexpr (std::is_convertible_v<const T&, array_view>)
        return type::array;
    else
        return type::invalid;
}

}  // namespace reading

}  // namespace holdfast::bson
