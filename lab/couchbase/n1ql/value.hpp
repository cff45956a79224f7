#pragma once
#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql {

namespace json = boost::json;

/// What an expression gives; none: MISSING.
using value = std::optional<json::value>;

/// In the order in which values of different kinds are sorted.
enum class kind : std::uint8_t { missing, null, boolean, number, string, array, object };

kind kind_of(const json::value& of) noexcept;
kind kind_of(const value& of) noexcept;
bool is_null_or_missing(const value& of) noexcept;

/// What conditions ask: false, null, zero and all that is empty are not true.
bool is_true(const value& of);

/// Below, at or above 0, for values of any kinds.
int compare(const json::value& left, const json::value& right);
int compare(const value& left, const value& right);

std::optional<double> number_in(const value& of);
std::optional<std::int64_t> integer_in(const value& of);
const json::string* string_in(const value& of) noexcept;

/// A whole number if it is one, as a server prints it.
json::value number(double of);
json::string text(std::string_view of);
std::string_view view(const json::string& of) noexcept;

/// JSON as a server writes it: without spaces, and numbers as short as they can be.
void append_json(std::string& to, const json::value& of);
std::string json_text(const json::value& of);

/// Reads what a document or a parameter has; none if it is no JSON, or nested too deeply.
value read_json(std::string_view from);

inline constexpr std::size_t deepest_json = 500;

}  // namespace holdfast::lab::couchbase::n1ql
