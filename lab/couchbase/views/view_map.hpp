#pragma once
#include "holdfast/error.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// A key or a value that a map function emits: a constant, the id, (a part of) the document, or a
/// list of these.
struct map_expression {
    enum class kind { constant, id, document, list };

    kind what = kind::constant;
    boost::json::value constant = {};
    std::vector<std::string> path = {};  // in the document
    std::vector<map_expression> parts = {};
};

/// `function (doc, meta) { emit(KEY, VALUE); }`, which is all of JavaScript that the lab knows.
struct view_map {
    map_expression key = {};
    map_expression value = {};
};

/// Errors say what is not understood.
result<view_map> read_view_map(std::string_view text);

/// What is missing in the document is null. A document that is no JSON is null, too.
boost::json::value value_of(const map_expression& of, std::string_view id,
                            const boost::json::value& document);

error refused_view(std::string reason);

}  // namespace holdfast::lab::couchbase
