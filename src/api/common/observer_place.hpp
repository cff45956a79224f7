#pragma once
#include "runtime/world.hpp"
#include "shell/observe/observer_feed.hpp"

#include <memory>

namespace holdfast::api {

/// Where the observers of a client are called: by the executor of a world.
shell::run_later observers_in(std::shared_ptr<runtime::world> world);

/// The same on a thread of its own, which ends with the last copy of what this gives. A copy that
/// goes while the thread runs code of the application does not wait for it.
shell::run_later observer_thread();

}  // namespace holdfast::api
