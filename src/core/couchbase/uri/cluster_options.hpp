#pragma once
#include "core/couchbase/settings/cluster_settings.hpp"
#include "core/uri/option_table.hpp"

namespace holdfast::core::couchbase {

using cluster_option = uri::option<cluster_settings>;

/// Couchbase's options, by the names that its other clients have for them, and a few of Holdfast's
/// own.
const uri::option_table<cluster_settings>& cluster_option_table() noexcept;

}  // namespace holdfast::core::couchbase
