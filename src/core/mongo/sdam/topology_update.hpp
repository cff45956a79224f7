#pragma once
#include "core/mongo/sdam/transition.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

/// One change of the topology in the making: the next description, and the effects and events that
/// it brings. Its functions are the actions of the specification's table, under their names there.
class topology_update {
public:
    topology_update(const topology_ptr& before, wire_range client)
        : before_{before}, next_{*before}, client_{client}
    {
    }

    topology_description& next() noexcept { return next_; }

    /// Puts a description in the place of the one with the same address.
    void put(server_ptr s);

    /// Runs the cell of the table for a server that has just been replaced.
    void run_table(const server_ptr& s);

    /// Adds those that are not there yet, as long as there are fewer than `limit` servers. Returns
    /// how many were left out.
    std::size_t add_all(std::span<const std::string_view> addresses, std::size_t limit);
    void remove(const endpoint& address);
    void keep_only(const std::function<bool(std::string_view)>& stays);

    void does(effect e) { effects_.push_back(std::move(e)); }
    void emit(sdam_event e) { events_.push_back(std::move(e)); }
    void emit_first(sdam_event e) { events_.insert(events_.begin(), std::move(e)); }

    /// Settles what follows from all servers together, and emits the events of a change.
    transition finish();

private:
    void in_unknown(const server_ptr& s);
    void in_sharded(const server_ptr& s);
    void in_no_primary(const server_ptr& s);
    void in_with_primary(const server_ptr& s);

    void update_unknown_with_standalone(const server_ptr& s);
    void update_rs_without_primary(const server_ptr& s);
    void update_rs_with_primary_from_member(const server_ptr& s);
    void update_rs_from_primary(const server_ptr& s);
    void check_if_has_primary();

    bool has_other_set_name(const server_ptr& s) const;
    bool is_stale_primary(const server_ptr& s);
    void mark_stale(const server_ptr& s);
    void depose_other_primaries(const server_ptr& s);
    void release_lost_primary(const server_ptr& s);
    void hint_primary(const server_ptr& s);
    bool has_exactly_members(const server_ptr& s) const;
    void add_members(const server_ptr& s, std::size_t limit);
    void remove_all_but_members(const server_ptr& s);
    void check_compatibility();
    void find_session_timeout();

    std::vector<server_ptr>::iterator slot(std::string_view address);

    const topology_ptr& before_;
    topology_description next_;
    wire_range client_;
    std::vector<effect> effects_;
    std::vector<sdam_event> events_;
};

}  // namespace holdfast::core::mongo
