#pragma once
#include "lab/mongo/aggregate/accumulator.hpp"

#include <functional>
#include <vector>

namespace holdfast::lab::staging {

/// What documents are grouped by, and what is gathered of each group.
struct group_plan {
    std::function<result<value>(bson::view)> key;  // missing counts as null
    std::vector<accumulated_field> fields;
    std::optional<collation> by;
    bool sorted = false;  // by key; else in the order of each group's first document
};

result<documents> run_group(const group_plan& plan, const documents& in, const runner& with);

}  // namespace holdfast::lab::staging
