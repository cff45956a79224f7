#pragma once
#include "core/mongo/sdam/topology_description.hpp"

#include <boost/json.hpp>

namespace holdfast::spec {

/// The topology that a file about selection writes down under "topology_description". Throws
/// case_failure if it holds what the runner does not know.
core::mongo::topology_ptr topology_from(const boost::json::value& fields);

}  // namespace holdfast::spec
