#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/map/manifest.hpp"

#include <string>

namespace holdfast::lab::couchbase {

/// The reason why a manifest was not changed, for people. `what` is "scope 's'", for example.
result<void> manifest_outcome(manifest_change change, const std::string& what);

}  // namespace holdfast::lab::couchbase
