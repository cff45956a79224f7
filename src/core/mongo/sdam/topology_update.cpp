#include "core/mongo/sdam/topology_update.hpp"

#include "holdfast/bson/errc.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// The first wire version whose primaries have comparable election ids: MongoDB 6.0.
constexpr std::int32_t elections_come_first = 17;
/// From MongoDB 4.2 a primary that steps down keeps its connections.
constexpr std::int32_t stepdown_keeps_connections = 8;
/// The release that speaks client_min_wire_version.
constexpr std::string_view oldest_release = "3.6";

error stale_primary(std::string_view why)
{
    return error{bson::errc::invalid_value, "primary marked stale due to " + std::string{why}};
}

template <class T>
std::string shown(const std::optional<T>& value)
{
    if constexpr (std::is_same_v<T, bson::object_id>)
        return value ? value->to_string() : "none";
    else
        return value ? std::to_string(*value) : "none";
}

}  // namespace

std::vector<server_ptr>::iterator topology_update::slot(const endpoint& address)
{
    return std::ranges::lower_bound(
        next_.servers, address, {},
        [](const server_ptr& s) -> const endpoint& { return s->address; });
}

void topology_update::put(server_ptr s)
{
    const auto at = slot(s->address);
    *at = std::move(s);
}

void topology_update::add(const endpoint& address)
{
    const auto at = slot(address);
    if (at != next_.servers.end() && (*at)->address == address)
        return;
    next_.servers.insert(at, std::make_shared<const server_description>(unknown_server(address)));
    does(start_monitor{address});
    emit(server_opening{address});
}

void topology_update::remove(const endpoint& address)
{
    const auto at = slot(address);
    assert(at != next_.servers.end() && (*at)->address == address);
    const server_ptr kept = *at;  // `address` may be part of what goes
    next_.servers.erase(at);
    does(stop_monitor{kept->address});
    emit(server_closed{kept->address});
}

void topology_update::run_table(const server_ptr& s)
{
    switch (next_.type) {
    case topology_type::unknown:
        return in_unknown(s);
    case topology_type::sharded:
        return in_sharded(s);
    case topology_type::replica_set_no_primary:
        return in_no_primary(s);
    case topology_type::replica_set_with_primary:
        return in_with_primary(s);
    case topology_type::single:
    case topology_type::load_balanced:
        return;  // these never change
    }
}

void topology_update::in_unknown(const server_ptr& s)
{
    switch (s->type) {
    case server_type::standalone:
        return update_unknown_with_standalone(s);
    case server_type::mongos:
        next_.type = topology_type::sharded;
        return;
    case server_type::rs_primary:
        next_.type = topology_type::replica_set_with_primary;
        return update_rs_from_primary(s);
    case server_type::rs_secondary:
    case server_type::rs_arbiter:
    case server_type::rs_other:
        next_.type = topology_type::replica_set_no_primary;
        return update_rs_without_primary(s);
    case server_type::unknown:
    case server_type::possible_primary:
    case server_type::rs_ghost:  // has no set name yet, so says nothing about the topology
    case server_type::load_balancer:
        return;
    }
}

void topology_update::in_sharded(const server_ptr& s)
{
    if (s->type != server_type::mongos && !is_unknown(s->type))
        remove(s->address);
}

void topology_update::in_no_primary(const server_ptr& s)
{
    switch (s->type) {
    case server_type::standalone:
    case server_type::mongos:
        return remove(s->address);
    case server_type::rs_primary:
        next_.type = topology_type::replica_set_with_primary;
        return update_rs_from_primary(s);
    case server_type::rs_secondary:
    case server_type::rs_arbiter:
    case server_type::rs_other:
        return update_rs_without_primary(s);
    case server_type::unknown:
    case server_type::possible_primary:
    case server_type::rs_ghost:
    case server_type::load_balancer:
        return;
    }
}

void topology_update::in_with_primary(const server_ptr& s)
{
    switch (s->type) {
    case server_type::standalone:
    case server_type::mongos:
        remove(s->address);
        return check_if_has_primary();
    case server_type::rs_primary:
        return update_rs_from_primary(s);
    case server_type::rs_secondary:
    case server_type::rs_arbiter:
    case server_type::rs_other:
        return update_rs_with_primary_from_member(s);
    case server_type::unknown:
    case server_type::possible_primary:
    case server_type::rs_ghost:
    case server_type::load_balancer:
        return check_if_has_primary();
    }
}

void topology_update::update_unknown_with_standalone(const server_ptr& s)
{
    // A seed list of several hosts means a set or a cluster; a standalone among them is a member
    // under maintenance.
    if (next_.seed_count == 1)
        next_.type = topology_type::single;
    else
        remove(s->address);
}

bool topology_update::has_other_set_name(const server_ptr& s) const
{
    return next_.set_name && next_.set_name != s->set_name;
}

void topology_update::update_rs_without_primary(const server_ptr& s)
{
    if (has_other_set_name(s))
        return remove(s->address);
    next_.set_name = s->set_name;
    add_members(s);
    hint_primary(s);
    if (s->me && *s->me != s->address)
        remove(s->address);
}

void topology_update::update_rs_with_primary_from_member(const server_ptr& s)
{
    const bool misnamed = s->me && *s->me != s->address;
    if (has_other_set_name(s) || misnamed) {
        remove(s->address);
        return check_if_has_primary();
    }
    check_if_has_primary();
    if (next_.type == topology_type::replica_set_no_primary)
        hint_primary(s);
}

void topology_update::update_rs_from_primary(const server_ptr& s)
{
    if (has_other_set_name(s)) {
        remove(s->address);
        return check_if_has_primary();
    }
    next_.set_name = s->set_name;
    if (is_stale_primary(s)) {
        mark_stale(s);
        return check_if_has_primary();
    }
    depose_other_primaries(s);
    if (!has_exactly_members(s)) {
        add_members(s);
        remove_all_but_members(s);
    }
    check_if_has_primary();
}

/// Whether the primary lost an election that we know of. If not, its own is the latest one.
bool topology_update::is_stale_primary(const server_ptr& s)
{
    if (s->max_wire_version >= elections_come_first) {
        // A missing value sorts below every other and equals another missing one, as in a tuple of
        // optionals.
        if (std::tie(s->election_id, s->set_version) <
            std::tie(next_.max_election_id, next_.max_set_version))
            return true;
        next_.max_election_id = s->election_id;
        next_.max_set_version = s->set_version;
        return false;
    }
    if (s->set_version && s->election_id) {
        if (next_.max_set_version && next_.max_election_id &&
            std::tie(s->set_version, s->election_id) <
                std::tie(next_.max_set_version, next_.max_election_id))
            return true;
        next_.max_election_id = s->election_id;
    }
    if (s->set_version && (!next_.max_set_version || *s->set_version > *next_.max_set_version))
        next_.max_set_version = s->set_version;
    return false;
}

void topology_update::mark_stale(const server_ptr& s)
{
    error why = stale_primary("electionId/setVersion mismatch, it reported (" +
                              shown(s->election_id) + ", " + shown(s->set_version) +
                              "), the latest known is (" + shown(next_.max_election_id) + ", " +
                              shown(next_.max_set_version) + ")");
    put(std::make_shared<const server_description>(unknown_server(s->address, std::move(why))));
}

void topology_update::depose_other_primaries(const server_ptr& s)
{
    for (server_ptr& other : next_.servers) {
        if (other->type != server_type::rs_primary || other->address == s->address)
            continue;
        const server_ptr deposed = other;
        error why = stale_primary("discovery of newer primary " + s->address.value());
        other = std::make_shared<const server_description>(unknown_server(deposed->address, why));
        emit(server_description_changed{deposed, other});
        if (deposed->max_wire_version < stepdown_keeps_connections)
            does(clear_pool{deposed->address, std::move(why)});
        does(request_check{deposed->address});
    }
}

void topology_update::hint_primary(const server_ptr& s)
{
    if (!s->primary)
        return;
    const auto at = slot(*s->primary);
    if (at == next_.servers.end() || (*at)->address != *s->primary ||
        (*at)->type != server_type::unknown)
        return;
    server_description hinted = **at;
    hinted.type = server_type::possible_primary;
    *at = std::make_shared<const server_description>(std::move(hinted));
}

/// Nearly every reply of a primary lists the known members; one pass over the sorted lists decides.
bool topology_update::has_exactly_members(const server_ptr& s) const
{
    std::ranges::subrange<address_list::const_iterator> lists[] = {s->hosts, s->passives,
                                                                   s->arbiters};
    const auto is_next = [&](const server_ptr& known) {
        bool found = false;
        for (auto& rest : lists) {
            if (!rest.empty() && rest.front() == known->address.value()) {
                found = true;
                rest.advance(1);
            }
        }
        return found;
    };
    return std::ranges::all_of(next_.servers, is_next) &&
           std::ranges::all_of(lists, [](const auto& rest) { return rest.empty(); });
}

void topology_update::add_members(const server_ptr& s)
{
    for (const address_list* list : {&s->hosts, &s->passives, &s->arbiters}) {
        for (const std::string_view member : *list)
            add(endpoint{std::string{member}});
    }
}

void topology_update::remove_all_but_members(const server_ptr& s)
{
    std::vector<server_ptr> leaving;
    std::ranges::copy_if(next_.servers, std::back_inserter(leaving), [&](const server_ptr& other) {
        const std::string_view address = other->address.value();
        return !s->hosts.contains(address) && !s->passives.contains(address) &&
               !s->arbiters.contains(address);
    });
    for (const server_ptr& other : leaving)
        remove(other->address);
}

void topology_update::check_if_has_primary()
{
    const bool has_primary = std::ranges::any_of(
        next_.servers, [](const server_ptr& s) { return s->type == server_type::rs_primary; });
    next_.type = has_primary ? topology_type::replica_set_with_primary
                             : topology_type::replica_set_no_primary;
}

void topology_update::check_compatibility()
{
    next_.compatibility_error.reset();
    for (const server_ptr& s : next_.servers) {
        if (is_unknown(s->type) || s->type == server_type::load_balancer)
            continue;
        if (s->min_wire_version > client_.max) {
            next_.compatibility_error = "Server at " + s->address.value() +
                                        " requires wire version " +
                                        std::to_string(s->min_wire_version) +
                                        ", but this version of Holdfast only supports up to " +
                                        std::to_string(client_.max) + ".";
            return;
        }
        if (s->max_wire_version < client_.min) {
            next_.compatibility_error = "Server at " + s->address.value() +
                                        " reports wire version " +
                                        std::to_string(s->max_wire_version) +
                                        ", but this version of Holdfast requires at least " +
                                        std::to_string(client_.min) + " (MongoDB " +
                                        std::string{oldest_release} + ").";
            return;
        }
    }
}

void topology_update::find_session_timeout()
{
    next_.logical_session_timeout_minutes.reset();
    for (const server_ptr& s : next_.servers) {
        if (!is_data_bearing(s->type))
            continue;
        const auto& minutes = s->logical_session_timeout_minutes;
        if (!minutes) {
            next_.logical_session_timeout_minutes.reset();
            return;
        }
        auto& shortest = next_.logical_session_timeout_minutes;
        shortest = shortest ? std::min(*shortest, *minutes) : *minutes;
    }
}

transition topology_update::finish()
{
    if (next_.servers.empty() && !before_->servers.empty())
        does(warn{"the last server, " + before_->servers.back()->address.value() +
                  ", was removed from the topology: nothing is left to discover others from"});
    check_compatibility();
    find_session_timeout();
    auto after = std::make_shared<const topology_description>(std::move(next_));
    if (*before_ != *after)
        emit(topology_description_changed{before_, after});
    return {std::move(after), std::move(effects_), std::move(events_)};
}

}  // namespace holdfast::core::mongo
