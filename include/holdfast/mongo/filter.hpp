#pragma once
#include "holdfast/bson/containers.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/types.hpp"

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <type_traits>

/// Which documents: small functions that make the documents that queries are written in. Whatever
/// has no name here can be written as BSON, doc("age", object("$mod", list(2, 0))), or as Extended
/// JSON, json(R"({"age": {"$mod": [2, 0]}})").
///
///     accounts.find(all_of(gt("balance", 100), in("branch", "Paris", "Rome"), exists("owner")));
///
/// All throw `failure` for what no document can hold: a field name with a zero byte.
namespace holdfast::mongo {

namespace details {

/// What stands for its elements where a list of values is wanted. Bytes are one value, and so are
/// text and documents.
template <class T>
inline constexpr bool is_value_list = std::same_as<T, bson::array> ||
                                      std::same_as<T, bson::array_view>;
template <class T>
    requires(std::ranges::range<const T> && !std::convertible_to<const T&, std::string_view> &&
             !std::convertible_to<const T&, bson::view> &&
             !std::convertible_to<const T&, bson::array_view> &&
             !bson::byte_type<std::ranges::range_value_t<const T>> &&
             !requires { typename T::mapped_type; })
inline constexpr bool is_value_list<T> = true;

/// {field: {name: value}}
template <class T>
bson::document condition(std::string_view field, std::string_view name, const T& value)
{
    return bson::doc(field, bson::object(name, value));
}

/// {field: {name: [values]}}; a single list stands for its elements.
template <class... Values>
bson::document list_condition(std::string_view field, std::string_view name,
                              const Values&... values)
{
    if constexpr (sizeof...(Values) == 1 && (is_value_list<Values> && ...))
        return condition(field, name, values...);
    else
        return condition(field, name, bson::list(values...));
}

template <class... Filters>
concept filters = sizeof...(Filters) > 0 &&
                  (std::convertible_to<const Filters&, bson::view> && ...);

/// {name: [filters]}
template <class... Filters>
bson::document group(std::string_view name, const Filters&... of)
{
    return bson::doc(name, bson::arr(bson::view{of}...));
}

}  // namespace details

/// An Extended JSON text as a document. Throws `failure` if it is none: for text that the program
/// itself has written. Else use bson::from_json.
inline bson::document json(std::string_view text)
{
    return bson::from_json(text).value();
}

/// Each of these fields has that value: `filter("owner", "ada", "open", true)`. Without arguments,
/// every document.
template <class... Parts>
bson::document filter(const Parts&... fields_and_values)
{
    static_assert(sizeof...(Parts) % 2 == 0, "a value for each field");
    return bson::doc(fields_and_values...);
}

// ---- One field ----

template <class T>
bson::document eq(std::string_view field, const T& value)
{
    return details::condition(field, "$eq", value);
}
template <class T>
bson::document ne(std::string_view field, const T& value)
{
    return details::condition(field, "$ne", value);
}
template <class T>
bson::document gt(std::string_view field, const T& value)
{
    return details::condition(field, "$gt", value);
}
template <class T>
bson::document gte(std::string_view field, const T& value)
{
    return details::condition(field, "$gte", value);
}
template <class T>
bson::document lt(std::string_view field, const T& value)
{
    return details::condition(field, "$lt", value);
}
template <class T>
bson::document lte(std::string_view field, const T& value)
{
    return details::condition(field, "$lte", value);
}

/// One of the values, which may also be given as one array, vector or other range.
template <class... Values>
bson::document in(std::string_view field, const Values&... values)
{
    return details::list_condition(field, "$in", values...);
}
template <class... Values>
bson::document nin(std::string_view field, const Values&... values)
{
    return details::list_condition(field, "$nin", values...);
}

inline bson::document exists(std::string_view field, bool wanted = true)
{
    return details::condition(field, "$exists", wanted);
}

/// By a regular expression; options as the server has them, "i" for any case.
inline bson::document matches(std::string_view field, std::string_view pattern,
                              std::string_view options = {})
{
    return bson::doc(field, bson::regex{pattern, options});
}

inline bson::document has_type(std::string_view field, bson::type wanted)
{
    // The server's numbers are those of BSON; it counts the smallest key as -1.
    const auto number = static_cast<std::uint8_t>(wanted);
    return details::condition(field, "$type",
                              wanted == bson::type::min_key ? -1 : std::int32_t{number});
}
inline bson::document has_type(std::string_view field, std::string_view name)  // "number"
{
    return details::condition(field, "$type", name);
}

// ---- Arrays ----

/// An array with all of these values.
template <class... Values>
bson::document has_all(std::string_view field, const Values&... values)
{
    return details::list_condition(field, "$all", values...);
}
/// An array with one element of which all this is true.
inline bson::document elem_match(std::string_view field, bson::view filter)
{
    return details::condition(field, "$elemMatch", filter);
}
inline bson::document has_size(std::string_view field, std::int64_t count)
{
    return details::condition(field, "$size", count);
}

// ---- Several together ----

template <class... Filters>
    requires details::filters<Filters...>
bson::document all_of(const Filters&... of)
{
    return details::group("$and", of...);
}
template <class... Filters>
    requires details::filters<Filters...>
bson::document any_of(const Filters&... of)
{
    return details::group("$or", of...);
}
template <class... Filters>
    requires details::filters<Filters...>
bson::document none_of(const Filters&... of)
{
    return details::group("$nor", of...);
}
inline bson::document negate(bson::view filter)
{
    return details::group("$nor", filter);
}

/// By an expression of aggregation: `expr(doc("$gt", list("$spent", "$budget")))`.
inline bson::document expr(bson::view expression)
{
    return bson::doc("$expr", expression);
}

// ---- In which order ----

template <class... Fields>
    requires(sizeof...(Fields) > 0 && (std::convertible_to<const Fields&, std::string_view> && ...))
bson::document ascending(const Fields&... fields)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    (out.add(fields, std::int32_t{1}), ...);
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}
template <class... Fields>
    requires(sizeof...(Fields) > 0 && (std::convertible_to<const Fields&, std::string_view> && ...))
bson::document descending(const Fields&... fields)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    (out.add(fields, std::int32_t{-1}), ...);
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}
/// One after the other: `sort_by(descending("balance"), ascending("owner"))`.
template <class... Orders>
    requires details::filters<Orders...>
bson::document sort_by(const Orders&... one_after_the_other)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    (out.merge(bson::view{one_after_the_other}), ...);
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::mongo
