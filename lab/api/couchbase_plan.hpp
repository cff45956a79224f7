#pragma once
#include "holdfast/error.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "lab/couchbase/cluster/cluster.hpp"
#include "runtime/world.hpp"

namespace holdfast::lab::couchbase {

/// The cluster that these options ask for, with all of its nodes in one world. Errors are
/// errc::invalid_argument with the context "phase" = "options".
result<cluster_options> plan_cluster(const couchbase_options& options, runtime::world& in);

}  // namespace holdfast::lab::couchbase
