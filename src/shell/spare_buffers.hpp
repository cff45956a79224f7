#pragma once
#include "holdfast/bson/byte_buffer.hpp"

namespace holdfast::shell {

/// Small buffers that a thread keeps for the content of its next requests: taking memory for one
/// and giving it back costs more than writing the request.
struct spare_buffers {
    static constexpr std::size_t largest = 1024;

    /// An empty one, with or without memory.
    static bson::byte_buffer take() noexcept;
    static void give_back(bson::byte_buffer&& used) noexcept;
};

}  // namespace holdfast::shell
