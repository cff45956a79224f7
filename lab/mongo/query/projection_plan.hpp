#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/query/matcher.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::projecting {

enum class kind : std::uint8_t {
    nested,   // has children
    include,
    exclude,
    slice,
    element,     // $elemMatch
    positional,  // a.$
    computed,
};

/// What happens to one field.
struct field {
    std::string name = {};
    kind what = kind::nested;
    std::vector<field> children = {};
    std::int64_t skip = 0;  // of slice; from the end if negative
    std::int64_t limit = 0;
    bool computes = false;  // itself, or something below it
    bool picks = false;     // positional, itself or something below it
    std::unique_ptr<matcher> wanted = {};
    std::unique_ptr<expression> value = {};
};

struct plan {
    bool including = false;  // else what is not named stays
    bool everything = false;
    field root = {};
    std::optional<expression_context> context = {};
    const matcher* filter = nullptr;
};

result<void> read_plan(bson::view spec, plan& out);

result<bson::document> apply_plan(const plan& by, bson::view document);

}  // namespace holdfast::lab::projecting
