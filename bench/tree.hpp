#pragma once
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/view.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::bench {

/// A value in memory with its key, as a program may hold it. Belongs to neither library: both build
/// their documents from the same tree. What a type does not use stays empty.
struct node {
    bson::type type = bson::type::null;
    bson::binary_subtype subtype = bson::binary_subtype::generic;
    std::string key;
    std::string text;  // string, code, symbol, pattern of a regex, payload of a binary
    std::string options;  // of a regex
    double real = 0;
    std::int64_t integer = 0;  // int32, int64, boolean, milliseconds of a datetime
    bson::timestamp time;
    bson::object_id id;
    bson::decimal128 decimal;
    std::vector<node> children;  // of a document, an array, a scope
};

/// All elements of a document. Throws `failure` if it is malformed.
std::vector<node> to_tree(bson::view document);

}  // namespace holdfast::bench
