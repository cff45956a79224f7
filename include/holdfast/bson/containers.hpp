#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/read_into.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::bson {

/// A value that may be absent. In a mapped struct an empty one is not written; wherever else a
/// value was asked for by name or position (doc, arrays, maps) it is a null. A missing field and a
/// null are both read as empty.
template <class Holder, class T>
struct absent_codec {
    static bool absent(const Holder& value) noexcept { return !value; }

    static result<Holder> read(const element& e) { return reading::value<Holder>(e); }
    static bool read_into(const element& e, Holder& to, reading::state& at)
    {
        to.reset();
        if (e.is_null() || (!e && !e.malformed()))
            return true;
        return reading::into_new<T>(e, at, [&](auto&&... from) -> T& {
            if constexpr (std::same_as<Holder, std::unique_ptr<T>>)
                to = std::make_unique<T>(std::forward<decltype(from)>(from)...);
            else
                to.emplace(std::forward<decltype(from)>(from)...);
            return *to;
        });
    }
    static void write(auto& out, std::string_view key, const Holder& value)
    {
        if (value)
            out.add(key, *value);
        else
            out.put(key, null{});
    }
};

template <class T>
struct codec<std::optional<T>> : absent_codec<std::optional<T>, T> {};

/// This one also for structs that contain themselves.
template <class T>
struct codec<std::unique_ptr<T>> : absent_codec<std::unique_ptr<T>, T> {};

/// Arrays.
template <class Sequence>
struct sequence_codec {
    static constexpr type written_as = type::array;

    static result<Sequence> read(const element& e) { return reading::value<Sequence>(e); }
    static void write(auto& out, std::string_view key, const Sequence& values)
    {
        auto array = out.array(key);
        for (const typename Sequence::value_type& value : values)
            array.add(value);
    }
};

template <class T>
struct codec<std::vector<T>> : sequence_codec<std::vector<T>> {
    static bool read_into(const element& e, std::vector<T>& to, reading::state& at)
    {
        to.clear();
        return reading::nested(e, type::array, at, [&] {
            for (const element& item : e.as_array()) {
                const auto make = [&](auto&&... from) -> decltype(auto) {
                    return to.emplace_back(std::forward<decltype(from)>(from)...);
                };
                if (!reading::into_new<T>(item, at, make)) [[unlikely]]
                    return false;
            }
            return true;
        });
    }
};

/// An array that must have exactly this many elements.
template <class T, std::size_t Size>
struct codec<std::array<T, Size>> : sequence_codec<std::array<T, Size>> {
    static bool read_into(const element& e, std::array<T, Size>& to, reading::state& at)
    {
        return reading::nested(e, type::array, at, [&] {
            std::size_t count = 0;
            for (const element& item : e.as_array()) {
                if (count < Size && !reading::into(item, to[count], at)) [[unlikely]]
                    return false;
                ++count;
            }
            return count == Size || at.fail(reading::wrong_count("elements", Size, count));
        });
    }
};

/// Values that occur twice are kept once.
template <class T, class Compare>
struct codec<std::set<T, Compare>> : sequence_codec<std::set<T, Compare>> {
    static bool read_into(const element& e, std::set<T, Compare>& to, reading::state& at)
    {
        to.clear();
        return reading::nested(e, type::array, at, [&] {
            for (const element& item : e.as_array()) {
                T value{};
                if (!reading::into(item, value, at)) [[unlikely]]
                    return false;
                to.insert(to.end(), std::move(value));  // a set was written in order
            }
            return true;
        });
    }
};

/// Maps by text are documents: every key is a field. Of two equal keys the first one counts, as for
/// view::find. An unordered_map writes its fields in whatever order it has them.
template <class Map>
struct document_map_codec {
    static constexpr type written_as = type::document;

    static result<Map> read(const element& e) { return reading::value<Map>(e); }
    static bool read_into(const element& e, Map& to, reading::state& at)
    {
        return reading::nested(e, type::document, at,
                               [&] { return read_fields(e.as_document(), to, at); });
    }
    static bool read_fields(view from, Map& to, reading::state& at)
    {
        using mapped = typename Map::mapped_type;
        to.clear();
        for (const element& field : from) {
            std::string key{field.key()};
            if (!field.malformed() && to.contains(key))
                continue;
            const auto make = [&](auto&&... value) -> mapped& {
                return to.try_emplace(std::move(key), std::forward<decltype(value)>(value)...)
                    .first->second;
            };
            if (!reading::into_new<mapped>(field, at, make)) [[unlikely]]
                return false;
        }
        return true;
    }
    static void write(auto& out, std::string_view key, const Map& value)
    {
        auto nested = out.document(key);
        write_fields(nested, value);
    }
    static void write_fields(auto& out, const Map& value)
    {
        for (const auto& [key, mapped] : value) {
            out.check_text(key, key, true);
            out.add(key, mapped);
        }
    }
};

template <class T, class Compare>
struct codec<std::map<std::string, T, Compare>>
    : document_map_codec<std::map<std::string, T, Compare>> {};

template <class T, class Hash, class Equal>
struct codec<std::unordered_map<std::string, T, Hash, Equal>>
    : document_map_codec<std::unordered_map<std::string, T, Hash, Equal>> {};

/// Bytes are not arrays but binary values of subtype 0. Other subtypes mean something else and are
/// not read: use `bson::binary`, or a codec of your own.
template <class Bytes>
struct bytes_codec {
    static constexpr type written_as = type::binary;

    static result<Bytes> read(const element& e) { return reading::value<Bytes>(e); }
    static void write(auto& out, std::string_view key, const Bytes& value)
    {
        const auto* first = reinterpret_cast<const std::uint8_t*>(value.data());
        out.put(key, binary{{first, value.size()}, binary_subtype::generic});
    }

protected:
    static std::optional<std::span<const std::uint8_t>> payload(const element& e,
                                                                reading::state& at)
    {
        auto found = reading::bytes(e);
        if (found && (found->subtype == binary_subtype::generic ||
                      found->subtype == binary_subtype::binary_old))
            return found->bytes;
        at.fail(found ? reading::wrong_subtype(e) : std::move(found).error());
        return std::nullopt;
    }
};

template <class T>
concept byte_type = std::same_as<T, std::uint8_t> || std::same_as<T, std::byte>;

template <byte_type T>
struct codec<std::vector<T>> : bytes_codec<std::vector<T>> {
    static bool read_into(const element& e, std::vector<T>& to, reading::state& at)
    {
        const auto found = codec::payload(e, at);
        if (!found)
            return false;
        const auto* first = reinterpret_cast<const T*>(found->data());
        to.assign(first, first + found->size());
        return true;
    }
};

template <byte_type T, std::size_t Size>
struct codec<std::array<T, Size>> : bytes_codec<std::array<T, Size>> {
    static bool read_into(const element& e, std::array<T, Size>& to, reading::state& at)
    {
        const auto found = codec::payload(e, at);
        if (!found)
            return false;
        if (found->size() != Size)
            return at.fail(inside(reading::wrong_count("bytes", Size, found->size()), e.key()));
        std::copy_n(reinterpret_cast<const T*>(found->data()), Size, to.data());
        return true;
    }
};

}  // namespace holdfast::bson
