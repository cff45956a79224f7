#pragma once
#include "holdfast/json/mapping.hpp"
#include "holdfast/json/raw_json.hpp"

#include <cstdint>
#include <optional>
#include <string>

/// Rows that have a shape of their own, and the answer to cluster::http. A raw_json that the server
/// did not send is empty.
namespace holdfast::couchbase {

using holdfast::raw_json;

/// A document that was found by a search.
struct search_hit {
    std::string index = {};
    std::string id = {};
    double score = 0;
    raw_json fields = {};
    raw_json fragments = {};
    raw_json locations = {};
    raw_json explanation = {};
};
BOOST_DESCRIBE_STRUCT(search_hit, (), (index, id, score, fields, fragments, locations, explanation))

/// A row of a view.
struct view_row {
    std::optional<std::string> id = {};  // empty if rows are reduced
    raw_json key = {};
    raw_json value = {};
};
BOOST_DESCRIBE_STRUCT(view_row, (), (id, key, value))

/// Whatever the status is.
struct http_reply {
    int status = 0;
    std::string content_type = {};
    std::string body = {};

    bool is_success() const noexcept { return status >= 200 && status < 300; }
};

}  // namespace holdfast::couchbase

template <>
inline constexpr auto holdfast::bson::mapping_of<holdfast::couchbase::search_hit> = mapping{
    all_defaulted};
template <>
inline constexpr auto holdfast::bson::mapping_of<holdfast::couchbase::view_row> = mapping{
    all_defaulted};
