#pragma once
#include "holdfast/id.hpp"

#include <cstdint>
#include <memory>

namespace holdfast::shell {

/// What a pool knows of a connection, whatever its protocol.
class pooled_connection {
public:
    pooled_connection() = default;
    pooled_connection(const pooled_connection&) = delete;
    pooled_connection& operator=(const pooled_connection&) = delete;
    virtual ~pooled_connection() = default;

    /// Ends whatever is going on, and all that is tried later. From any thread.
    virtual void cancel() noexcept = 0;

    /// Set by the pool: see core::connection_pool.
    connection_id pool_id = {};
    std::uint32_t generation = 0;
};

using pooled_ptr = std::unique_ptr<pooled_connection>;

}  // namespace holdfast::shell
