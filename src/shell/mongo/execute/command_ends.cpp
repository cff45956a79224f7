#include "core/mongo/error/errc.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "core/pool/errc.hpp"
#include "shell/mongo/connection/establish.hpp"
#include "shell/mongo/execute/command_attempts.hpp"

#include <charconv>
#include <string>
#include <utility>

/// How the attempts of a command end when they are over, and the loop in which they are made.
namespace holdfast::shell::mongo {

/// There was no connection to send anything over.
error command_attempts::not_sent(error why, const selected_server& on)
{
    server_ = on.address();
    if (why.code() == core::pool_errc::closed && client_->servers->is_closed())
        return error{runtime::errc::cancelled, "the client is closed"};
    const bool pools_own = why.code().category() == core::pool_category();
    const std::string_view refused = why.context("code");
    if (why.code() == core::pool_errc::cleared || why.code() == core::pool_errc::closed) {
        failed_.origin = core::mongo::failure_origin::pool_cleared;
    } else if (why.code().category() == core::mongo::category()) {
        // A server that shuts down says so in the middle of a login, too. Its labels do not count:
        // whatever it says while a connection is set up is no answer to this command.
        std::int32_t code = 0;
        const auto read = std::from_chars(refused.data(), refused.data() + refused.size(), code);
        if (read.ec == std::errc{}) {
            failed_.origin = core::mongo::failure_origin::server;
            failed_.code = code;
        }
    } else if (!pools_own && why.code() != runtime::errc::cancelled) {
        if (client_->profile.connect_errors_are_overload &&
            why.context("phase") != phase_authentication)
            why = std::move(why)
                      .with_label(core::mongo::label::system_overloaded)
                      .with_label(core::mongo::label::retryable);
        failed_.origin = core::mongo::failure_origin::network;
        failed_.labels = core::mongo::known_labels::of(why);
    }
    // Nothing has been applied, so it can be sent, if the next server can tell it from another one.
    const auto lifetime = on.topology().logical_session_timeout_minutes;
    if (order_.kind == core::mongo::retry_kind::write && order_.eligible &&
        client_->settings.retry_writes &&
        core::mongo::supports_retryable_writes(on.description().type,
                                               on.description().max_wire_version, lifetime))
        policy_.repeatable = true;
    if (is_repeatable_write() && core::mongo::driver_adds_label(failed_))
        why = std::move(why).with_label(core::mongo::label::retryable_write);
    return why;
}

std::optional<error> command_attempts::woke(time_point)
{
    if (client_->closing.count() == 0)
        return std::nullopt;
    std::string text{name_};
    text += " was cancelled: the client was closed while it waited to be sent again";
    if (reported_)
        text += "; the last failure: " + reported_->message();
    return with_history(error{runtime::errc::cancelled, std::move(text)});
}

error command_attempts::timed_out(time_point)
{
    std::string text{name_};
    text += " was not done in time";
    if (reported_)
        text += "; the last failure: " + reported_->message();
    return with_history(error{core::mongo::errc::operation_timed_out, std::move(text)});
}

error command_attempts::cancelled(const error* undecided, time_point now)
{
    if (undecided != nullptr)
        record(*undecided, "not retried: the caller has cancelled the operation", {}, now);
    std::string text{name_};
    text += " was cancelled";
    return with_history(error{runtime::errc::cancelled, std::move(text)});
}

void command_attempts::record(const error& why, std::string decision, duration wait, time_point now)
{
    holdfast::attempt one;
    one.server = server_;
    one.phase = phase_;
    one.cause = why.code();
    one.labels.assign(why.labels().begin(), why.labels().end());
    one.started = attempt_began_ - began_;
    one.took = now - attempt_began_;
    one.waited = wait;
    one.decision = std::move(decision);
    log_.record(std::move(one));
}

error command_attempts::with_history(error why) const
{
    return std::move(why).with_history(log_.entries());
}

namespace {

template <class Outcome>
runtime::awaitable<Outcome> execute_as(std::shared_ptr<client_state> client, command_order&& order)
{
    runtime::world& in = client->world;
    const core::deadline until = order.until;
    using attempts = recycled<command_attempts>;
    return retry_loop_of<Outcome>(in, until, attempts::make(std::move(client), std::move(order)));
}

}  // namespace

runtime::awaitable<result<bson::document>> execute(std::shared_ptr<client_state> client,
                                                   command_order&& order)
{
    return execute_as<result<bson::document>>(std::move(client), std::move(order));
}

runtime::awaitable<bson::document> execute_or_throw(std::shared_ptr<client_state> client,
                                                    command_order&& order)
{
    return execute_as<bson::document>(std::move(client), std::move(order));
}

}  // namespace holdfast::shell::mongo

namespace holdfast::shell {

template runtime::awaitable<result<bson::document>> remaining_attempts(runtime::world&,
                                                                       mongo::command_attempts&,
                                                                       core::deadline,
                                                                       std::optional<error>);

}  // namespace holdfast::shell
