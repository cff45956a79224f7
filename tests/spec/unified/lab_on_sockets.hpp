#pragma once
#include "deployment.hpp"

namespace holdfast::spec::unified {

/// Servers on loopback with a thread of their own, and a client on the calling thread.
std::unique_ptr<deployment> start_on_sockets(const lab_kind& what);

}  // namespace holdfast::spec::unified
