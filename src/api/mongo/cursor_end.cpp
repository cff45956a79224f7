#include "api/mongo/cursor_end.hpp"

#include "api/mongo/client_impl.hpp"
#include "core/mongo/error/server_error.hpp"
#include "holdfast/mongo/error.hpp"
#include "shell/mongo/execute/execute.hpp"
#include "shell/mongo/execute/operation_session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <utility>

namespace holdfast::mongo {
namespace {

using shell::mongo::session_state;

/// The server sees the same session. Sessions are for one operation at a time, so what one learns
/// that runs beside others is not for them.
std::shared_ptr<session_state> copy_of(const session_state& from)
{
    auto made = std::make_shared<session_state>();
    made->owner = from.owner;
    made->client = from.client;
    made->server = from.server;  // none if it has ended: then any will do
    made->lent = from.server.has_value();
    made->implicit = true;
    return made;
}

}  // namespace

bool may_be_left(const error& why) noexcept
{
    for (const int gone : {43, 175, 237})  // CursorNotFound, QueryPlanKilled, CursorKilled
        if (why.code() == error_code{gone, core::mongo::server_category()})
            return false;
    switch (kind_of(why)) {
    case error_kind::server:
    case error_kind::write:
    case error_kind::bulk_write:
    case error_kind::timeout:
    case error_kind::cancelled:
        return true;
    case error_kind::network:  // the server ends what a connection has left behind
    case error_kind::selection:
    case error_kind::authentication:
    case error_kind::client:
        return false;
    }
    return false;
}

core::deadline kill_cursors_deadline(const client_impl& of)
{
    return core::deadline::after(of.world->steady_now(), std::chrono::seconds{5});
}

runtime::awaitable<void> say(std::shared_ptr<shell::mongo::client_state> with, kill_cursors what)
{
    what.order.facts = &what.facts;
    const auto ignored = co_await shell::mongo::execute(std::move(with), std::move(what.order));
    (void)ignored;
}

void say_in_background(const client_impl& of, kill_cursors what)
{
    if (what.order.session && !what.order.session->implicit)
        what.order.session = copy_of(*what.order.session);
    const runtime::executor on = of.world->executor();
    if (on)  // else its context has gone, and nothing can be sent
        asio::co_spawn(on, say(of.state, std::move(what)), asio::detached);
}

}  // namespace holdfast::mongo
