#include "shell/mongo/topology/sdam_events.hpp"

#include <variant>

namespace holdfast::shell::mongo {
namespace {

namespace from = core::mongo;

struct translation {
    const bson::object_id& topology;

    queued_event operator()(const from::topology_opening&) const
    {
        return events::topology_opening{topology};
    }
    queued_event operator()(const from::topology_closed&) const
    {
        return events::topology_closed{topology};
    }
    queued_event operator()(const from::topology_description_changed& e) const
    {
        return events::topology_description_changed{topology, described(*e.previous),
                                                    described(*e.current)};
    }
    queued_event operator()(const from::server_opening& e) const
    {
        return events::server_opening{topology, e.address};
    }
    queued_event operator()(const from::server_closed& e) const
    {
        return events::server_closed{topology, e.address};
    }
    queued_event operator()(const from::server_description_changed& e) const
    {
        return events::server_description_changed{topology, described(*e.previous),
                                                  described(*e.current)};
    }
};

}  // namespace

holdfast::mongo::server_description described(const core::mongo::server_description& s)
{
    holdfast::mongo::server_description description;
    description.address = s.address;
    // PossiblePrimary is Unknown in published descriptions.
    description.type = name_of(is_unknown(s.type) ? core::mongo::server_type::unknown : s.type);
    description.failure = s.failure;
    description.round_trip_time = s.round_trip_time;
    description.min_wire_version = s.min_wire_version;
    description.max_wire_version = s.max_wire_version;
    description.set_name = s.set_name;
    description.hosts = holdfast::mongo::endpoint_list{s.hosts.shared()};
    description.passives = holdfast::mongo::endpoint_list{s.passives.shared()};
    description.arbiters = holdfast::mongo::endpoint_list{s.arbiters.shared()};
    for (const auto& [name, value] : s.tags)
        description.tags.emplace(name, value);
    description.primary = s.primary;
    return description;
}

holdfast::mongo::topology_description described(const core::mongo::topology_description& t)
{
    holdfast::mongo::topology_description description;
    description.type = name_of(t.type);
    description.set_name = t.set_name;
    for (const core::mongo::server_ptr& s : t.servers)
        description.servers.push_back(described(*s));
    description.compatibility_error = t.compatibility_error;
    description.logical_session_timeout_minutes = t.logical_session_timeout_minutes;
    return description;
}

queued_event event_of_sdam(const core::mongo::sdam_event& what, const bson::object_id& topology)
{
    return std::visit(translation{topology}, what);
}

}  // namespace holdfast::shell::mongo
