#include "pool_json.hpp"

namespace holdfast::spec {

namespace json = boost::json;

namespace {

json::value token(duration took)
{
    return std::chrono::duration<double, std::milli>{took}.count();
}

json::object one(const core::pool_events::created&, const json::object& options)
{
    return {{"type", "ConnectionPoolCreated"}, {"options", options}};
}
json::object one(const core::pool_events::ready&, const json::object&)
{
    return {{"type", "ConnectionPoolReady"}};
}
json::object one(const core::pool_events::cleared& e, const json::object&)
{
    return {{"type", "ConnectionPoolCleared"}, {"interruptInUseConnections", e.interrupts_in_use}};
}
json::object one(const core::pool_events::closed&, const json::object&)
{
    return {{"type", "ConnectionPoolClosed"}};
}
json::object one(const core::pool_events::connection_created& e, const json::object&)
{
    return {{"type", "ConnectionCreated"}, {"connectionId", e.id.value()}};
}
json::object one(const core::pool_events::connection_ready& e, const json::object&)
{
    return {
        {"type", "ConnectionReady"}, {"connectionId", e.id.value()}, {"duration", token(e.took)}};
}
json::object one(const core::pool_events::connection_closed& e, const json::object&)
{
    return {{"type", "ConnectionClosed"},
            {"connectionId", e.id.value()},
            {"reason", name_of(e.reason)}};
}
json::object one(const core::pool_events::checkout_started&, const json::object&)
{
    return {{"type", "ConnectionCheckOutStarted"}};
}
json::object one(const core::pool_events::checkout_failed& e, const json::object&)
{
    return {{"type", "ConnectionCheckOutFailed"},
            {"reason", name_of(e.reason)},
            {"duration", token(e.took)}};
}
json::object one(const core::pool_events::checked_out& e, const json::object&)
{
    return {{"type", "ConnectionCheckedOut"},
            {"connectionId", e.id.value()},
            {"duration", token(e.took)}};
}
json::object one(const core::pool_events::checked_in& e, const json::object&)
{
    return {{"type", "ConnectionCheckedIn"}, {"connectionId", e.id.value()}};
}

}  // namespace

json::object to_text(const core::pool_event& e, const json::object& options)
{
    json::object received = std::visit([&](const auto& x) { return one(x, options); }, e);
    received["address"] = "pool:27017";
    return received;
}

}  // namespace holdfast::spec
