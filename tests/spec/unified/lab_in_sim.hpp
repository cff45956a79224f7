#pragma once
#include "deployment.hpp"

namespace holdfast::spec::unified {

/// Client and servers in one simulation, on virtual time.
std::unique_ptr<deployment> start_in_sim(const lab_kind& what);

}  // namespace holdfast::spec::unified
