#pragma once
#include "holdfast/bson/document.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/expression/context.hpp"
#include "lab/mongo/node/cursor_table.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/query/projection.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::mongo {

/// A find, checked and prepared; owns all that it needs until its cursor ends.
struct find_plan {
    expression_context context = {};  // the others refer to it, so it stays where it is
    std::optional<matcher> filter = {};
    bool all_match = false;  // the filter is empty
    std::optional<projection> shape = {};
    std::optional<collation> by = {};
    bson::document sort = {};  // not {$natural: ...}
    bson::document min = {};   // with max: bounds on the hinted index's key
    bson::document max = {};
    bson::document index_key = {};  // of the hinted index
    int natural = 0;
    std::int64_t skip = 0;
    std::int64_t limit = 0;  // 0: none
    read_time at = {};
    bool tailable = false;
    bool return_key = false;
    bool show_record_id = false;
};

/// Its documents, straight from the collection, or sorted first.
result<std::unique_ptr<document_source>> make_source(node& on, const collection& in,
                                                     std::unique_ptr<find_plan> plan);

}  // namespace holdfast::lab::mongo
