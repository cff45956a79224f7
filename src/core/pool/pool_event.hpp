#pragma once
#include "core/pool/pool_partition.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace holdfast::core {

enum class close_reason : std::uint8_t { stale, idle, error, pool_closed };
enum class checkout_failure : std::uint8_t { pool_closed, timeout, connection_error };

/// As the specification of connection monitoring spells them: "poolClosed".
std::string_view name_of(close_reason reason) noexcept;
std::string_view name_of(checkout_failure reason) noexcept;

/// What is reported about a pool. Named as in the specification of connection monitoring; the shell
/// adds the address, and the options of a new pool.
namespace pool_events {

struct created {};
struct ready {};
struct cleared {
    std::optional<pool_partition> partition;
    bool interrupts_in_use;
};
struct closed {};
struct connection_created {
    connection_id id;
};
struct connection_ready {
    connection_id id;
    duration took;
};
struct connection_closed {
    connection_id id;
    close_reason reason;
    std::optional<error> cause = {};
};
struct checkout_started {};
struct checkout_failed {
    checkout_failure reason;
    duration took;
    std::optional<error> cause = {};
};
struct checked_out {
    connection_id id;
    duration took;
};
struct checked_in {
    connection_id id;
};

}  // namespace pool_events

using pool_event = std::variant<pool_events::created, pool_events::ready, pool_events::cleared,
                                pool_events::closed, pool_events::connection_created,
                                pool_events::connection_ready, pool_events::connection_closed,
                                pool_events::checkout_started, pool_events::checkout_failed,
                                pool_events::checked_out, pool_events::checked_in>;

}  // namespace holdfast::core
