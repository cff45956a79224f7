#pragma once
#include <chrono>
#include <cstddef>
#include <optional>

namespace holdfast::lab {

/// What a server does to one request instead of, or besides, answering it; in this order: delay,
/// then close or fail, then cut the reply. A protocol derives its own faults from it.
struct fault {
    std::chrono::milliseconds delay{0};
    bool close_connection = false;
    std::optional<int> error_code = {};  // an error code or status of the protocol
    /// Only so many bytes of the reply are sent before the connection is closed: the request was
    /// carried out, and its client cannot know.
    std::optional<std::size_t> cut_reply_at = {};
};

}  // namespace holdfast::lab
