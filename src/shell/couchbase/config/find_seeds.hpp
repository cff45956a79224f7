#pragma once
#include "core/couchbase/settings/cluster_settings.hpp"
#include "runtime/world.hpp"

#include <optional>
#include <vector>

namespace holdfast::shell::couchbase {

/// Where to begin, and what went wrong on the way there.
struct found_seeds {
    std::vector<endpoint> seeds = {};
    std::optional<error> srv_problem = {};  // the seeds are then those of the connection string
};

/// Looks up the SRV records of the connection string, if there can be any. A failure is no end: the
/// name may be a host as well.
runtime::awaitable<found_seeds> find_seeds(runtime::world& in,
                                           core::couchbase::cluster_settings settings);

}  // namespace holdfast::shell::couchbase
