#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/http/http_service.hpp"

#include <memory>

namespace holdfast::lab::couchbase {

/// The search service of a node (port 8094 of Couchbase): definitions of indexes, and searches by a
/// plain scan of what the node's index has, below /api.
std::unique_ptr<http_service> make_search_service(cluster& of, std::size_t number,
                                                  runtime::world& in);

}  // namespace holdfast::lab::couchbase
