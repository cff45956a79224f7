#pragma once
#include "lab/mongo/expression/compiler.hpp"

namespace holdfast::lab::computing {

/// {$op: arguments}: looks the operator up and compiles what it is given. 168 for an unknown one.
result<node_ptr> compile_call(compiler& with, const bson::element& call);

}  // namespace holdfast::lab::computing
