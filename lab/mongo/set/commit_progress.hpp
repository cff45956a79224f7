#pragma once
#include "lab/mongo/set/commit_point.hpp"
#include "lab/mongo/set/member_role.hpp"

namespace holdfast::lab::mongo {

/// How far the members have come, and the majority commit point that follows: computed on a
/// primary, learned from the primary elsewhere.
class commit_progress {
public:
    commit_progress(member_context& in, const member_role& role) noexcept
        : context_{in}, role_{role}
    {
    }

    optime committed() const noexcept { return committed_; }
    const positions& reached() const noexcept { return positions_; }
    bool is_met(const optime& wrote, const write_concern& concern) const;

    /// A new primary knows only its own position.
    void restart();
    void set_position(std::int32_t id, const optime& at) { positions_[id] = at; }
    void raise_position(std::int32_t id, const optime& at);
    /// This member has written as the primary.
    void wrote(const optime& at);
    /// Recomputes the commit point of a primary.
    void update();
    /// The primary has reported its commit point.
    void learn(const optime& from_primary);
    /// Entries of the primary were applied, or its data was copied.
    void applied();

    /// A heartbeat with the present commit point is on its way.
    void announced() noexcept { unannounced_ = false; }

private:
    void advance_to(const optime& reached);

    member_context& context_;
    const member_role& role_;
    positions positions_;  // on a primary
    optime committed_ = {};
    optime learned_ = {};  // may be ahead of what this member has
    bool unannounced_ = false;
};

}  // namespace holdfast::lab::mongo
