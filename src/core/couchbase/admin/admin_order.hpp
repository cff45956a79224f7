#pragma once
#include "core/couchbase/retry/classification.hpp"
#include "core/couchbase/service/service_request.hpp"
#include "holdfast/error.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::core::couchbase {

/// One request of the administration, and what its answer means.
template <class T>
struct admin_order {
    service_request request = {};
    /// The error of an answer whose status is no success.
    classification (*refused)(int status, std::string_view body) = nullptr;
    result<T> (*read)(std::string_view body) = nullptr;
};

/// Of changes: what the answer says is not looked at.
inline result<void> read_nothing(std::string_view)
{
    return {};
}

constexpr bool is_success(int status) noexcept
{
    return status >= 200 && status < 300;
}

/// A request to the management service; `operation` is a literal.
service_request management(http_method method, std::string path, std::string_view operation);
/// With a form as its body.
service_request management(http_method method, std::string path, std::string_view operation,
                           std::string form);

/// Lists may be longer than an error is.
inline constexpr std::size_t max_list_bytes = std::size_t{16} << 20;

// What answers are made of. A member that is missing, or of another type, is zero or empty.

std::string text_in(const boost::json::value& object, std::string_view name);
std::int64_t integer_in(const boost::json::value& object, std::string_view name);
bool flag_in(const boost::json::value& object, std::string_view name);

/// Answers have what a client cannot do without, or are refused.
error unexpected_answer(std::string_view expected);

/// A name that a path is made of.
result<void> check_name(std::string_view name, std::string_view what);

}  // namespace holdfast::core::couchbase
