#pragma once
#include "core/pool/pool_partition.hpp"
#include "holdfast/bson/object_id.hpp"

#include <optional>

namespace holdfast::shell::mongo {

/// Each service behind a load balancer has generations of its own.
inline std::optional<core::pool_partition> partition_of(
    const std::optional<bson::object_id>& service) noexcept
{
    if (!service)
        return std::nullopt;
    return core::pool_partition{service->bytes};
}

}  // namespace holdfast::shell::mongo
