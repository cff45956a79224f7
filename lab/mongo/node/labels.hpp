#pragma once
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/node.hpp"

namespace holdfast::lab::mongo {

/// Older servers leave it to their clients what a code means.
inline constexpr server_version labels_since{4, 4, 0};

/// Whether a server says RetryableWriteError of this code when a write with a number fails.
bool is_retryable_write_code(int code) noexcept;

/// Errors after which a client must look anew who is what; they carry a topologyVersion.
bool is_state_change_code(int code) noexcept;

/// Those of them by which a member says that it is not the primary, or was not long enough. A
/// member names its topologyVersion in each, even in one that a fail point has made.
bool is_not_primary_code(int code) noexcept;

/// A server's own label for a command that failed with this code, or has it in a
/// writeConcernError.
bool earns_retryable_label(const request& what, int code) noexcept;

}  // namespace holdfast::lab::mongo
