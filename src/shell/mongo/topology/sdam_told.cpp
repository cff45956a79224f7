#include "shell/mongo/topology/sdam_told.hpp"

#include <string>
#include <vector>

namespace holdfast::shell::mongo {
namespace {

namespace from = core::mongo;

struct translation {
    const bson::object_id& topology;

    queued_event operator()(const from::topology_opening&) const
    {
        return told::topology_opening{topology};
    }
    queued_event operator()(const from::topology_closed&) const
    {
        return told::topology_closed{topology};
    }
    queued_event operator()(const from::topology_description_changed& e) const
    {
        return told::topology_description_changed{topology, described(*e.previous),
                                                  described(*e.current)};
    }
    queued_event operator()(const from::server_opening& e) const
    {
        return told::server_opening{topology, e.address};
    }
    queued_event operator()(const from::server_closed& e) const
    {
        return told::server_closed{topology, e.address};
    }
    queued_event operator()(const from::server_description_changed& e) const
    {
        return told::server_description_changed{topology, described(*e.previous),
                                                described(*e.current)};
    }
};

std::vector<endpoint> listed(const from::address_list& addresses)
{
    std::vector<endpoint> list;
    for (const auto address : addresses)
        list.emplace_back(std::string{address});
    return list;
}

}  // namespace

holdfast::mongo::server_description described(const core::mongo::server_description& s)
{
    holdfast::mongo::server_description told;
    told.address = s.address;
    // Who is only said to be the primary is unknown to the application.
    told.type = name_of(is_unknown(s.type) ? core::mongo::server_type::unknown : s.type);
    told.failure = s.failure;
    told.round_trip_time = s.round_trip_time;
    told.min_wire_version = s.min_wire_version;
    told.max_wire_version = s.max_wire_version;
    told.set_name = s.set_name;
    told.hosts = listed(s.hosts);
    told.passives = listed(s.passives);
    told.arbiters = listed(s.arbiters);
    for (const auto& [name, value] : s.tags)
        told.tags.emplace(name, value);
    told.primary = s.primary;
    return told;
}

holdfast::mongo::topology_description described(const core::mongo::topology_description& t)
{
    holdfast::mongo::topology_description told;
    told.type = name_of(t.type);
    told.set_name = t.set_name;
    for (const core::mongo::server_ptr& s : t.servers)
        told.servers.push_back(described(*s));
    told.compatibility_error = t.compatibility_error;
    told.logical_session_timeout_minutes = t.logical_session_timeout_minutes;
    return told;
}

queued_event told_by_sdam(const core::mongo::sdam_event& what, const bson::object_id& topology)
{
    return std::visit(translation{topology}, what);
}

}  // namespace holdfast::shell::mongo
