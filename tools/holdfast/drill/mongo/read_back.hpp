#pragma once
#include "holdfast/mongo/client.hpp"
#include "runtime/world.hpp"
#include "tools/holdfast/drill/history.hpp"

#include <string>

namespace holdfast::drill {

/// An empty collection with an index for those who delete.
runtime::awaitable<result<void>> prepare(mongo::collection documents);

/// All that clients have left, as a majority of the members has it. Each step is tried again for
/// as long as that makes sense: the storm is over, and the deployment will be found.
runtime::awaitable<result<found_state>> read_back(runtime::world& in, mongo::collection documents,
                                                  time_point until);

}  // namespace holdfast::drill
