#include "pool_words.hpp"

namespace holdfast::spec {

using namespace core;
namespace json = boost::json;

namespace {

json::value word(duration took)
{
    return std::chrono::duration<double, std::milli>{took}.count();
}

json::object one(const pool_told::created&, const json::object& options)
{
    return {{"type", "ConnectionPoolCreated"}, {"options", options}};
}
json::object one(const pool_told::ready&, const json::object&)
{
    return {{"type", "ConnectionPoolReady"}};
}
json::object one(const pool_told::cleared& e, const json::object&)
{
    return {{"type", "ConnectionPoolCleared"}, {"interruptInUseConnections", e.interrupts_in_use}};
}
json::object one(const pool_told::closed&, const json::object&)
{
    return {{"type", "ConnectionPoolClosed"}};
}
json::object one(const pool_told::connection_created& e, const json::object&)
{
    return {{"type", "ConnectionCreated"}, {"connectionId", e.id.value()}};
}
json::object one(const pool_told::connection_ready& e, const json::object&)
{
    return {
        {"type", "ConnectionReady"}, {"connectionId", e.id.value()}, {"duration", word(e.took)}};
}
json::object one(const pool_told::connection_closed& e, const json::object&)
{
    return {{"type", "ConnectionClosed"},
            {"connectionId", e.id.value()},
            {"reason", name_of(e.reason)}};
}
json::object one(const pool_told::checkout_started&, const json::object&)
{
    return {{"type", "ConnectionCheckOutStarted"}};
}
json::object one(const pool_told::checkout_failed& e, const json::object&)
{
    return {{"type", "ConnectionCheckOutFailed"},
            {"reason", name_of(e.reason)},
            {"duration", word(e.took)}};
}
json::object one(const pool_told::checked_out& e, const json::object&)
{
    return {{"type", "ConnectionCheckedOut"},
            {"connectionId", e.id.value()},
            {"duration", word(e.took)}};
}
json::object one(const pool_told::checked_in& e, const json::object&)
{
    return {{"type", "ConnectionCheckedIn"}, {"connectionId", e.id.value()}};
}

}  // namespace

json::object in_words(const pool_event& e, const json::object& options)
{
    json::object told = std::visit([&](const auto& x) { return one(x, options); }, e);
    told["address"] = "pool:27017";
    return told;
}

}  // namespace holdfast::spec
