#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/types.hpp"

#include <functional>

namespace holdfast::lab {

/// What an expression may know besides its document. Time and chance come from outside, so that
/// the same seed gives the same answers.
struct expression_context {
    bson::document variables = {};  // `let`: values, already evaluated
    bson::datetime now = {};        // $$NOW
    bson::timestamp cluster_time = {};  // $$CLUSTER_TIME
    std::function<double()> chance = {};  // $rand; [0, 1)
};

}  // namespace holdfast::lab
