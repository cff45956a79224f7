#pragma once
#include "core/couchbase/settings/cluster_settings.hpp"

#include <string_view>

namespace holdfast::core::couchbase {

/// Whether all hosts of the connection string are nodes of Capella, Couchbase's hosted clusters,
/// whose certificates no system trusts.
bool is_capella(const cluster_settings& settings);

/// The certificate that those of Capella's nodes are signed with, in PEM; until December 2029.
std::string_view capella_root_certificate() noexcept;

}  // namespace holdfast::core::couchbase
