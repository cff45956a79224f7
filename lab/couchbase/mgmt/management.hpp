#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/http/http_service.hpp"

#include <memory>

namespace holdfast::lab::couchbase {

/// The management service of a node (port 8091 of Couchbase): pools, configurations, buckets,
/// collections, users, membership; and below /lab the lab's own commands and faults.
std::unique_ptr<http_service> make_management(cluster& of, std::size_t number, runtime::world& in);

}  // namespace holdfast::lab::couchbase
