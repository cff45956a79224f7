#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/http/message.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// The order of keys: null, booleans, numbers, strings by their bytes, lists, objects.
std::weak_ordering compare_keys(const boost::json::value& a, const boost::json::value& b);

struct view_row {
    std::string id = {};
    boost::json::value key = {};
    boost::json::value value = {};
};

/// What a request wants of a view.
struct view_query {
    std::size_t skip = 0;
    std::size_t limit = 0;
    bool has_limit = false;
    bool descending = false;
    bool inclusive_end = true;
    bool reduce = true;  // if the view has a reduce function
    bool group = false;
    std::size_t group_level = 0;  // with group: 0 is the whole key
    bool waits = false;           // stale=false: for all that has been changed
    bool stops_on_error = false;
    std::optional<std::vector<boost::json::value>> keys = {};
    std::optional<boost::json::value> start = {};
    std::optional<boost::json::value> end = {};
    std::string start_id = {};
    std::string end_id = {};
};

/// The query of the path, and {"keys": [...]} as a body. Errors name the parameter.
result<view_query> read_view_query(const form_fields& query, std::string_view body);

enum class view_reduce : std::uint8_t { none, count, sum, stats };
/// "_count", "_sum" or "_stats"; empty is none. Nothing for any other.
std::optional<view_reduce> view_reduce_named(std::string_view name);

/// The members "rows", and "total_rows" if nothing is reduced.
boost::json::object view_reply(const view_query& what, view_reduce reduce,
                               std::vector<view_row> rows);

}  // namespace holdfast::lab::couchbase
