#pragma once
#include "core/mongo/select/snapshot.hpp"
#include "core/mongo/settings/address.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

/// Small words for tests of selection: servers are made by hand, answers are letters.
namespace holdfast::core::mongo::select_test {

using enum server_type;

inline constexpr time_point now{std::chrono::hours{1}};

inline server_description server(std::string_view name, server_type type,
                                 duration rtt = std::chrono::milliseconds{5}, tag_set tags = {})
{
    server_description s;
    s.address = reported_address(name);
    s.type = type;
    s.round_trip_time = rtt;
    s.tags = std::move(tags);
    s.last_update_time = now;
    return s;
}

/// A member that wrote last at that time, in seconds, and was checked when it is said.
inline server_description wrote(server_description s, std::int64_t seconds,
                                time_point checked = now)
{
    s.last_write_date = bson::datetime{std::chrono::seconds{seconds}};
    s.last_update_time = checked;
    return s;
}

inline topology_ptr topology(topology_type type, std::vector<server_description> servers)
{
    topology_description t;
    t.type = type;
    for (server_description& s : servers)
        t.servers.push_back(std::make_shared<const server_description>(std::move(s)));
    std::ranges::sort(t.servers, {}, [](const server_ptr& s) { return s->address; });
    return std::make_shared<const topology_description>(std::move(t));
}

inline topology_ptr replica_set(std::vector<server_description> servers)
{
    const bool has_primary = std::ranges::any_of(
        servers, [](const server_description& s) { return s.type == rs_primary; });
    return topology(has_primary ? topology_type::replica_set_with_primary
                                : topology_type::replica_set_no_primary,
                    std::move(servers));
}

inline std::string letters(std::span<const server_ptr> servers)
{
    std::vector<std::string> all;
    for (const server_ptr& s : servers)
        all.push_back(parts_of(s->address).host);
    std::ranges::sort(all);
    std::string text;
    for (const std::string& one : all)
        text += one;
    return text;
}

inline selection_request reads(read_mode mode, std::vector<tag_set> tags = {},
                               std::optional<std::chrono::seconds> staleness = {})
{
    return {.kind = operation_kind::read,
            .preference = {.mode = mode, .tag_sets = std::move(tags), .max_staleness = staleness}};
}

inline selection_request writes()
{
    return {.kind = operation_kind::write};
}

/// "abc", or "error".
inline std::string suitable(const topology_ptr& t, const selection_request& request,
                            const selection_settings& settings = {})
{
    const auto found = suitable_servers(*t, request, settings);
    return found ? letters(*found) : "error";
}

}  // namespace holdfast::core::mongo::select_test
