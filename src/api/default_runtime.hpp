#pragma once
#include "runtime/world.hpp"

#include <memory>

namespace holdfast::api {

/// The world that applications live in.
std::shared_ptr<runtime::world> default_world(runtime::executor on);

}  // namespace holdfast::api
