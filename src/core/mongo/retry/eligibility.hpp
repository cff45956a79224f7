#pragma once
#include "core/mongo/sdam/server_description.hpp"
#include "core/mongo/settings/concern.hpp"
#include "holdfast/bson/view.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::core::mongo {

/// The first wire version with retryable writes: MongoDB 3.6.
inline constexpr std::int32_t retryable_writes_since = 6;
/// The first one with the bulkWrite command: MongoDB 8.0.
inline constexpr std::int32_t bulk_write_since = 25;

/// Whether the server remembers transaction numbers, so that a write sent twice is applied once.
bool supports_retryable_writes(server_type type, std::int32_t max_wire_version,
                               std::optional<std::int32_t> session_timeout_minutes) noexcept;

/// A write command about to be sent.
struct write_command {
    std::string_view name;
    bool touches_many = false;  // a statement with multi: true or limit: 0
    bool acknowledged = true;   // not w: 0
};

/// Whether such a command may carry a transaction number on a server that supports them. The
/// server refuses numbers on any other command.
bool takes_transaction_number(const write_command& command, std::int32_t max_wire_version) noexcept;

/// Whether one of the statements in the command's body writes to more than one document.
bool touches_many(bson::view command) noexcept;

/// The read commands that are tried once more after a lost connection.
bool is_retryable_read(std::string_view command) noexcept;

}  // namespace holdfast::core::mongo
