#pragma once
#include "holdfast/bson/errc.hpp"
#include "holdfast/json/codec.hpp"
#include "holdfast/json/reader.hpp"
#include "holdfast/json/writer.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::json {

/// A value that may be absent. In a mapped struct an empty one is not written; elsewhere it is a
/// null. A missing member and a null are both read as empty.
template <class Holder, class T>
struct absent_codec {
    static bool absent(const Holder& value) noexcept { return !value; }
    static void reset(Holder& to) noexcept { to.reset(); }

    static bool read(reader& in, Holder& to)
    {
        to.reset();
        if (in.next() == kind::null)
            return in.read_null();
        if constexpr (std::same_as<Holder, std::unique_ptr<T>>)
            to = std::make_unique<T>();
        else
            to.emplace();
        return read_value(in, *to);
    }
    static bool write(writer& out, const Holder& value)
    {
        return value ? write_value(out, *value) : out.write_null();
    }
};

template <class T>
    requires mapped<T>
struct codec<std::optional<T>> : absent_codec<std::optional<T>, T> {};

/// This one also for structs that contain themselves.
template <class T>
struct codec<std::unique_ptr<T>> : absent_codec<std::unique_ptr<T>, T> {};

/// Arrays.
template <class Sequence>
struct sequence_codec {
    using value_type = typename Sequence::value_type;

    /// Reads all elements; `take` makes room for the one of this number, and fills it.
    template <class Take>
    static bool read_each(reader& in, Take take)
    {
        if (!in.enter('['))
            return false;
        for (std::size_t i = 0; in.more(']'); ++i) {
            if (!take(i)) [[unlikely]]
                return in.fail_inside(std::to_string(i));
        }
        return !in.failed();
    }
    static bool write(writer& out, const Sequence& values)
    {
        if (!out.enter())
            return false;
        out.begin_array();
        std::size_t i = 0;
        for (const value_type& value : values) {
            if (!write_value(out, value)) [[unlikely]]
                return out.fail_inside(std::to_string(i));
            ++i;
        }
        out.end_array();
        out.leave();
        return true;
    }
};

template <class T>
struct codec<std::vector<T>> : sequence_codec<std::vector<T>> {
    static bool read(reader& in, std::vector<T>& to)
    {
        to.clear();
        return codec::read_each(in, [&](std::size_t) {
            if constexpr (std::same_as<T, bool>) {
                bool value = false;
                const bool done = in.read(value);
                to.push_back(value);
                return done;
            } else {
                return read_value(in, to.emplace_back());
            }
        });
    }
};

/// An array that must have exactly this many elements.
template <class T, std::size_t Size>
struct codec<std::array<T, Size>> : sequence_codec<std::array<T, Size>> {
    static bool read(reader& in, std::array<T, Size>& to)
    {
        std::size_t count = 0;
        const bool done = codec::read_each(in, [&](std::size_t i) {
            ++count;
            return i < Size ? read_value(in, to[i]) : in.skip();
        });
        return done && (count == Size || in.fail(errc::out_of_range,
                                                 "expected " + std::to_string(Size) +
                                                     " elements, found " + std::to_string(count)));
    }
};

/// Values that occur twice are kept once.
template <class T, class Compare>
struct codec<std::set<T, Compare>> : sequence_codec<std::set<T, Compare>> {
    static bool read(reader& in, std::set<T, Compare>& to)
    {
        to.clear();
        return codec::read_each(in, [&](std::size_t) {
            T value{};
            const bool done = read_value(in, value);
            if (done)
                to.insert(to.end(), std::move(value));  // a set was written in order
            return done;
        });
    }
};

/// Maps by text are objects. Of two equal keys the first one counts.
template <class Map>
struct object_map_codec {
    static bool read(reader& in, Map& to)
    {
        to.clear();
        if (!in.enter('{'))
            return false;
        while (in.more('}')) {
            std::string_view key;
            if (!in.read_key(key))
                return false;
            const auto [place, is_new] = to.try_emplace(std::string{key});
            const bool done = is_new ? read_value(in, place->second) : in.skip();
            if (!done) [[unlikely]]
                return in.fail_inside(place->first);
        }
        return !in.failed();
    }
    static bool write(writer& out, const Map& value)
    {
        if (!out.enter())
            return false;
        out.begin_object();
        for (const auto& [key, each] : value) {
            if (!out.key(key) || !write_value(out, each)) [[unlikely]]
                return out.fail_inside(key);
        }
        out.end_object();
        out.leave();
        return true;
    }
};

template <class T, class Compare>
struct codec<std::map<std::string, T, Compare>>
    : object_map_codec<std::map<std::string, T, Compare>> {};

template <class T, class Hash, class Equal>
struct codec<std::unordered_map<std::string, T, Hash, Equal>>
    : object_map_codec<std::unordered_map<std::string, T, Hash, Equal>> {};

/// "Nothing" as an alternative of a variant.
template <>
struct codec<std::monostate> {
    static bool read(reader& in, std::monostate&) { return in.read_null(); }
    static bool write(writer& out, std::monostate) { return out.write_null(); }
};

/// Written as the alternative it holds, without any mark, and read as the first alternative whose
/// read succeeds: put int before double, and structs with more required members first.
template <class... Alternatives>
struct codec<std::variant<Alternatives...>> {
    using variant = std::variant<Alternatives...>;

    static bool read(reader& in, variant& to)
    {
        const reader::place from = in.here();
        const bool done =
            ((read_value(in, to.template emplace<Alternatives>()) || !in.go_back(from)) || ...);
        if (done)
            return !in.failed();
        return in.fail_kind("one of " + std::to_string(sizeof...(Alternatives)) + " alternatives");
    }
    static bool write(writer& out, const variant& value)
    {
        return std::visit([&](const auto& held) { return write_value(out, held); }, value);
    }
};

}  // namespace holdfast::json
