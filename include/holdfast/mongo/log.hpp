#pragma once
#include "holdfast/log.hpp"

/// The components of the drivers' logging specification, and `client` for what concerns a client as
/// a whole, such as warnings about its connection string.
namespace holdfast::mongo::log_components {

inline constexpr log_component command{"command"};
inline constexpr log_component topology{"topology"};
inline constexpr log_component server_selection{"serverSelection"};
inline constexpr log_component connection{"connection"};
inline constexpr log_component client{"client"};

}  // namespace holdfast::mongo::log_components
