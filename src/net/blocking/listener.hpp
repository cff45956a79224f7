#pragma once
#include "runtime/world.hpp"

namespace holdfast::net {

/// Its accept() waits on the calling thread.
result<runtime::listener_ptr> make_blocking_listener(const runtime::destination& where);

}  // namespace holdfast::net
