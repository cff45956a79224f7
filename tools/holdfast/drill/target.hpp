#pragma once
#include "holdfast/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace holdfast::drill {

/// What a scenario may do to a deployment.
enum class fault : std::uint8_t {
    step_down,  // the leader hands over
    crash,      // of a member, which is restarted
    overload,   // servers refuse requests
};

/// A deployment that can be broken on purpose. A fault that it does not support is an error.
class target {
public:
    target() = default;
    target(const target&) = delete;
    target& operator=(const target&) = delete;
    virtual ~target() = default;

    virtual bool supports(fault kind) const noexcept = 0;

    /// Waits until the deployment takes writes. Returns the member whose loss stops them.
    virtual result<std::size_t> await_leader() = 0;

    virtual result<void> step_down(std::chrono::seconds stays_down);
    virtual result<void> crash(std::size_t member);
    virtual result<void> restart(std::size_t member);
    /// Servers refuse more than so many requests a second. 0: they take them all again.
    virtual result<void> limit_requests(std::int32_t per_second);
};

}  // namespace holdfast::drill
