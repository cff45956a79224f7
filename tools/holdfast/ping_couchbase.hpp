#pragma once
#include "ping.hpp"

#include <string>

namespace holdfast::tool {

bool is_couchbase(const std::string& uri);

/// The same as run(), for a Couchbase cluster: waits until it is ready, and asks every node.
int run_couchbase(const ping_options& options);

}  // namespace holdfast::tool
