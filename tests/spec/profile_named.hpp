#pragma once
#include "core/mongo/settings/profile.hpp"

#include <string_view>

namespace holdfast::spec {

/// The name was checked when the command line was read.
inline const core::mongo::resilience_profile& profile_named(std::string_view name)
{
    using core::mongo::as_specified;
    using core::mongo::upstream_2026_07;
    return name == name_of(upstream_2026_07.name) ? upstream_2026_07 : as_specified;
}

}  // namespace holdfast::spec
