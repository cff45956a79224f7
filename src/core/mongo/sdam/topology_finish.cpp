#include "core/mongo/sdam/topology_update.hpp"

#include <algorithm>
#include <string>
#include <utility>

/// What follows from all servers of a topology together.
namespace holdfast::core::mongo {

namespace {

/// The release that speaks client_min_wire_version.
constexpr std::string_view oldest_release = "3.6";

}  // namespace

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
