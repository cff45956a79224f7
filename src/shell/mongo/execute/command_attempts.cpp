#include "shell/mongo/execute/command_attempts.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/handshake/hello.hpp"
#include "core/mongo/operation/command_encoder.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "core/mongo/retry/reply_failure.hpp"
#include "core/mongo/retry/rescue.hpp"
#include "core/pool/errc.hpp"
#include "shell/mongo/connection/connection_config.hpp"
#include "shell/planted.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::shell::mongo {

using core::mongo::retry_kind;

namespace {

/// Errors of a wait that has come to its end. If the deadline of the whole operation has passed as
/// well, that one has ended it.
bool is_end_of_wait(const error_code& code) noexcept
{
    return code == boost::system::errc::timed_out || code == core::mongo::errc::no_server ||
           code == core::pool_errc::timed_out;
}

/// The reply that a write with w: 0 is taken to have.
bson::view assumed_reply()
{
    static const bson::document reply = bson::doc("ok", 1);
    return reply.view();
}

}  // namespace

command_attempts::command_attempts(std::shared_ptr<client_state>&& client, command_order&& order)
    : client_{std::move(client)},
      order_{std::move(order)},
      session_{std::move(order_.session)},
      history_{client_->world.steady_now()}
{
    operation_ = order_.operation;
    if (operation_ == operation_id{})
        operation_ = operation_id{client_->operations.fetch_add(1, std::memory_order_relaxed) + 1};
    if (order_.facts != nullptr)
        order_.facts->operation = operation_;
    policy_.kind = command().kind;
    policy_.retry_reads = client_->settings.retry_reads;
    policy_.retry_writes = client_->settings.retry_writes;
    policy_.adaptive = client_->adaptive;
    policy_.retarget_on_overload = client_->settings.enable_overload_retargeting.value_or(false);
    policy_.until = order_.until;
    policy_.profile = client_->profile;
    policy_.repeatable = command().eligible && command().kind == retry_kind::read;
}

void command_attempts::start_attempt()
{
    history_.start_attempt(progress_.failed_before ? client_->world.steady_now()
                                                   : history_.began());
    failure_.reset();
    if (!authenticates_next())
        attempt_.reset();
}

bool command_attempts::begin_now()
{
    start_attempt();
    const time_point now = history_.attempt_began();
    if (attempt_ || order_.until.expired(now))
        return false;  // it authenticates first, or is too late
    if (order_.facts != nullptr && order_.facts->pin)
        if (auto pinned = take_pinned(*order_.facts))
            attempt_.emplace(*std::move(pinned));
    if (!attempt_) {
        auto found = client_->servers->try_select(wanted(), {name(), operation_});
        if (!found || !*found)
            return false;
        attempt_.emplace(**std::move(found));
        attempt_->over = attempt_->on.pool().try_check_out(now);
    }
    if (!attempt_->has_connection() || !command().acknowledged || attempt_->to().needs_login())
        return false;
    return encode().has_value();
}

result<bson::view> command_attempts::end(result<core::mongo::message>&& reply)
{
    connection& over = attempt_->to();
    history_.reached(over.phase());
    replied_at_ = client_->world.steady_now();
    auto outcome = reply ? finished(*reply) : failed_connection(std::move(reply).error());
    if (reply)
        attempt_->monitoring->ended(reply->body, outcome ? nullptr : &outcome.error());
    else
        attempt_->monitoring->failed(outcome.error());
    if (!outcome && over.needs_login() && !reauthenticated_)
        return outcome;  // the next attempt uses the same connection
    if (order_.facts != nullptr) {
        const bson::view received = reply ? reply->body : bson::view{};
        if (outcome && order_.command.load != nullptr && order_.facts->refused.empty())
            keep_refusal(received);
        if (keep_pinned(order_, *attempt_, received, !outcome)) {
            attempt_.reset();
            return outcome;
        }
    }
    if (!outcome && !planted.holds_connection_while_waiting)
        release();
    return outcome;
}

void command_attempts::release() noexcept
{
    if (attempt_ && attempt_->has_connection())
        attempt_->over->give_back(replied_at_);
    attempt_.reset();
}

/// An attempt that has to wait for something; begin_now() has tried to do without.
runtime::awaitable<result<bson::view>> command_attempts::attempt()
{
    if (order_.until.expired(history_.attempt_began()))
        co_return timed_out(history_.attempt_began());
    for (;;) {
        auto connected = co_await wait_for_connection();
        if (!connected)
            co_return std::move(connected).error();
        if (attempt_->to().needs_login()) {
            auto known = co_await reauthenticate();
            if (!known)
                co_return std::move(known).error();
        }
        auto encoded = encode();
        if (encoded)
            break;
        if (encoded.error().code() != core::pool_errc::replaced) {
            attempt_.reset();
            co_return std::move(encoded).error();
        }
        select_anew(encoded.error());
    }
    if (!command().acknowledged)
        co_return co_await send_only();
    auto reply = co_await attempt_->to().round_trip(attempt_->request, attempt_->id, name());
    co_return end(std::move(reply));
}

/// Encodes the message of an attempt that has a connection.
result<void> command_attempts::encode()
{
    if (auto fits = check_server(); !fits)
        return fits;
    if (auto ready = prepare_session(); !ready)
        return ready;
    connection& to = attempt_->to();
    const selected_server& on = attempt_->on;
    attempt_->id = to.next_request();

    core::mongo::command_encoder out{order_.command, attempt_->id,
                                     session_.read_concern(name(), client_->profile),
                                     to.outgoing()};
    out.add_raw_data(to.description().max_wire_version);
    out.add_read_concern();
    out.add_database();
    session_.write_fields(out.fields(), client_->cluster_time);
    out.add_read_preference(on.topology(), on.description());
    if (client_->settings.server_api) [[unlikely]]
        core::mongo::write_api(out.fields(), declared(client_->settings.server_api));
    auto request = out.finish(to.description());
    if (!request)
        return std::move(request).error();
    attempt_->request = *request;

    time_point last = order_.until.when();
    if (client_->settings.socket_timeout.count() != 0)
        last = std::min(last, client_->world.steady_now() + client_->settings.socket_timeout);
    to.expires_at(last);
    const bool leaves = !command().only_server &&
                        leaves_deposed_primary(policy_, progress_, history_.attempt_began());
    to.repeatable = leaves;
    if (leaves && to.replaced) [[unlikely]]
        return error{core::pool_errc::replaced, deposed().message()};
    attempt_->monitoring.emplace(*client_, operation_, name(), command().database, attempt_->id, to,
                                 session_.transaction());
    attempt_->monitoring->started(attempt_->request);
    return {};
}

/// A write with w: 0, which gets no reply.
runtime::awaitable<result<bson::view>> command_attempts::send_only()
{
    connection& to = attempt_->to();
    auto sent = co_await to.send(attempt_->request, name());
    history_.reached(to.phase());
    std::optional<result<bson::view>> outcome;
    if (sent) {
        outcome.emplace(assumed_reply());
        attempt_->monitoring->ended(**outcome, nullptr);
    } else {
        outcome.emplace(failed_connection(std::move(sent).error()));
        attempt_->monitoring->failed(outcome->error());
    }
    attempt_.reset();
    co_return *std::move(outcome);
}

/// Whether the server can execute the command in this session at all.
result<void> command_attempts::check_server()
{
    const core::mongo::connection_description& connection = attempt_->to().description();
    if (connection.max_wire_version < command().need.wire_version) [[unlikely]]
        return error{core::mongo::errc::command_failed,
                     std::string{name()} + ": " + attempt_->on.address().value() +
                         " is too old for " + std::string{command().need.what}};
    const char* const obstacle = session_.claim(command().acknowledged, connection);
    if (obstacle != nullptr) [[unlikely]]
        return error{core::mongo::errc::command_failed, std::string{name()} + ": " + obstacle};
    return {};
}

/// A session, and a transaction number, once there is a server that supports them.
result<void> command_attempts::prepare_session()
{
    const selected_server& on = attempt_->on;
    const core::mongo::connection_description& connection = attempt_->to().description();
    const auto timeout = on.topology().logical_session_timeout_minutes;
    const auto lifetime = connection.logical_session_timeout
                              ? std::optional{static_cast<std::int32_t>(
                                    connection.logical_session_timeout->count())}
                              : std::nullopt;
    if (!session_ && lifetime && command().acknowledged && !command().without_session)
        session_.take(client_, timeout ? timeout : lifetime, history_.attempt_began());
    const bool supported = core::mongo::supports_retryable_writes(
        on.description().type, connection.max_wire_version, lifetime);
    if (session_.transaction() && !supported) {
        // The write may have been applied with a number that this server knows nothing of.
        return error{core::mongo::errc::no_server,
                     on.address().value() + " cannot recognise a write that is sent again"};
    }
    if (command().kind != retry_kind::write)
        return {};
    const bool eligible = command().load != nullptr ? command().load->is_eligible(connection)
                                                    : command().eligible;
    const bool numbered = eligible && client_->settings.retry_writes && supported && session_;
    if (numbered && (!session_.transaction() || planted.renumbers_retries)) {
        if (auto assigned = session_.assign_transaction_number(); !assigned)
            return assigned;
    }
    // failed_checkout() may have expected a number that this server does not support.
    policy_.repeatable = session_.transaction().has_value();
    return {};
}

result<bson::view> command_attempts::finished(const core::mongo::message& reply)
{
    const core::mongo::reply_glance seen = core::mongo::glance_at(reply.body);
    session_.replied(seen, client_->cluster_time, replied_at_);
    const bool sharded = attempt_->on.topology().type == core::mongo::topology_type::sharded;
    const auto failure = core::mongo::failure_in(
        seen, attempt_->to().description().max_wire_version, sharded);
    if (!failure) [[likely]] {
        if (client_->adaptive)
            client_->tokens.update(
                [this](core::token_bucket bucket) { return reward(policy_, progress_, bucket); });
        return reply.body;
    }
    history_.failed_on(attempt_->on.address());
    return failure_.in_reply(*client_, *attempt_, *failure, reply.body, write_facts());
}

error command_attempts::failed_connection(error why)
{
    history_.failed_on(attempt_->on.address());
    session_.mark_dirty();
    if (attempt_->to().given_up)
        return failure_.of_deposed_primary(*attempt_, deposed(), write_facts());
    return failure_.of_connection(*client_, *attempt_, std::move(why), write_facts());
}

/// Nothing has been applied, so the write may be sent, if the next server can recognise it.
error command_attempts::failed_checkout(error why)
{
    const selected_server& on = attempt_->on;
    history_.failed_on(on.address());
    if (why.code() == core::pool_errc::closed && client_->servers->is_closed())
        return error{runtime::errc::cancelled, "the client is closed"};
    if (command().kind == retry_kind::write && command().eligible &&
        client_->settings.retry_writes &&
        core::mongo::supports_retryable_writes(on.description().type,
                                               on.description().max_wire_version,
                                               on.topology().logical_session_timeout_minutes))
        policy_.repeatable = true;
    return failure_.of_checkout(*client_, on, std::move(why), write_facts());
}

settled_step command_attempts::decide_retry(error why, time_point now)
{
    if (failure_.is_expired_login() && !std::exchange(reauthenticated_, true)) {
        history_.record(why, "retried: the connection authenticates again first", {}, now);
        history_.report(std::move(why));
        return try_again{};
    }
    const double chance = client_->world.chance();
    core::mongo::failed_attempt failed = failure_.facts();
    failed.sent = history_.was_sent();
    core::mongo::retry_decision decided;
    client_->tokens.update([&](core::token_bucket before) {
        decided = core::mongo::decide(policy_, progress_, failed, before, now, chance);
        return decided.tokens;
    });
    history_.record(why, describe(decided), decided.retries() ? decided.wait : duration::zero(),
                    now);
    const bool by_client = failed.origin == core::mongo::failure_origin::client;
    const bool closed = by_client && why.code() == runtime::errc::cancelled;
    if (closed || why.code() == core::mongo::errc::operation_timed_out)
        return give_up{history_.complete(std::move(why))};
    const bool too_late = order_.until.expired(now) && is_end_of_wait(why.code());
    if (decided.reports_this || !history_.reported())
        history_.report(std::move(why));
    progress_ = decided.progress;
    if (too_late)
        return give_up{timed_out(now)};
    if (!decided.retries())
        return give_up{history_.complete_reported()};
    if (decided.avoids_server && !history_.server().value().empty())
        deprioritised_.push_back(history_.server());
    return try_again{decided.wait};
}

std::optional<error> command_attempts::woke(time_point)
{
    if (client_->closing.count() == 0)
        return std::nullopt;
    return history_.interrupted(
        runtime::errc::cancelled,
        std::string{name()} + " was cancelled: the client was closed while it waited for a retry");
}

error command_attempts::timed_out(time_point)
{
    return history_.interrupted(core::mongo::errc::operation_timed_out,
                                std::string{name()} + " was not done in time");
}

error command_attempts::cancelled(const error* undecided, time_point now)
{
    if (undecided != nullptr)
        history_.record(*undecided, "not retried: the caller has cancelled the operation", {}, now);
    error ended{runtime::errc::cancelled, std::string{name()} + " was cancelled"};
    return history_.complete(std::move(ended));
}

}  // namespace holdfast::shell::mongo
