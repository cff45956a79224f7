#include "core/mongo/sdam/topology_update.hpp"

#include "holdfast/bson/errc.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <limits>
#include <ranges>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// The first wire version whose primaries have comparable election ids: MongoDB 6.0.
constexpr std::int32_t elections_come_first = 17;
/// From MongoDB 4.2 a primary that steps down keeps its connections.
constexpr std::int32_t stepdown_keeps_connections = 8;
constexpr std::size_t most_removed_shown = 8;

error stale_primary(std::string_view why)
{
    return error{bson::errc::invalid_value, "primary marked stale due to " + std::string{why}};
}

constexpr auto address_of = [](const server_ptr& s) -> std::string_view {
    return s->address.value();
};

/// Whether both name their election, and that of `newer` came later, in the order in which
/// is_stale_primary() compares them.
bool was_elected_later(const server_description& newer, const server_description& older)
{
    if (!newer.election_id || !newer.set_version || !older.election_id || !older.set_version)
        return false;
    if (newer.max_wire_version >= elections_come_first)
        return std::tie(older.election_id, older.set_version) <
               std::tie(newer.election_id, newer.set_version);
    return std::tie(older.set_version, older.election_id) <
           std::tie(newer.set_version, newer.election_id);
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

std::vector<server_ptr>::iterator topology_update::slot(std::string_view address)
{
    return std::ranges::lower_bound(next_.servers, address, {}, address_of);
}

void topology_update::put(server_ptr s)
{
    const auto at = slot(s->address.value());
    *at = std::move(s);
}

std::size_t topology_update::add_all(std::span<const std::string_view> addresses, std::size_t limit)
{
    std::vector<server_ptr> joining;
    std::set<std::string_view> fresh;  // a list, or two lists, may name a server twice
    for (const std::string_view address : addresses) {
        const auto at = slot(address);
        const bool known = at != next_.servers.end() && (*at)->address.value() == address;
        if (known || !fresh.insert(address).second)
            continue;
        if (next_.servers.size() + joining.size() >= limit)
            continue;
        joining.push_back(std::make_shared<const server_description>(
            unknown_server(endpoint{std::string{address}})));
        does(start_monitor{joining.back()->address});
        emit(server_opening{joining.back()->address});
    }
    const std::size_t left_out = fresh.size() - joining.size();
    std::ranges::sort(joining, {}, address_of);
    std::vector<server_ptr> all;
    all.reserve(next_.servers.size() + joining.size());
    std::ranges::merge(next_.servers, joining, std::back_inserter(all), {}, address_of, address_of);
    next_.servers = std::move(all);
    return left_out;
}

void topology_update::keep_only(const std::function<bool(std::string_view)>& stays)
{
    std::vector<server_ptr> kept;
    for (server_ptr& s : next_.servers) {
        if (stays(s->address.value())) {
            kept.push_back(std::move(s));
        } else {
            does(stop_monitor{s->address});
            emit(server_closed{s->address});
        }
    }
    next_.servers = std::move(kept);
}

void topology_update::remove(const endpoint& address)
{
    const auto at = slot(address.value());
    assert(at != next_.servers.end() && (*at)->address == address);
    const server_ptr kept = *at;  // `address` may be part of what goes
    next_.servers.erase(at);
    if (next_.set_name && !is_unknown(kept->type) && kept->set_name != next_.set_name) {
        std::erase_if(next_.removed,
                      [&](const removed_server& one) { return one.address == kept->address; });
        next_.removed.push_back({kept->address, kept->set_name});
        if (next_.removed.size() > most_removed_shown)
            next_.removed.erase(next_.removed.begin());
    }
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
    // Without a primary nothing takes members away: the lists of several may add up.
    add_members(s, max_reported_hosts);
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
    release_lost_primary(s);
    next_.last_primary = s;
    if (!has_exactly_members(s)) {
        add_members(s, std::numeric_limits<std::size_t>::max());
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
        if (was_elected_later(*s, *deposed))
            does(release_operations{deposed->address, s->address});
        if (deposed->max_wire_version < stepdown_keeps_connections)
            does(clear_pool{deposed->address, std::move(why)});
        does(request_check{deposed->address});
    }
}

/// A primary that was lost before its successor was known (a failed handshake, a connection that
/// broke) was not deposed above, but its operations wait in vain as well. One that has answered
/// since, as a secondary say, answers them itself.
void topology_update::release_lost_primary(const server_ptr& s)
{
    const server_ptr& last = next_.last_primary;
    if (!last || last->address == s->address || !was_elected_later(*s, *last))
        return;
    const server_ptr before = before_->find(last->address);  // a primary was deposed above
    if (before && next_.find(last->address) && is_unknown(before->type))
        does(release_operations{last->address, s->address});
}

void topology_update::hint_primary(const server_ptr& s)
{
    if (!s->primary)
        return;
    const auto at = slot(s->primary->value());
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

void topology_update::add_members(const server_ptr& s, std::size_t limit)
{
    std::vector<std::string_view> members;
    for (const address_list* list : {&s->hosts, &s->passives, &s->arbiters})
        members.insert(members.end(), list->begin(), list->end());
    const std::size_t left_out = add_all(members, limit);
    if (left_out != 0)
        does(warn{std::to_string(left_out) + " members that " + s->address.value() +
                  " names are ignored: a topology has at most " + std::to_string(limit) +
                  " servers"});
}

void topology_update::remove_all_but_members(const server_ptr& s)
{
    keep_only([&](std::string_view address) {
        return s->hosts.contains(address) || s->passives.contains(address) ||
               s->arbiters.contains(address);
    });
}

void topology_update::check_if_has_primary()
{
    const bool has_primary = std::ranges::any_of(
        next_.servers, [](const server_ptr& s) { return s->type == server_type::rs_primary; });
    next_.type = has_primary ? topology_type::replica_set_with_primary
                             : topology_type::replica_set_no_primary;
}

}  // namespace holdfast::core::mongo
