#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/http/http_service.hpp"

#include <memory>

namespace holdfast::lab::couchbase {

/// The analytics service of a node (port 8095 of Couchbase): POST /analytics/service and
/// /query/service, GET /admin/ping. It reads what the query service reads, with other errors.
std::unique_ptr<http_service> make_analytics_service(cluster& of, std::size_t number,
                                                     runtime::world& in);

}  // namespace holdfast::lab::couchbase
