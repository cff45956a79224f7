#pragma once
#include "holdfast/error.hpp"

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <string_view>

namespace holdfast::core::couchbase {

/// An error body or an error map is some kilobytes. What is far beyond that is not worth reading.
inline constexpr std::size_t max_json_bytes = 1 << 20;
inline constexpr std::size_t max_json_depth = 32;

struct json_limits {
    std::size_t max_bytes = max_json_bytes;
    std::size_t max_depth = max_json_depth;
    boost::json::storage_ptr memory = {};  // where the value lives; its owner must outlive it
};

/// Text from a server. Fails with errc::decoding_failure and says at which byte (context "offset").
result<boost::json::value> parse_json(std::string_view text, const json_limits& limits = {});

/// The member of that name and type, or null; null also if `value` is no object.
const boost::json::string* find_string(const boost::json::value& value, std::string_view name);
const boost::json::array* find_array(const boost::json::value& value, std::string_view name);
const boost::json::object* find_object(const boost::json::value& value, std::string_view name);
const std::int64_t* find_integer(const boost::json::value& value, std::string_view name);
const bool* find_bool(const boost::json::value& value, std::string_view name);

}  // namespace holdfast::core::couchbase
