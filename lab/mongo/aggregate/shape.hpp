#pragma once
#include "lab/mongo/aggregate/compute.hpp"
#include "lab/mongo/aggregate/stage.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::staging {

/// What happens to the fields of a document: the tree behind $project, $addFields and $unset.
struct shape {
    enum class kind { nested, include, exclude, compute };

    kind what = kind::nested;
    std::string name = {};
    std::optional<expression> by = {};  // of compute
    std::vector<shape> fields = {};     // of nested
    bool computes = false;              // it, or something below it

    const shape* find(std::string_view field) const noexcept;
};

/// What happens to fields that the tree does not name, and to values that are no documents where
/// the tree goes deeper.
enum class shaping { inclusion, exclusion, addition };

struct shape_plan {
    shape top = {};
    shaping mode = shaping::addition;
};

result<shape_plan> read_projection(bson::view spec, const surroundings& in);
result<shape_plan> read_additions(bson::view spec, const surroundings& in);
/// An exclusion of these paths.
result<shape_plan> read_removals(const std::vector<std::string_view>& paths);

result<bson::document> apply_shape(const shape_plan& plan, bson::view document);

}  // namespace holdfast::lab::staging
