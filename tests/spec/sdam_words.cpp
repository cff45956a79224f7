#include "sdam_words.hpp"

#include <algorithm>

namespace holdfast::spec {

using namespace core::mongo;
namespace json = boost::json;

namespace {

json::value word(const std::string& text)
{
    return json::string{text};
}
json::value word(const endpoint& address)
{
    return word(address.value());
}
json::value word(std::int64_t number)
{
    return number;
}
json::value word(const bson::object_id& id)
{
    return json::object{{"$oid", id.to_string()}};
}
json::value word(const topology_version& version)
{
    return json::object{
        {"processId", word(version.process_id)},
        {"counter", json::object{{"$numberLong", std::to_string(version.counter)}}}};
}
template <class T>
json::value word(const std::optional<T>& value)
{
    return value ? word(*value) : json::value{};
}
json::value word(const address_list& addresses)
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
    return changed("topology_description_changed_event",
                   {{"previousDescription", in_words(*e.previous)},
                    {"newDescription", in_words(*e.current)}});
}
json::object one(const topology_closed&)
{
    return changed("topology_closed_event", {});
}
json::object one(const server_opening& e)
{
    return changed("server_opening_event", {{"address", word(e.address)}});
}
json::object one(const server_description_changed& e)
{
    return changed("server_description_changed_event",
                   {{"address", word(e.current->address)},
                    {"previousDescription", in_words(*e.previous)},
                    {"newDescription", in_words(*e.current)}});
}
json::object one(const server_closed& e)
{
    return changed("server_closed_event", {{"address", word(e.address)}});
}

}  // namespace

json::object in_words(const server_description& s)
{
    return {{"address", word(s.address)},
            {"type", name_of(s.type)},
            {"setName", word(s.set_name)},
            {"setVersion", word(s.set_version)},
            {"electionId", word(s.election_id)},
            {"primary", word(s.primary)},
            {"hosts", word(s.hosts)},
            {"passives", word(s.passives)},
            {"arbiters", word(s.arbiters)},
            {"topologyVersion", word(s.version)},
            {"logicalSessionTimeoutMinutes", word(s.logical_session_timeout_minutes)},
            {"minWireVersion", wire_version(s.min_wire_version)},
            {"maxWireVersion", wire_version(s.max_wire_version)}};
}

json::object in_words(const topology_description& t)
{
    json::array servers;
    for (const server_ptr& s : t.servers)
        servers.push_back(in_words(*s));
    return {{"topologyType", name_of(t.type)},
            {"setName", word(t.set_name)},
            {"maxSetVersion", word(t.max_set_version)},
            {"maxElectionId", word(t.max_election_id)},
            {"logicalSessionTimeoutMinutes", word(t.logical_session_timeout_minutes)},
            {"compatible", t.compatible()},
            {"servers", std::move(servers)}};
}

json::object in_words(const sdam_event& e)
{
    return std::visit([](const auto& told) { return one(told); }, e);
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
