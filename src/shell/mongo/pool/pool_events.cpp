#include "shell/mongo/pool/pool_events.hpp"

#include "shell/mongo/pool/server_pool.hpp"

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

void server_pool::pin(pinned_by what)
{
    const std::scoped_lock lock{mutex_};
    machine_.pin(core::pin_reason{static_cast<std::size_t>(what)});
}

void server_pool::unpin(pinned_by what)
{
    const std::scoped_lock lock{mutex_};
    machine_.unpin(core::pin_reason{static_cast<std::size_t>(what)});
}

void server_pool::queue_events()
{
    if (!events_->silent())
        queue_events(machine_.take_events());
}

void server_pool::queue_events(const std::vector<core::pool_event>& events)
{
    for (const core::pool_event& one : events) {
        if (!announced_) [[unlikely]] {
            if (!std::holds_alternative<core::pool_events::ready>(one))
                continue;
            announced_ = true;
            events_->queue(
                event_of_pool(core::pool_events::created{}, options_.server, options_.reported));
        }
        events_->queue(event_of_pool(one, options_.server, options_.reported));
    }
}

}  // namespace holdfast::shell::mongo
