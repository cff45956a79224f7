#include "api/default_runtime.hpp"

#include "net/world.hpp"

#include <utility>

namespace holdfast::api {

std::shared_ptr<runtime::world> default_world(runtime::executor on)
{
    return std::make_shared<net::async_world>(std::move(on));
}

}  // namespace holdfast::api
