#pragma once
#include "lab/couchbase/cluster/cluster.hpp"

#include <vector>

namespace holdfast::lab::couchbase {

/// All services that the lab has, for cluster_options::services.
std::vector<offered_service> all_services_offered();

}  // namespace holdfast::lab::couchbase
