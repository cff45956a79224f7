#pragma once
#include "core/mongo/sdam/event.hpp"
#include "holdfast/mongo/description.hpp"
#include "shell/mongo/events/event_hub.hpp"

namespace holdfast::shell::mongo {

/// The descriptions as users see them.
holdfast::mongo::server_description described(const core::mongo::server_description& from);
holdfast::mongo::topology_description described(const core::mongo::topology_description& from);

/// The event of the core as listeners get it, with the topology's id.
queued_event event_of_sdam(const core::mongo::sdam_event& what, const bson::object_id& topology);

}  // namespace holdfast::shell::mongo
