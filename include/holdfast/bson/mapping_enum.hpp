#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/codec.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/mapping_rules.hpp"
#include "holdfast/bson/read_into.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace holdfast::bson {

template <class E>
struct named_enumerator {
    E value;
    std::string_view name;
};

/// The names of a described enum, with its rules applied.
template <class E>
consteval auto enumerators_of()
{
    using all = boost::describe::describe_enumerators<E>;
    std::array<named_enumerator<E>, boost::mp11::mp_size<all>::value> table{};
    std::size_t next = 0;
    boost::mp11::mp_for_each<all>([&](auto each) {
        named_enumerator<E> entry{each.value, each.name};
        std::apply(
            [&](const auto&... rule) {
                ((entry.name = rule.value == entry.value ? rule.name : entry.name), ...);
            },
            mapping_of<E>.rules);
        table[next++] = entry;
    });
    return table;
}

/// A described enum is written as the name of its value. A value without a name is not written, and
/// a text that is no name is not read.
template <class E>
    requires std::is_enum_v<E>
struct codec<E> {
    static_assert(boost::describe::has_describe_enumerators<E>::value,
                  "describe this enum with BOOST_DESCRIBE_ENUM to map it to strings, or specialise "
                  "holdfast::bson::codec to map it to something else (docs/bson.md)");

    static constexpr type written_as = type::string;

    static result<E> read(const element& e) { return reading::value<E>(e); }
    static bool read_into(const element& e, E& to, reading::state& at)
    {
        if (e.type() != type::string) [[unlikely]]
            return at.fail(e.mismatch(name_of(type::string)));
        const std::string_view text = e.as_string();
        for (const auto& [value, name] : table) {
            if (text == name)
                return to = value, true;
        }
        return at.fail(reading::unknown_enumerator(e, allowed()));
    }
    static void write(auto& out, std::string_view key, E value)
    {
        for (const auto& [known, name] : table) {
            if (value == known)
                return out.put(key, name);
        }
        out.fail(errc::invalid_value, key);
    }

private:
    static constexpr auto table = enumerators_of<E>();

    static std::string allowed()
    {
        std::string names;
        for (const auto& entry : table)
            names.append(names.empty() ? "" : ", ").append(entry.name);
        return names;
    }
};

}  // namespace holdfast::bson
