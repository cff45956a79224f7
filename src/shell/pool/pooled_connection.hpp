#pragma once
#include "holdfast/id.hpp"

#include <atomic>
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

    /// The same because the pool was cleared, which is no wish of the operation's caller.
    void interrupt() noexcept
    {
        interrupted_.store(true, std::memory_order_release);
        cancel();
    }
    bool is_interrupted() const noexcept { return interrupted_.load(std::memory_order_acquire); }

    /// Whether the peer has closed it while it was idle, as far as this is known without waiting.
    virtual bool peer_has_closed() noexcept { return false; }

    /// Whether it holds more memory for messages than an idle connection is to keep.
    virtual bool has_large_buffers() const noexcept { return false; }
    /// Gives that memory back. Only for an idle connection: the last reply is gone then.
    virtual void release_large_buffers() noexcept {}

    /// Set by the pool: see core::connection_pool.
    connection_id pool_id = {};
    std::uint32_t generation = 0;

    /// Set by its user: what is in flight may be given up and done on another server instead.
    std::atomic<bool> repeatable{false};
    /// Set by the pool: another server has replaced this one since. The pool sets it before it
    /// reads `repeatable`, and the user reads it after having set that one: whatever the order, one
    /// of them gives the operation up.
    std::atomic<bool> replaced{false};
    /// Set by the pool, before it cancels for that reason.
    std::atomic<bool> given_up{false};

private:
    std::atomic<bool> interrupted_ = false;
};

using pooled_ptr = std::unique_ptr<pooled_connection>;

}  // namespace holdfast::shell
