#pragma once
#include "net/dns/resolver.hpp"
#include "runtime/world.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::net {

struct world_settings {
    dns_settings dns = {};
    duration head_start = std::chrono::milliseconds{250};  // of one address before the next one
};

/// The world of sockets and of the system's clocks, on an executor of the application's. Starts no
/// thread. Everything it makes may be used from all threads that run the executor.
class async_world final : public runtime::world {
public:
    explicit async_world(runtime::executor on, world_settings settings = {});
    ~async_world() override;

    runtime::executor executor() override;
    time_point steady_now() const noexcept override;
    runtime::wall_time wall_now() const noexcept override;
    void random(std::span<std::uint8_t> into) override;
    runtime::alarm_clock& alarms() noexcept override;
    std::shared_ptr<runtime::alarm_clock> shared_alarms() noexcept override;
    runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::destination where,
                                                            time_point until) override;
    result<runtime::listener_ptr> listen(runtime::destination where) override;
    runtime::awaitable<result<std::vector<std::string>>> resolve(std::string host,
                                                                 time_point until) override;
    runtime::awaitable<result<std::vector<runtime::srv_record>>> resolve_srv(
        std::string name, time_point until) override;
    runtime::awaitable<result<std::vector<std::string>>> resolve_txt(std::string name,
                                                                     time_point until) override;
    result<runtime::tls_ptr> tls(const runtime::tls_options& options) override;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace holdfast::net
