// How an attempt gets its connection, and how it loses it to a newer primary.
#include "core/mongo/error/errc.hpp"
#include "core/pool/errc.hpp"
#include "shell/mongo/execute/command_attempts.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::shell::mongo {

core::mongo::selection_request command_attempts::wanted() const
{
    core::mongo::selection_request request;
    request.kind = command().selects;
    request.writes_output = command().writes_output;
    request.preference = command().preference;
    request.deprioritised = deprioritised_;
    if (command().only_server)
        request.only = &*command().only_server;
    return request;
}

/// Waits for a server, and for a connection to it. If another server replaces that one meanwhile,
/// it waits for the other one: nothing has been sent, so this is no retry.
runtime::awaitable<result<void>> command_attempts::wait_for_connection()
{
    runtime::world& in = client_->world;
    for (;;) {
        if (!attempt_) {
            const selection_purpose purpose{name(), operation_};
            const time_point last = std::min(
                order_.until.when(), in.steady_now() + client_->settings.server_selection_timeout);
            auto selected = co_await client_->servers->select(wanted(), last, purpose);
            if (!selected)
                co_return std::move(selected).error();
            attempt_.emplace(*std::move(selected));
            attempt_->over = attempt_->on.pool().try_check_out(in.steady_now());
        }
        if (attempt_->has_connection())
            co_return result<void>{};
        time_point last = order_.until.when();
        if (client_->settings.pool.wait_queue_timeout && !order_.until.is_set())
            last = in.steady_now() + *client_->settings.pool.wait_queue_timeout;
        auto waited = co_await attempt_->on.pool().check_out(last, !command().only_server);
        if (waited) {
            attempt_->over.emplace(*std::move(waited));
            co_return result<void>{};
        }
        error why = std::move(waited).error();
        if (why.code() != core::pool_errc::replaced)
            co_return failed_checkout(std::move(why));
        select_anew(why);
    }
}

/// A command that only one server can execute waits for that one again.
void command_attempts::select_anew(const error& why)
{
    const time_point now = client_->world.steady_now();
    history_.failed_on(attempt_->on.address());
    history_.record(why, "not sent yet: a server is selected anew", {}, now);
    history_.start_attempt(now);
    if (!command().only_server)
        attempt_.reset();
}

/// The last attempt keeps its connection if that one has to authenticate again. Another one might
/// have to as well, and an attempt would be lost to each.
bool command_attempts::authenticates_next() const noexcept
{
    return attempt_ && attempt_->has_connection() && attempt_->to().needs_login();
}

/// Takes at most as long as opening a connection may, and no longer than the command.
runtime::awaitable<result<void>> command_attempts::reauthenticate()
{
    time_point last = order_.until.when();
    if (client_->settings.connect_timeout.count() != 0)
        last = std::min(last, client_->world.steady_now() + client_->settings.connect_timeout);
    connection& to = attempt_->to();
    to.expires_at(last);
    auto known = co_await attempt_->on.pool().log_in_again(to);
    if (!known) {
        error why = to.usable() ? failed_checkout(std::move(known).error())
                                : failed_connection(std::move(known).error());
        attempt_.reset();
        co_return why;
    }
    co_return known;
}

error command_attempts::deposed() const
{
    std::string text = std::string{name()} + " was given up on " + attempt_->on.address().value() +
                       ", which is no longer the primary";
    const auto current = client_->servers->current();
    for (const core::mongo::server_ptr& s : current->snapshot.topology()->servers) {
        if (s->type == core::mongo::server_type::rs_primary)
            text += ": the newer one is " + s->address.value();
    }
    return error{core::mongo::errc::primary_deposed, std::move(text)}.with_context(
        "server", attempt_->on.address().value());
}

}  // namespace holdfast::shell::mongo
