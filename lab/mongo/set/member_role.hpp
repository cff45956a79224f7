#pragma once
#include "lab/mongo/data/optime.hpp"
#include "lab/mongo/set/config.hpp"
#include "lab/mongo/set/member_context.hpp"
#include "lab/mongo/set/member_state.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::lab::mongo {

/// What Raft calls the state of a server: configuration, term, role, the leader that it knows of,
/// and the election timer that a message of the leader puts off. Every transition that hello shows
/// goes through here, so that waiting hellos and heartbeats are woken by all of them.
class member_role {
public:
    explicit member_role(member_context& in) noexcept : context_{in} {}

    /// Reads the configuration from the disk, if there is one.
    void load_config();
    /// Stores the configuration before it takes effect; a primary that is not in it is forgotten.
    void replace_config(set_config next);
    const set_config& config() const noexcept { return config_; }
    bool has_config() const noexcept { return has_config_; }
    std::int32_t self_id() const noexcept { return self_id_; }  // -1: not in the configuration
    const member_config* self() const noexcept { return config_.by_id(self_id_); }

    member_state state() const noexcept { return state_; }
    /// What others are shown: replSetMaintenance hides a secondary behind RECOVERING.
    member_state shown_state() const noexcept;
    bool primary() const noexcept { return state_ == member_state::primary; }
    bool readable() const noexcept;
    bool maintenance() const noexcept { return maintenance_; }
    void set_maintenance(bool on);
    void become(member_state next);

    std::int64_t term() const noexcept { return context_.node.data->term(); }
    optime last() const noexcept { return context_.node.data->last(); }
    /// Takes a newer term over; a primary steps down then.
    void adopt_term(std::int64_t newest);
    void step_down();
    /// For a moment after a step-down a member calls itself neither primary nor secondary.
    bool stepping_down() const noexcept { return stepping_down_; }
    void become_primary();

    std::int32_t primary_id() const noexcept { return primary_id_; }  // -1: none is known
    std::string_view primary_host() const noexcept;
    /// When the primary was first heard of, or a takeover was last tried.
    time_point primary_since() const noexcept { return primary_since_; }
    void takeover_tried() { primary_since_ = context_.now(); }
    /// Whether a message of this member as the primary is news.
    bool is_new_primary(std::int32_t id) const noexcept;
    void heard_primary(std::int32_t id);
    void lost_primary();

    bool may_stand() const noexcept;
    time_point election_due() const noexcept { return election_at_; }
    void set_election_due(time_point at) noexcept { election_at_ = at; }
    void put_off_election();

    /// All others get a heartbeat at once, since something has changed.
    void announce();
    std::uint64_t announcements() const noexcept { return announcements_; }

private:
    void place_self();
    runtime::awaitable<void> end_step_down();

    member_context& context_;
    set_config config_;
    bool has_config_ = false;
    std::int32_t self_id_ = -1;
    member_state state_ = member_state::startup;
    bool maintenance_ = false;
    bool stepping_down_ = false;
    std::int32_t primary_id_ = -1;
    time_point primary_since_{};
    time_point election_at_ = runtime::never;
    std::uint64_t announcements_ = 1;
};

}  // namespace holdfast::lab::mongo
