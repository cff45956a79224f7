#pragma once
#include "runtime/world.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::proof {

/// Another world with one thing changed: what chance() gives. Chance is drawn in eight bytes, and
/// nothing else is.
class bent_world final : public runtime::world {
public:
    explicit bent_world(runtime::world& real) : real_{real} {}

    /// All bits of it: 0x00 is no jitter at all, 0xFF nearly all of it.
    std::optional<std::uint8_t> chance_bits = {};

    runtime::executor executor() override { return real_.executor(); }
    time_point steady_now() const noexcept override { return real_.steady_now(); }
    runtime::wall_time wall_now() const noexcept override { return real_.wall_now(); }
    void random(std::span<std::uint8_t> into) override
    {
        if (chance_bits && into.size() == 8)
            std::ranges::fill(into, *chance_bits);
        else
            real_.random(into);
    }
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
