#pragma once
#include "core/mongo/sdam/application_error.hpp"
#include "core/mongo/sdam/transition.hpp"
#include "core/mongo/settings/address.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// Small words for tests of the topology: servers are named by one letter, replies are written as
/// Extended JSON.
namespace holdfast::core::mongo::sdam_test {

inline constexpr time_point now{std::chrono::hours{1}};

inline endpoint at(std::string_view name)
{
    return reported_address(name);
}

/// A reply of hello, with ok: 1 and wire versions in front of what is given.
inline server_description hello(std::string_view from, const std::string& fields,
                                int max_wire_version = 21)
{
    const std::string text = R"({"ok": 1, "minWireVersion": 0, "maxWireVersion": )" +
                             std::to_string(max_wire_version) +
                             (fields.empty() ? "" : ", " + fields) + "}";
    return parse_hello(at(from), json(text), {}, now);
}

/// What members of replica set "rs" with these hosts say.
inline server_description primary(std::string_view from, const std::string& hosts,
                                  const std::string& more = {}, int max_wire_version = 21)
{
    return hello(from,
                 R"("isWritablePrimary": true, "setName": "rs", "hosts": [)" + hosts + "]" +
                     (more.empty() ? "" : ", " + more),
                 max_wire_version);
}
inline server_description secondary(std::string_view from, const std::string& hosts,
                                    const std::string& more = {})
{
    return hello(from, R"("secondary": true, "setName": "rs", "hosts": [)" + hosts + "]" +
                           (more.empty() ? "" : ", " + more));
}

inline topology_ptr start(std::initializer_list<std::string_view> seeds, bool direct = false,
                          std::optional<std::string> replica_set = {})
{
    topology_settings settings;
    settings.seeds.clear();
    for (const std::string_view seed : seeds)
        settings.seeds.push_back(at(seed));
    settings.direct_connection = direct;
    settings.replica_set = std::move(replica_set);
    return open_topology(settings).after;
}

inline topology_ptr after(topology_ptr t, std::initializer_list<server_description> replies)
{
    for (const server_description& reply : replies)
        t = apply_check(t, reply).after;
    return t;
}

/// "ReplicaSetWithPrimary a:RSPrimary b:Unknown", without ports.
inline std::string picture(const topology_description& t)
{
    std::string text{name_of(t.type)};
    for (const server_ptr& s : t.servers)
        text += " " + parts_of(s->address).host + ":" + std::string{name_of(s->type)};
    return text;
}

template <class Effect>
std::vector<std::string> servers_of(const transition& t)
{
    std::vector<std::string> found;
    for (const effect& e : t.effects) {
        if (const auto* match = std::get_if<Effect>(&e))
            found.push_back(parts_of(match->server).host);
    }
    return found;
}

/// What an application's error does, on a connection whose pool has had no other generation yet.
inline application_error failing(std::string_view server, failure_kind kind,
                                 connection_phase phase = connection_phase::ready)
{
    return {.server = at(server),
            .kind = kind,
            .phase = phase,
            .max_wire_version = 21,
            .cause = error{bson::errc::invalid_value, "it failed"}};
}

/// The same for a command's reply, which must outlive it.
inline application_error answering(std::string_view server, bson::view reply,
                                   int max_wire_version = 21)
{
    application_error e = failing(server, failure_kind::command);
    e.reply = reply;
    e.max_wire_version = max_wire_version;
    return e;
}

inline transition after_error(const topology_ptr& t, const application_error& e,
                              std::uint32_t pool_generation = 0,
                              const resilience_profile& profile = as_specified)
{
    return apply_error(t, e, pool_generation, profile, now);
}

template <class Event>
long count_of(const transition& t)
{
    return std::ranges::count_if(t.events,
                                 [](const sdam_event& e) { return std::get_if<Event>(&e); });
}

using names = std::vector<std::string>;

}  // namespace holdfast::core::mongo::sdam_test
