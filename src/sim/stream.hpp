#pragma once
#include "runtime/stream.hpp"
#include "sim/connection.hpp"
#include "sim/incarnation.hpp"

#include <memory>
#include <string>

namespace holdfast::sim {

/// One end of a connection, as its process has it. The kernel's part is in network.
class sim_stream final : public runtime::stream, private runtime::alarm {
public:
    sim_stream(incarnation& in, std::shared_ptr<connection> over, std::size_t side);
    ~sim_stream() override;

    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t> into) override;
    runtime::io_result write_now(std::span<const std::uint8_t> bytes) override;
    runtime::awaitable<error_code> writable() override;
    void expires_at(time_point when) override;
    void cancel() noexcept override;
    bool peer_has_closed() noexcept override;
    std::string peer() const override { return name_of(other(side_)); }
    std::string local() const override { return name_of(side_); }

private:
    using waiting = std::shared_ptr<runtime::suspension>;

    void ring() noexcept override;
    void end_waits(runtime::wait_end end) noexcept;
    std::string name_of(std::size_t side) const;
    error_code ended() const noexcept;
    runtime::awaitable<error_code> begin() const;
    /// Waits in the place given. No error: there is news.
    runtime::awaitable<error_code> wait(waiting& place);

    incarnation& in_;
    std::shared_ptr<connection> over_;
    std::size_t side_;
    bool cancelled_ = false;  // for good
    bool expired_ = false;    // until expires_at() moves the time
};

class sim_listener final : public runtime::listener {
public:
    sim_listener(incarnation& in, std::shared_ptr<backlog> at) : in_{in}, at_{std::move(at)} {}
    ~sim_listener() override;

    runtime::awaitable<result<runtime::stream_ptr>> accept() override;
    void cancel() noexcept override;
    std::uint16_t port() const noexcept override { return at_->port; }

private:
    incarnation& in_;
    std::shared_ptr<backlog> at_;
};

}  // namespace holdfast::sim
