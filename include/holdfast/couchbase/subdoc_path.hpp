#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/mapping.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// The paths of lookup_in and the changes of mutate_in, one by one: `cb::get("a.b[0]")`,
/// `cb::upsert("a", 1).create_path()`. The empty path is the whole document.
namespace holdfast::couchbase {

/// What is done with one path, by its number in the protocol.
enum class path_command : std::uint8_t {
    get_document = 0x00,
    set_document = 0x01,
    remove_document = 0x04,
    get = 0xc5,
    exists = 0xc6,
    insert = 0xc7,
    upsert = 0xc8,
    remove = 0xc9,
    replace = 0xca,
    array_append = 0xcb,
    array_prepend = 0xcc,
    array_insert = 0xcd,
    array_add_unique = 0xce,
    counter = 0xcf,
    count = 0xd2,
    replace_body_with_xattr = 0xd3,
};

namespace path_flags {
inline constexpr std::uint8_t create_path = 0x01;
inline constexpr std::uint8_t xattr = 0x04;
inline constexpr std::uint8_t expand_macros = 0x10;
inline constexpr std::uint8_t binary = 0x20;
}  // namespace path_flags

/// One path of a lookup.
class lookup_path {
public:
    lookup_path(path_command command, std::string_view path) : command_{command}, path_{path} {}

    /// In the document's extended attributes, which are beside its body: "$document.exptime" and
    /// other names that begin with a dollar are the server's own.
    lookup_path&& xattr() && { return std::move(set(path_flags::xattr)); }
    /// An extended attribute that is bytes, not JSON.
    lookup_path&& binary() && { return std::move(set(path_flags::xattr | path_flags::binary)); }

    path_command command() const noexcept { return command_; }
    std::uint8_t flags() const noexcept { return flags_; }
    bool is_xattr() const noexcept { return (flags_ & path_flags::xattr) != 0; }
    const std::string& path() const noexcept { return path_; }

private:
    lookup_path& set(unsigned bits) noexcept
    {
        flags_ = static_cast<std::uint8_t>(flags_ | bits);
        return *this;
    }

    path_command command_;
    std::uint8_t flags_ = 0;
    std::string path_;
};

inline lookup_path get(std::string_view path)
{
    return {path.empty() ? path_command::get_document : path_command::get, path};
}
inline lookup_path exists(std::string_view path)
{
    return {path_command::exists, path};
}
/// The number of elements of an array, or of members of an object.
inline lookup_path count(std::string_view path)
{
    return {path_command::count, path};
}

/// A value that the server fills in when it makes the change; for extended attributes.
struct mutation_macro {
    std::string_view text;

    static const mutation_macro cas;
    static const mutation_macro sequence_number;
    static const mutation_macro value_crc32c;
};
inline constexpr mutation_macro mutation_macro::cas{"\"${Mutation.CAS}\""};
inline constexpr mutation_macro mutation_macro::sequence_number{"\"${Mutation.seqno}\""};
inline constexpr mutation_macro mutation_macro::value_crc32c{"\"${Mutation.value_crc32c}\""};

/// One change of a document.
class path_change {
public:
    path_change(path_command command, std::string_view path) : command_{command}, path_{path} {}

    path_change&& xattr() && { return std::move(set(path_flags::xattr)); }
    /// Makes the objects that lead to the path, if they are missing.
    path_change&& create_path() && { return std::move(set(path_flags::create_path)); }

    path_command command() const noexcept { return command_; }
    std::uint8_t flags() const noexcept { return flags_; }
    bool is_xattr() const noexcept { return (flags_ & path_flags::xattr) != 0; }
    const std::string& path() const noexcept { return path_; }
    std::string_view value() const noexcept
    {
        return {reinterpret_cast<const char*>(value_.data()), value_.size()};
    }
    /// Why it cannot be sent: a value that JSON cannot hold. Null if it can.
    const error* fault() const noexcept { return fault_ ? &*fault_ : nullptr; }

    /// Adds a value, behind a comma if it is not the first.
    template <class T>
    path_change& add(const T& value)
    {
        if (!value_.empty())
            *value_.grow(1) = ',';
        if constexpr (std::same_as<T, mutation_macro>) {
            value.text.copy(reinterpret_cast<char*>(value_.grow(value.text.size())),
                            value.text.size());
            set(path_flags::expand_macros | path_flags::xattr);
        } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            keep(json::append_json(value_, std::string_view{value}));
        } else {
            keep(json::append_json(value_, value));
        }
        return *this;
    }
    path_change& refuse(std::string_view message);

private:
    void keep(const result<std::string_view>& written)
    {
        if (!written && !fault_)
            fault_ = written.error();
    }
    path_change& set(unsigned bits) noexcept
    {
        flags_ = static_cast<std::uint8_t>(flags_ | bits);
        return *this;
    }

    path_command command_;
    std::uint8_t flags_ = 0;
    std::string path_;
    bson::byte_buffer value_;
    std::optional<error> fault_;
};

/// Sets a member, whether it is there or not. The empty path replaces the whole body.
template <class T>
path_change upsert(std::string_view path, const T& value)
{
    path_change change{path.empty() ? path_command::set_document : path_command::upsert, path};
    return std::move(change.add(value));
}
/// Adds a member that must not be there.
template <class T>
path_change insert(std::string_view path, const T& value)
{
    path_change change{path_command::insert, path};
    if (path.empty())
        change.refuse("to insert a whole document, use upsert(\"\") and store_semantics::insert");
    return std::move(change.add(value));
}
/// Changes a value that must be there.
template <class T>
path_change replace(std::string_view path, const T& value)
{
    path_change change{path.empty() ? path_command::set_document : path_command::replace, path};
    return std::move(change.add(value));
}
inline path_change remove(std::string_view path)
{
    return {path.empty() ? path_command::remove_document : path_command::remove, path};
}

/// Adds values, in this order, at the end of an array; at its front; before the element that the
/// path names.
template <class... Values>
path_change array_append(std::string_view path, const Values&... values)
{
    static_assert(sizeof...(Values) > 0);
    path_change change{path_command::array_append, path};
    (change.add(values), ...);
    return change;
}
template <class... Values>
path_change array_prepend(std::string_view path, const Values&... values)
{
    static_assert(sizeof...(Values) > 0);
    path_change change{path_command::array_prepend, path};
    (change.add(values), ...);
    return change;
}
template <class... Values>
path_change array_insert(std::string_view path, const Values&... values)
{
    static_assert(sizeof...(Values) > 0);
    path_change change{path_command::array_insert, path};
    (change.add(values), ...);
    return change;
}
/// Adds a number, text, boolean or null to an array that does not have it yet.
template <class T>
path_change array_add_unique(std::string_view path, const T& value)
{
    path_change change{path_command::array_add_unique, path};
    return std::move(change.add(value));
}

/// Adds to a number, which is made if it is missing. Its new value is the content of the result.
inline path_change increment(std::string_view path, std::int64_t by = 1)
{
    path_change change{path_command::counter, path};
    if (by == 0)
        change.refuse("a counter cannot be changed by zero");
    return std::move(change.add(by));
}
inline path_change decrement(std::string_view path, std::int64_t by = 1)
{
    path_change change{path_command::counter, path};
    if (by == 0 || by == INT64_MIN)
        change.refuse("a counter cannot be changed by this number");
    return std::move(change.add(by == INT64_MIN ? by : -by));
}

/// Makes an extended attribute the body of the document.
inline path_change replace_body_with_xattr(std::string_view path)
{
    return path_change{path_command::replace_body_with_xattr, path}.xattr();
}

}  // namespace holdfast::couchbase
