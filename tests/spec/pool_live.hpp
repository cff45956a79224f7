#pragma once
#include "pool_run.hpp"

#include <boost/json.hpp>

#include <optional>
#include <vector>

namespace holdfast::spec {

/// What came of the operations of a file.
struct pool_story {
    std::optional<error> failed = {};  // what ended the main thread, if something did
    std::vector<boost::json::object> events = {};  // under the names that official files use
};

/// Runs the operations of a file of the style "integration" on the client's own pool, whose
/// connections lead to a server of the lab that has the file's fail point. Throws case_failure.
pool_story run_on_lab(const boost::json::object& file, const pool_options& options, bool simulated);

}  // namespace holdfast::spec
