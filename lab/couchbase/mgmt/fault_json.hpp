#pragma once
#include "holdfast/error.hpp"
#include "holdfast/lab/couchbase_fault.hpp"

#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

struct named_fault {
    std::string name = {};  // the member "name"; may be missing
    couchbase_fault what = {};
};

/// An object whose members are called as those of couchbase_fault; durations are milliseconds. What
/// is unknown or of the wrong type is errc::invalid_argument.
result<named_fault> read_fault(std::string_view json);

}  // namespace holdfast::lab::couchbase
