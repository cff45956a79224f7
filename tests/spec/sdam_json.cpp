#include "sdam_json.hpp"

#include <algorithm>

namespace holdfast::spec {

using namespace core::mongo;
namespace json = boost::json;

namespace {

json::value token(const std::string& text)
{
    return json::string{text};
}
json::value token(const endpoint& address)
{
    return token(address.value());
}
json::value token(std::int64_t number)
{
    return number;
}
json::value token(const bson::object_id& id)
{
    return json::object{{"$oid", id.to_string()}};
}
json::value token(const topology_version& version)
{
    return json::object{
        {"processId", token(version.process_id)},
        {"counter", json::object{{"$numberLong", std::to_string(version.counter)}}}};
}
template <class T>
json::value token(const std::optional<T>& value)
{
    return value ? token(*value) : json::value{};
}
json::value token(const address_list& addresses)
{
    json::array all;
    for (const std::string_view one : addresses)
        all.push_back(json::string{one});
    return all;
}

/// Servers that report no wire versions, which 0 stands for, have none.
json::value wire_version(std::int32_t version)
{
    return version == 0 ? json::value() : json::value(version);
}

json::object changed(std::string_view what, json::object fields)
{
    fields["topologyId"] = "the only one";
    return {{what, std::move(fields)}};
}

json::object one(const topology_opening&)
{
    return changed("topology_opening_event", {});
}
json::object one(const topology_description_changed& e)
{
    return changed(
        "topology_description_changed_event",
        {{"previousDescription", to_text(*e.previous)}, {"newDescription", to_text(*e.current)}});
}
json::object one(const topology_closed&)
{
    return changed("topology_closed_event", {});
}
json::object one(const server_opening& e)
{
    return changed("server_opening_event", {{"address", token(e.address)}});
}
json::object one(const server_description_changed& e)
{
    return changed("server_description_changed_event",
                   {{"address", token(e.current->address)},
                    {"previousDescription", to_text(*e.previous)},
                    {"newDescription", to_text(*e.current)}});
}
json::object one(const server_closed& e)
{
    return changed("server_closed_event", {{"address", token(e.address)}});
}

}  // namespace

json::object to_text(const server_description& s)
{
    return {{"address", token(s.address)},
            {"type", name_of(s.type)},
            {"setName", token(s.set_name)},
            {"setVersion", token(s.set_version)},
            {"electionId", token(s.election_id)},
            {"primary", token(s.primary)},
            {"hosts", token(s.hosts)},
            {"passives", token(s.passives)},
            {"arbiters", token(s.arbiters)},
            {"topologyVersion", token(s.version)},
            {"logicalSessionTimeoutMinutes", token(s.logical_session_timeout_minutes)},
            {"minWireVersion", wire_version(s.min_wire_version)},
            {"maxWireVersion", wire_version(s.max_wire_version)}};
}

json::object to_text(const topology_description& t)
{
    json::array servers;
    for (const server_ptr& s : t.servers)
        servers.push_back(to_text(*s));
    return {{"topologyType", name_of(t.type)},
            {"setName", token(t.set_name)},
            {"maxSetVersion", token(t.max_set_version)},
            {"maxElectionId", token(t.max_election_id)},
            {"logicalSessionTimeoutMinutes", token(t.logical_session_timeout_minutes)},
            {"compatible", t.compatible()},
            {"servers", std::move(servers)}};
}

json::object to_text(const sdam_event& e)
{
    return std::visit([](const auto& received) { return one(received); }, e);
}

/// Members and servers are sets.
static bool says_in_any_order(const json::array& expected, json::array found)
{
    return std::ranges::all_of(expected, [&](const json::value& one) {
        const auto at = std::ranges::find_if(
            found, [&](const json::value& other) { return says(one, other); });
        if (at == found.end())
            return false;
        found.erase(at);
        return true;
    });
}

bool says(const json::value& expected, const json::value& found)
{
    if (expected == 42 || expected == "42")
        return !found.is_null();
    if (const json::object* const fields = expected.if_object()) {
        const json::object* const has = found.if_object();
        return has && std::ranges::all_of(*fields, [&](const auto& field) {
                   const json::value* const at = has->if_contains(field.key());
                   return at ? says(field.value(), *at) : field.value().is_null();
               });
    }
    if (const json::array* const items = expected.if_array()) {
        const json::array* const has = found.if_array();
        return has && items->size() == has->size() && says_in_any_order(*items, *has);
    }
    return expected == found;
}

}  // namespace holdfast::spec
