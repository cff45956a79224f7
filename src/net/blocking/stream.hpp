#pragma once
#include "net/blocking/descriptor.hpp"
#include "runtime/stream.hpp"

#include <atomic>
#include <string>

namespace holdfast::net {

/// A connected socket on which the thread itself waits. None of its coroutines ever suspends.
///
/// A read is one call to recv() in which the socket's own time limit holds. That limit is coarse,
/// the kernel lets it pass by up to an eighth, and changing it is a system call. So it is set to
/// half of the time that is left and kept as long as it is short enough, which for a constant
/// time-out is for ever; when it comes, what remains is waited for with poll(), which is exact.
/// A write hardly ever has to wait, and then does it with poll() from the start.
class blocking_stream final : public runtime::stream {
public:
    /// `socket` is in blocking mode.
    blocking_stream(descriptor socket, std::string peer);

    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t> into) override;
    std::optional<runtime::io_result> read_now(std::span<std::uint8_t> into) override
    {
        return receive(into);
    }
    runtime::io_result write_now(std::span<const std::uint8_t> bytes) override;
    runtime::awaitable<error_code> writable() override;
    void expires_at(time_point when) override { until_ = when; }
    void cancel() noexcept override;
    bool peer_has_closed() noexcept override;
    std::string peer() const override { return peer_; }
    std::string local() const override;

private:
    runtime::io_result receive(std::span<std::uint8_t> into);
    duration time_left() const noexcept;
    bool limit_suffices(duration left, bool has_come) noexcept;
    bool set_limit(duration limit) noexcept;
    error_code wait_for(short what) const;

    descriptor socket_;
    std::string peer_;
    time_point until_ = runtime::never;
    duration limit_{};  // of recv(); zero is none, as for the socket
    std::atomic<bool> cancelled_ = false;
};

}  // namespace holdfast::net
