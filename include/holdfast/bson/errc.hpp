#pragma once
#include "holdfast/error.hpp"

#include <string_view>
#include <type_traits>

namespace holdfast::bson {

/// Errors of BSON, of Extended JSON, and of the use of either.
enum class errc {
    malformed = 1,   // bytes that are no BSON; context "offset" says where
    invalid_utf8,    // a string that is no UTF-8
    too_deep,        // nested beyond max_depth
    too_large,       // beyond the size limit
    missing_field,   // context "path" says which
    unknown_field,   // where a mapping takes only what it knows; context "path"
    wrong_type,      // context "path", "expected", "found"
    out_of_range,    // a number that does not fit the type asked for
    invalid_key,     // a key with a zero byte inside
    invalid_json,    // context "line", "column"
    invalid_value,  // a text or a structure that is not what it claims: a bad ObjectId, UUID ...
};

const boost::system::error_category& category() noexcept;

inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), category()};
}

/// The same error seen from one level further out: "b: expected int32" inside field "a" becomes
/// "a.b: expected int32". An error without a path gets one.
error inside(error e, std::string_view field);

}  // namespace holdfast::bson

template <>
struct boost::system::is_error_code_enum<holdfast::bson::errc> : std::true_type {};
