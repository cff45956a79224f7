#pragma once
#include "holdfast/log.hpp"

/// The components of the drivers' logging specification.
namespace holdfast::mongo::log_components {

inline constexpr log_component command{"command"};
inline constexpr log_component topology{"topology"};
inline constexpr log_component server_selection{"serverSelection"};
inline constexpr log_component connection{"connection"};

}  // namespace holdfast::mongo::log_components
