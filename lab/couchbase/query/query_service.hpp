#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/http/http_service.hpp"

#include <memory>

namespace holdfast::lab::couchbase {

/// The query service of a node (port 8093 of Couchbase): POST /query/service, GET /admin/ping.
/// Plans that were prepared here are known here only, until the process ends.
std::unique_ptr<http_service> make_query_service(cluster& of, std::size_t number,
                                                 runtime::world& in);

}  // namespace holdfast::lab::couchbase
