#include "core/mongo/error/errc.hpp"
#include "shell/mongo/execute/command_attempts.hpp"

#include <string>
#include <utility>

/// How the attempts of a command end when they are over, and the loop in which they are made.
namespace holdfast::shell::mongo {

std::optional<error> command_attempts::woke(time_point)
{
    return std::nullopt;
}

error command_attempts::timed_out(time_point)
{
    std::string text{name_};
    text += " was not done in time";
    if (reported_)
        text += "; the last failure: " + reported_->message();
    return with_history(error{core::mongo::errc::operation_timed_out, std::move(text)});
}

error command_attempts::cancelled(const error* unjudged, time_point now)
{
    if (unjudged != nullptr)
        record(*unjudged, "not retried: the caller has cancelled the operation", {}, now);
    std::string text{name_};
    text += " was cancelled";
    return with_history(error{runtime::errc::cancelled, std::move(text)});
}

void command_attempts::record(const error& why, std::string verdict, duration wait, time_point now)
{
    holdfast::attempt one;
    one.server = server_;
    one.phase = phase_;
    one.cause = why.code();
    one.labels.assign(why.labels().begin(), why.labels().end());
    one.started = attempt_began_ - began_;
    one.took = now - attempt_began_;
    one.waited = wait;
    one.verdict = std::move(verdict);
    log_.record(std::move(one));
}

error command_attempts::with_history(error why) const
{
    return std::move(why).with_history(log_.entries());
}

runtime::awaitable<result<bson::document>> execute(std::shared_ptr<client_state> client,
                                                   command_order&& order)
{
    runtime::world& in = client->world;
    const core::deadline until = order.until;
    return retry_loop_of<command_attempts>(in, until, std::move(client), std::move(order));
}

runtime::awaitable<bson::document> execute_or_throw(std::shared_ptr<client_state> client,
                                                    command_order&& order)
{
    runtime::world& in = client->world;
    const core::deadline until = order.until;
    return retry_loop_of<command_attempts, bson::document>(in, until, std::move(client),
                                                           std::move(order));
}

}  // namespace holdfast::shell::mongo
