#pragma once
#include "runtime/stream.hpp"

namespace holdfast::net {

/// Makes a connection that an asynchronous world has opened, with TLS and all, one on which the
/// thread itself waits. Nothing may be pending on it. What is no socket of ours is given back as it
/// is: that works all the same, at a higher cost.
runtime::stream_ptr make_blocking(runtime::stream_ptr from);

}  // namespace holdfast::net
