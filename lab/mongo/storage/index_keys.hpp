#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

/// What a document has in an index: {"": value, "": value ...}, one value for each field of the
/// index's key, null where there is none. Several if there are arrays.
struct index_keys {
    std::vector<bson::document> keys;
    bool all_missing = false;  // none of the fields is there, not even as null
};

/// 171 CannotIndexParallelArrays if two fields lead to different arrays.
result<index_keys> extract_keys(bson::view from, const std::vector<std::string>& paths);

}  // namespace holdfast::lab
