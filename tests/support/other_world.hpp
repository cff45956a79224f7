#pragma once
#include "runtime/world.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// Another world as it is. For those that change one thing of it.
class other_world : public runtime::world {
public:
    explicit other_world(runtime::world& real) : real_{real} {}

    runtime::executor executor() override { return real_.executor(); }
    time_point steady_now() const noexcept override { return real_.steady_now(); }
    runtime::wall_time wall_now() const noexcept override { return real_.wall_now(); }
    void random(std::span<std::uint8_t> into) override { real_.random(into); }
    runtime::alarm_clock& alarms() noexcept override { return real_.alarms(); }
    runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::destination where,
                                                            time_point until) override
    {
        return real_.connect(std::move(where), until);
    }
    result<runtime::listener_ptr> listen(runtime::destination where) override
    {
        return real_.listen(std::move(where));
    }
    runtime::awaitable<result<std::vector<std::string>>> resolve(std::string host,
                                                                 time_point until) override
    {
        return real_.resolve(std::move(host), until);
    }
    runtime::awaitable<result<std::vector<runtime::srv_record>>> resolve_srv(
        std::string name, time_point until) override
    {
        return real_.resolve_srv(std::move(name), until);
    }
    runtime::awaitable<result<std::vector<std::string>>> resolve_txt(std::string name,
                                                                     time_point until) override
    {
        return real_.resolve_txt(std::move(name), until);
    }
    result<runtime::tls_ptr> tls(const runtime::tls_options& options) override
    {
        return real_.tls(options);
    }

private:
    runtime::world& real_;
};

}  // namespace holdfast::proof
