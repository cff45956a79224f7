#pragma once
#include "core/uri/option_table.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <type_traits>
#include <utility>

namespace holdfast::core::uri {

namespace details {

using std::chrono::milliseconds;

template <class T>
struct value_type {
    using type = T;
};
template <class T>
struct value_type<std::optional<T>> {
    using type = T;
};

/// The type of the value in a place, whether or not it may be absent.
template <class Place>
struct value_at_place;
template <class Settings, class T>
struct value_at_place<T& (*)(Settings&)> : value_type<T> {};
template <class Place>
using value_at = typename value_at_place<Place>::type;

/// Deprecated spellings of "true" and "false".
inline constexpr std::array<std::string_view, 4> other_trues{"1", "yes", "y", "t"};
inline constexpr std::array<std::string_view, 5> other_falses{"0", "-1", "no", "n", "f"};

template <class Settings, class Place>
reading take_boolean(Place where, Settings& to, std::string_view text)
{
    const bool old_true = std::ranges::find(other_trues, text) != other_trues.end();
    const bool old_false = std::ranges::find(other_falses, text) != other_falses.end();
    if (text != "true" && text != "false" && !old_true && !old_false)
        return {reading::status::ignored};
    where(to) = text == "true" || old_true;
    if (old_true)
        return {reading::status::taken, "a deprecated spelling of true"};
    if (old_false)
        return {reading::status::taken, "a deprecated spelling of false"};
    return {};
}

inline std::optional<std::int64_t> milliseconds_in(std::string_view text) noexcept
{
    const auto parsed = parse_duration(text);
    return parsed ? std::optional<std::int64_t>{parsed->count()} : std::nullopt;
}

template <class Settings, class Place>
reading take_number(Place where, const option<Settings>& which, Settings& to, std::string_view text)
{
    const auto number = which.takes_units ? milliseconds_in(text) : parse_number(text);
    if (!number || *number < which.least || *number > which.most)
        return {reading::status::ignored};
    where(to) = value_at<Place>{static_cast<value_at<Place>>(*number)};
    return {};
}

template <class Settings, class Place>
reading take_text(Place where, const option<Settings>& which, Settings& to, std::string_view text)
{
    if (text.empty() || text.find('\0') != text.npos || (which.accepts && !which.accepts(text)))
        return {reading::status::ignored};
    where(to) = value_at<Place>{text};
    return {};
}

inline std::string text_of(bool value)
{
    return value ? "true" : "false";
}
std::string text_of(std::integral auto value)
{
    return std::to_string(value);
}
inline std::string text_of(milliseconds value)
{
    return std::to_string(value.count());
}
inline std::string text_of(const std::string& value)
{
    return value;
}
inline std::string text_of(const secret& value)
{
    return std::string{value.view()};
}

template <class T>
inline constexpr bool is_text = std::is_same_v<T, std::string> || std::is_same_v<T, secret>;

template <class T>
std::vector<std::string> texts_of(const T& value)
{
    std::string text = text_of(value);
    return text.empty() ? std::vector<std::string>{} : std::vector{std::move(text)};
}
template <class T>
std::vector<std::string> texts_of(const std::optional<T>& value)
{
    return value ? texts_of(*value) : std::vector<std::string>{};
}

}  // namespace details

/// "true or false", "milliseconds from 500 on".
template <class Settings>
std::string allowed_values(const option<Settings>& which)
{
    if (!which.allowed.empty())
        return std::string{which.allowed};
    const auto range = [&](std::string unit) {
        if (which.most == std::numeric_limits<std::int64_t>::max())
            return unit + " from " + std::to_string(which.least) + " on";
        return unit + " from " + std::to_string(which.least) + " to " + std::to_string(which.most);
    };
    const auto by_type = [&]<class Place>(Place) -> std::string {
        if constexpr (std::is_same_v<Place, custom_value<Settings>>)
            return {};
        else if constexpr (std::is_same_v<details::value_at<Place>, bool>)
            return "true or false";
        else if constexpr (std::is_same_v<details::value_at<Place>, std::chrono::milliseconds>)
            return range("milliseconds") + (which.takes_units ? ", or with a unit: 2.5s" : "");
        else if constexpr (details::is_text<details::value_at<Place>>)
            return "a text that is not empty";
        else
            return range("a number");
    };
    return std::visit(by_type, which.where);
}

/// Takes in one value, already decoded.
template <class Settings>
reading take_value(const option<Settings>& which, Settings& settings, std::string_view value)
{
    const auto by_type = [&]<class Place>(Place where) -> reading {
        if constexpr (std::is_same_v<Place, custom_value<Settings>>)
            return where.take(settings, value);
        else if constexpr (std::is_same_v<details::value_at<Place>, bool>)
            return details::take_boolean(where, settings, value);
        else if constexpr (details::is_text<details::value_at<Place>>)
            return details::take_text(where, which, settings, value);
        else
            return details::take_number(where, which, settings, value);
    };
    reading outcome = std::visit(by_type, which.where);
    if (outcome.is == reading::status::ignored && which.must_be_valid)
        outcome.is = reading::status::fatal;
    return outcome;
}

/// How the setting would be written, not encoded; more than one for a list, none if it is not set.
/// Secrets too: never to be logged.
template <class Settings>
std::vector<std::string> written(const option<Settings>& which, const Settings& settings)
{
    const auto by_type = [&]<class Place>(Place where) -> std::vector<std::string> {
        if constexpr (std::is_same_v<Place, custom_value<Settings>>) {
            return where.written(settings);
        } else {
            Settings copy = settings;  // a place may create the part of the settings that holds it
            return details::texts_of(where(copy));
        }
    };
    return std::visit(by_type, which.where);
}

}  // namespace holdfast::core::uri
