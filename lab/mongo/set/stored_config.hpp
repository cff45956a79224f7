#pragma once
#include "lab/mongo/data/disk.hpp"
#include "lab/mongo/set/config.hpp"

#include <optional>

namespace holdfast::lab::mongo {

/// The configuration in local.system.replset, where MongoDB keeps it too.
std::optional<set_config> stored_config(const disk& on);
void store_config(disk& on, const set_config& config);

}  // namespace holdfast::lab::mongo
