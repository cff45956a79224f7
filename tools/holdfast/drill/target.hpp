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
    freeze,     // of a member, which keeps its connections and answers nothing until it thaws
    overload,   // servers refuse requests
    failover,   // a replica takes the place of a member that is lost, or hands over
    rebalance,  // members come and go, and data moves with them
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
    virtual result<void> freeze(std::size_t member);
    virtual result<void> thaw(std::size_t member);
    /// Servers refuse more than so many requests a second. 0: they take them all again.
    virtual result<void> limit_requests(std::int32_t per_second);
    /// The member is given up: what its replicas do not have is lost.
    virtual result<void> fail_over(std::size_t member);
    virtual result<void> fail_over_gracefully(std::size_t member);
    /// Puts others in the place of members that were failed over.
    virtual result<void> replace_lost();
    virtual result<void> rebalance_in();
    virtual result<void> rebalance_out(std::size_t member);

    /// Whether replicas have become active without what only the member before them had.
    virtual bool replicas_promoted() const noexcept { return false; }
};

}  // namespace holdfast::drill
