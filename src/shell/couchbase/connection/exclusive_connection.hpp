#pragma once
#include "shell/couchbase/connection/kv_connection.hpp"
#include "shell/pool/pooled_connection.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::shell::couchbase {

/// A key-value connection that one thread uses at a time, for one request, over a stream on which
/// that thread waits itself. Nothing reads between two requests, so the server is not asked to send
/// anything by itself.
class exclusive_connection final : public pooled_connection {
public:
    explicit exclusive_connection(std::shared_ptr<kv_connection> over) : inner_{std::move(over)} {}
    ~exclusive_connection() override { cancel(); }

    const std::shared_ptr<kv_connection>& inner() const noexcept { return inner_; }

    /// Reads until the waiter of this request has its reply, or the error of a connection that has
    /// ended: then `notified`; or until the request's deadline. Nothing if the stream cannot be
    /// read without a coroutine: then receive(). The reply lies in this connection's buffer.
    std::optional<runtime::wait_end> receive_now(std::uint32_t opaque, kv_waiter& waiter);
    runtime::awaitable<runtime::wait_end> receive(std::uint32_t opaque, kv_waiter& waiter);

    void cancel() noexcept override;
    bool peer_has_closed() noexcept override { return inner_->stream_->peer_has_closed(); }
    bool has_large_buffers() const noexcept override
    {
        return inner_->reader_.capacity() > core::couchbase::frame_reader::usual_capacity;
    }
    void release_large_buffers() noexcept override { inner_->reader_.shrink(); }

private:
    std::optional<runtime::wait_end> take_frames(std::uint32_t opaque, kv_waiter& waiter);
    std::optional<runtime::wait_end> take_read(const runtime::io_result& got, std::uint32_t opaque,
                                               kv_waiter& waiter);
    runtime::wait_end ended(kv_waiter& waiter);

    const std::shared_ptr<kv_connection> inner_;
};

}  // namespace holdfast::shell::couchbase
