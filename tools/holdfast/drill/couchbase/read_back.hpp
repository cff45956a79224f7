#pragma once
#include "holdfast/couchbase/collection.hpp"
#include "runtime/world.hpp"
#include "tools/holdfast/drill/history.hpp"

#include <string>

namespace holdfast::drill {

struct written_keys;

/// Reads all that may have been written, key by key. Each is tried again until that time: the storm
/// is over, and the cluster will be found.
runtime::awaitable<result<found_state>> read_written(runtime::world& in,
                                                     couchbase::collection documents,
                                                     std::string prefix,
                                                     const written_keys& written, time_point until);

}  // namespace holdfast::drill
