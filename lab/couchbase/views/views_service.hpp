#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/http/http_service.hpp"

#include <memory>

namespace holdfast::lab::couchbase {

/// The view service of a node (port 8092 of Couchbase): design documents, and views over the
/// default collection by a plain scan of what the node's index has.
std::unique_ptr<http_service> make_views_service(cluster& of, std::size_t number,
                                                 runtime::world& in);

}  // namespace holdfast::lab::couchbase
