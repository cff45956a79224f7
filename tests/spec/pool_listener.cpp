#include "pool_listener.hpp"

#include <algorithm>

namespace holdfast::spec {

using namespace mongo::events;
namespace json = boost::json;

namespace {

json::value event_token(duration took)
{
    return std::chrono::duration<double, std::milli>{took}.count();
}

}  // namespace

void pool_listener::on(const pool_created& e) noexcept
{
    add("ConnectionPoolCreated", e.server, {{"options", json::object{}}});
}
void pool_listener::on(const pool_ready& e) noexcept
{
    add("ConnectionPoolReady", e.server);
}
void pool_listener::on(const pool_cleared& e) noexcept
{
    add("ConnectionPoolCleared", e.server, {{"interruptInUseConnections", e.interrupts_in_use}});
}
void pool_listener::on(const pool_closed& e) noexcept
{
    add("ConnectionPoolClosed", e.server);
}
void pool_listener::on(const connection_created& e) noexcept
{
    add("ConnectionCreated", e.server, {{"connectionId", e.connection.value()}});
}
void pool_listener::on(const connection_ready& e) noexcept
{
    add("ConnectionReady", e.server,
        {{"connectionId", e.connection.value()}, {"duration", event_token(e.took)}});
}
void pool_listener::on(const connection_closed& e) noexcept
{
    add("ConnectionClosed", e.server,
        {{"connectionId", e.connection.value()}, {"reason", e.reason}});
}
void pool_listener::on(const connection_check_out_started& e) noexcept
{
    add("ConnectionCheckOutStarted", e.server);
}
void pool_listener::on(const connection_check_out_failed& e) noexcept
{
    add("ConnectionCheckOutFailed", e.server,
        {{"reason", e.reason}, {"duration", event_token(e.took)}});
}
void pool_listener::on(const connection_checked_out& e) noexcept
{
    add("ConnectionCheckedOut", e.server,
        {{"connectionId", e.connection.value()}, {"duration", event_token(e.took)}});
}
void pool_listener::on(const connection_checked_in& e) noexcept
{
    add("ConnectionCheckedIn", e.server, {{"connectionId", e.connection.value()}});
}

std::int64_t pool_listener::count(std::string_view type) const
{
    return std::ranges::count_if(
        events_, [&](const json::object& e) { return e.at("type").as_string() == type; });
}

void pool_listener::add(std::string_view type, const endpoint& server, json::object more)
{
    more["type"] = type;
    more["address"] = server.value();
    events_.push_back(std::move(more));
    news.notify();
}

}  // namespace holdfast::spec
