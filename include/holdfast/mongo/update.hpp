#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/mongo/filter.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

/// What is to change: small functions that make update documents. They are put together by
/// combine().
///
///     accounts.update_one(filter("owner", "ada"),
///                         combine(inc("balance", 5), current_date("changed"), unset("note")));
///
/// All throw `failure` for what no document can hold: a field name with a zero byte.
namespace holdfast::mongo {

namespace details {

/// {name: {field: value, ...}}
template <class... Parts>
bson::document change(std::string_view name, const Parts&... fields_and_values)
{
    static_assert(sizeof...(Parts) > 0 && sizeof...(Parts) % 2 == 0, "a value for each field");
    return bson::doc(name, bson::object(fields_and_values...));
}

/// {name: {field: {$each: [values]}}}; a single list stands for its elements.
template <class... Values>
bson::document change_each(std::string_view name, std::string_view field, const Values&... values)
{
    if constexpr (sizeof...(Values) == 1 && (is_value_list<Values> && ...))
        return change(name, field, bson::object("$each", values...));
    else
        return change(name, field, bson::object("$each", bson::list(values...)));
}

template <class... Fields>
concept field_names = sizeof...(Fields) > 0 &&
                      (std::convertible_to<const Fields&, std::string_view> && ...);

/// {name: {field: value, field: value, ...}}
template <class T, class... Fields>
bson::document change_all(std::string_view name, const T& value, const Fields&... fields)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    {
        bson::builder nested = out.document(name);
        (nested.add(fields, value), ...);
    }
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

bson::document combine(std::span<const bson::view> updates);

}  // namespace details

/// `set("name", "Ada", "born", 1815)`
template <class... Parts>
bson::document set(const Parts&... fields_and_values)
{
    return details::change("$set", fields_and_values...);
}
/// Only in a document that an upsert makes.
template <class... Parts>
bson::document set_on_insert(const Parts&... fields_and_values)
{
    return details::change("$setOnInsert", fields_and_values...);
}
template <class... Fields>
    requires details::field_names<Fields...>
bson::document unset(const Fields&... fields)
{
    return details::change_all("$unset", std::string_view{}, fields...);
}
/// `rename_field("nickname", "alias")`
template <class... Names>
    requires details::field_names<Names...>
bson::document rename_field(const Names&... from_and_to)
{
    return details::change("$rename", std::string_view{from_and_to}...);
}
template <class... Fields>
    requires details::field_names<Fields...>
bson::document current_date(const Fields&... fields)
{
    return details::change_all("$currentDate", true, fields...);
}

// ---- Numbers, and whatever can be compared ----

template <class... Parts>
bson::document inc(const Parts&... fields_and_amounts)
{
    return details::change("$inc", fields_and_amounts...);
}
template <class... Parts>
bson::document mul(const Parts&... fields_and_factors)
{
    return details::change("$mul", fields_and_factors...);
}
/// The field becomes the value if it is more: $min.
template <class... Parts>
bson::document at_most(const Parts&... fields_and_values)
{
    return details::change("$min", fields_and_values...);
}
/// The field becomes the value if it is less: $max.
template <class... Parts>
bson::document at_least(const Parts&... fields_and_values)
{
    return details::change("$max", fields_and_values...);
}

// ---- Arrays ----

template <class T>
bson::document push(std::string_view field, const T& value)
{
    return details::change("$push", field, value);
}
/// The values may also be given as one array, vector or other range.
template <class... Values>
bson::document push_each(std::string_view field, const Values&... values)
{
    return details::change_each("$push", field, values...);
}
template <class T>
bson::document add_to_set(std::string_view field, const T& value)
{
    return details::change("$addToSet", field, value);
}
template <class... Values>
bson::document add_each_to_set(std::string_view field, const Values&... values)
{
    return details::change_each("$addToSet", field, values...);
}
/// All elements that have this value, or that a filter is true of.
template <class T>
bson::document pull(std::string_view field, const T& value_or_filter)
{
    return details::change("$pull", field, value_or_filter);
}
template <class... Values>
bson::document pull_each(std::string_view field, const Values&... values)
{
    if constexpr (sizeof...(Values) == 1 && (details::is_value_list<Values> && ...))
        return details::change("$pullAll", field, values...);
    else
        return details::change("$pullAll", field, bson::list(values...));
}
inline bson::document pop_first(std::string_view field)
{
    return details::change("$pop", field, std::int32_t{-1});
}
inline bson::document pop_last(std::string_view field)
{
    return details::change("$pop", field, std::int32_t{1});
}

/// Several changes as one: what is said with the same operator is put together.
template <class... Updates>
    requires details::filters<Updates...>
bson::document combine(const Updates&... updates)
{
    const std::array<bson::view, sizeof...(Updates)> all{bson::view{updates}...};
    return details::combine(all);
}

}  // namespace holdfast::mongo
