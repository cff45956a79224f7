#pragma once
#include "net/address.hpp"
#include "net/blocking/descriptor.hpp"
#include "runtime/world.hpp"

#include <vector>

namespace holdfast::net {

/// Tries the endpoints of `where` side by side on the calling thread (RFC 8305): the next one when
/// one has failed or its head start is over. The first to be connected wins. `cancel` ends it.
result<runtime::stream_ptr> connect_blocking(const runtime::destination& where,
                                             const std::vector<stream_endpoint>& endpoints,
                                             duration head_start, time_point until,
                                             const wake_up& cancel);

}  // namespace holdfast::net
