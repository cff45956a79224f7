#pragma once
#include "holdfast/bson/object_id.hpp"
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

/// What users are told about a pool. Named as in the specification; the shell adds the address, and
/// the options of a new pool.
namespace pool_told {

struct created {};
struct ready {};
struct cleared {
    std::optional<bson::object_id> service_id;
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

}  // namespace pool_told

using pool_event =
    std::variant<pool_told::created, pool_told::ready, pool_told::cleared, pool_told::closed,
                 pool_told::connection_created, pool_told::connection_ready,
                 pool_told::connection_closed, pool_told::checkout_started,
                 pool_told::checkout_failed, pool_told::checked_out, pool_told::checked_in>;

}  // namespace holdfast::core
