#include "shell/mongo/pool/pool_events.hpp"

#include <optional>

namespace holdfast::shell::mongo {
namespace {

namespace from = core::pool_events;

struct translation {
    const endpoint& server;
    const events::pool_limits& limits;

    queued_event operator()(const from::created&) const
    {
        return events::pool_created{server, limits};
    }
    queued_event operator()(const from::ready&) const { return events::pool_ready{server}; }
    queued_event operator()(const from::cleared& e) const
    {
        std::optional<bson::object_id> service;
        if (e.partition)
            service = bson::object_id{e.partition->value()};
        return events::pool_cleared{server, service, e.interrupts_in_use};
    }
    queued_event operator()(const from::closed&) const { return events::pool_closed{server}; }
    queued_event operator()(const from::connection_created& e) const
    {
        return events::connection_created{server, e.id};
    }
    queued_event operator()(const from::connection_ready& e) const
    {
        return events::connection_ready{server, e.id, e.took};
    }
    queued_event operator()(const from::connection_closed& e) const
    {
        return events::connection_closed{server, e.id, name_of(e.reason), e.cause};
    }
    queued_event operator()(const from::checkout_started&) const
    {
        return events::connection_check_out_started{server};
    }
    queued_event operator()(const from::checkout_failed& e) const
    {
        return events::connection_check_out_failed{server, name_of(e.reason), e.took, e.cause};
    }
    queued_event operator()(const from::checked_out& e) const
    {
        return events::connection_checked_out{server, e.id, e.took};
    }
    queued_event operator()(const from::checked_in& e) const
    {
        return events::connection_checked_in{server, e.id};
    }
};

}  // namespace

queued_event event_of_pool(const core::pool_event& what, const endpoint& server,
                           const events::pool_limits& limits)
{
    return std::visit(translation{server, limits}, what);
}

}  // namespace holdfast::shell::mongo
