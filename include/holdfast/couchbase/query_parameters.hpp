#pragma once
#include "holdfast/error.hpp"
#include "holdfast/json/mapping.hpp"
#include "holdfast/json/raw_json.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::couchbase {

/// The values of the placeholders of a statement: $1, $2 or $name. Values are whatever
/// holdfast::json maps, structs, too; they are encoded when they are added.
///
///     db.query("... WHERE a.country = $1", {.parameters = positional("NL")});
///     db.query("... WHERE a.country = $country", {.parameters = named("country", "NL")});
class query_parameters {
public:
    struct entry {
        std::string name;  // without the $; empty: the next one by position
        std::string json;
    };

    query_parameters() = default;

    template <class T>
    query_parameters& add(const T& value)
    {
        return add(std::string_view{}, value);
    }
    template <class T>
    query_parameters& add(std::string_view name, const T& value)
    {
        auto json = encode(value);
        if (json)
            entries_.push_back({std::string{name}, std::move(*json).text()});
        else if (!problem_)
            problem_ = cannot_encode(name, entries_.size(), std::move(json).error());
        return *this;
    }

    std::span<const entry> entries() const noexcept { return entries_; }
    /// The first value that could not be encoded: the statement is not sent.
    const std::optional<error>& problem() const noexcept { return problem_; }

private:
    template <class T>
    static result<raw_json> encode(const T& value)
    {
        if constexpr (std::convertible_to<const T&, std::string_view>)
            return json::to_json(std::string_view{value});
        else
            return json::to_json(value);
    }
    static error cannot_encode(std::string_view name, std::size_t place, error why);

    std::vector<entry> entries_;
    std::optional<error> problem_;
};

/// Values for $1, $2 ...
template <class... Values>
query_parameters positional(const Values&... values)
{
    query_parameters made;
    (made.add(values), ...);
    return made;
}

namespace details {

inline void add_named(query_parameters&) {}

template <class Value, class... Rest>
void add_named(query_parameters& to, std::string_view name, const Value& value, const Rest&... rest)
{
    to.add(name, value);
    add_named(to, rest...);
}

}  // namespace details

/// Values for $name: named("country", "NL", "fleet", 50).
template <class... NamesAndValues>
query_parameters named(const NamesAndValues&... alternately)
{
    static_assert(sizeof...(NamesAndValues) % 2 == 0, "names and values take turns");
    query_parameters made;
    details::add_named(made, alternately...);
    return made;
}

/// Parameters of the caller's, for the length of a call.
class parameters_view {
public:
    constexpr parameters_view() = default;
    constexpr parameters_view(const query_parameters& of) noexcept : of_{&of} {}

    constexpr const query_parameters* get() const noexcept { return of_; }  // null: none

private:
    const query_parameters* of_ = nullptr;
};

}  // namespace holdfast::couchbase
