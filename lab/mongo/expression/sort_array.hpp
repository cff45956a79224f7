#pragma once
#include "lab/mongo/expression/compiler.hpp"

namespace holdfast::lab::computing {

/// {$sortArray: {input: ..., sortBy: {a: 1} or 1}}
result<node_ptr> compile_sort_array(compiler& with, const bson::element& spec);

}  // namespace holdfast::lab::computing
