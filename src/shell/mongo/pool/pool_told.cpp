#include "shell/mongo/pool/pool_told.hpp"

namespace holdfast::shell::mongo {
namespace {

namespace from = core::pool_told;

struct translation {
    const endpoint& server;
    const told::pool_limits& limits;

    queued_event operator()(const from::created&) const
    {
        return told::pool_created{server, limits};
    }
    queued_event operator()(const from::ready&) const { return told::pool_ready{server}; }
    queued_event operator()(const from::cleared& e) const
    {
        return told::pool_cleared{server, e.service_id, e.interrupts_in_use};
    }
    queued_event operator()(const from::closed&) const { return told::pool_closed{server}; }
    queued_event operator()(const from::connection_created& e) const
    {
        return told::connection_created{server, e.id};
    }
    queued_event operator()(const from::connection_ready& e) const
    {
        return told::connection_ready{server, e.id, e.took};
    }
    queued_event operator()(const from::connection_closed& e) const
    {
        return told::connection_closed{server, e.id, name_of(e.reason), e.cause};
    }
    queued_event operator()(const from::checkout_started&) const
    {
        return told::connection_check_out_started{server};
    }
    queued_event operator()(const from::checkout_failed& e) const
    {
        return told::connection_check_out_failed{server, name_of(e.reason), e.took, e.cause};
    }
    queued_event operator()(const from::checked_out& e) const
    {
        return told::connection_checked_out{server, e.id, e.took};
    }
    queued_event operator()(const from::checked_in& e) const
    {
        return told::connection_checked_in{server, e.id};
    }
};

}  // namespace

queued_event told_by_pool(const core::pool_event& what, const endpoint& server,
                          const told::pool_limits& limits)
{
    return std::visit(translation{server, limits}, what);
}

}  // namespace holdfast::shell::mongo
