#include "shell/mongo/execute/command_attempts.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/error/server_error.hpp"
#include "core/mongo/handshake/hello.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "core/mongo/retry/reply_failure.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "core/pool/errc.hpp"
#include "shell/mongo/connection/connection_config.hpp"
#include "shell/mongo/execute/pinned_connection.hpp"
#include "shell/mongo/execute/routing.hpp"
#include "shell/planted.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::shell::mongo {

using core::mongo::application_error;
using core::mongo::connection_phase;
using core::mongo::failed_attempt;
using core::mongo::failure_kind;
using core::mongo::failure_origin;
using core::mongo::operation_kind;

namespace {

/// The server's word for a login that has expired.
constexpr std::int32_t reauthentication_required = 391;
/// ... and for a write with a number that its storage cannot remember.
constexpr std::int32_t illegal_operation = 20;
/// From this wire version on (MongoDB 8.2).
constexpr std::int32_t takes_raw_data = 27;

/// What a wait says that has come to its end. If that of the whole operation has come as well, it
/// was that one.
bool is_end_of_wait(const error_code& code) noexcept
{
    return code == boost::system::errc::timed_out || code == core::mongo::errc::no_server ||
           code == core::pool_errc::timed_out;
}

}  // namespace

command_attempts::command_attempts(std::shared_ptr<client_state>&& client, command_order&& order)
    : client_{std::move(client)},
      order_{std::move(order)},
      session_{std::move(order_.session)},
      began_{client_->world.steady_now()}
{
    name_ = (*order_.body.begin()).key();
    operation_ = order_.operation;
    if (operation_ == operation_id{})
        operation_ = operation_id{client_->operations.fetch_add(1, std::memory_order_relaxed) + 1};
    if (order_.facts != nullptr)
        order_.facts->operation = operation_;
    policy_.kind = order_.kind;
    policy_.retry_reads = client_->settings.retry_reads;
    policy_.retry_writes = client_->settings.retry_writes;
    policy_.adaptive = client_->adaptive;
    policy_.retarget_on_overload = client_->settings.enable_overload_retargeting.value_or(false);
    policy_.until = order_.until;
    policy_.profile = client_->profile;
    policy_.repeatable = order_.eligible && order_.kind == core::mongo::retry_kind::read;
}

core::mongo::selection_request command_attempts::wanted() const
{
    core::mongo::selection_request request;
    request.kind = order_.selects;
    request.writes_output = order_.writes_output;
    request.preference = order_.preference;
    request.deprioritised = avoided_;
    if (order_.only_server)
        request.only = &*order_.only_server;
    return request;
}

void command_attempts::start_attempt()
{
    attempt_began_ = progress_.failed_before ? client_->world.steady_now() : began_;
    phase_ = dispatch_phase::not_sent;
    server_ = {};
    failed_ = failed_attempt{.origin = failure_origin::client};
    if (!logs_in_next())
        trip_.reset();
}

bool command_attempts::begin_now()
{
    start_attempt();
    if (trip_ || order_.until.expired(attempt_began_))
        return false;  // it logs in first, or is too late
    take_pinned();
    if (!trip_) {
        auto found = client_->servers->try_select(wanted(), {name_, operation_});
        if (!found || !*found)
            return false;
        trip_.emplace(**std::move(found));
        trip_->over = trip_->on.pool().try_check_out(attempt_began_);
    }
    if (!trip_->over || !order_.acknowledged || (*trip_->over)->needs_login())
        return false;
    return load().has_value();
}

result<bson::document> command_attempts::end(result<core::mongo::message> reply)
{
    connection& over = **trip_->over;
    phase_ = over.phase();
    const time_point now = client_->world.steady_now();
    auto outcome = reply ? finished(*reply, over, trip_->on, now)
                         : lost(std::move(reply).error(), over, trip_->on);
    if (reply)
        trip_->monitoring->ended(reply->body, outcome ? nullptr : &outcome.error());
    else
        trip_->monitoring->failed(outcome.error());
    const bool logs_in = !outcome && over.needs_login() && !logged_in_again_;
    if (order_.facts != nullptr && !logs_in)
        keep_pinned(reply ? reply->body : bson::view{}, !outcome);
    if (trip_ && !logs_in && !planted.holds_connection_while_waiting) {
        trip_->over->give_back(now);
        trip_.reset();
    }
    return outcome;
}

/// The long way, where something has to be waited for; begin_now() has tried the short one.
runtime::awaitable<result<bson::document>> command_attempts::attempt()
{
    runtime::world& in = client_->world;
    if (order_.until.expired(attempt_began_))
        co_return timed_out(attempt_began_);
    if (!trip_) {
        const selection_purpose purpose{name_, operation_};
        const time_point last = std::min(
            order_.until.when(), in.steady_now() + client_->settings.server_selection_timeout);
        auto waited = co_await client_->servers->select(wanted(), last, purpose);
        if (!waited)
            co_return std::move(waited).error();
        trip_.emplace(*std::move(waited));
        trip_->over = trip_->on.pool().try_check_out(in.steady_now());
    }
    if (!trip_->over) {
        time_point last = order_.until.when();
        if (client_->settings.pool.wait_queue_timeout && !order_.until.is_set())
            last = in.steady_now() + *client_->settings.pool.wait_queue_timeout;
        auto waited = co_await trip_->on.pool().check_out(last);
        if (!waited)
            co_return not_sent(std::move(waited).error(), trip_->on);
        trip_->over.emplace(*std::move(waited));
    }
    if ((*trip_->over)->needs_login()) {
        auto known = co_await log_in();
        if (!known)
            co_return std::move(known).error();
    }
    if (auto loaded = load(); !loaded) {
        trip_.reset();
        co_return std::move(loaded).error();
    }
    if (!order_.acknowledged)
        co_return co_await send_only();
    (void)send_now();
    auto reply = co_await round_trip();
    co_return end(std::move(reply));
}

/// Builds the message of an attempt that has a connection.
result<void> command_attempts::load()
{
    connection& to = **trip_->over;
    if (auto ready = prepare(trip_->on, to); !ready)
        return ready;
    trip_->id = to.next_request();
    auto request = write(to, trip_->id, trip_->on);
    if (!request)
        return std::move(request).error();
    trip_->request = *request;
    time_point last = order_.until.when();
    if (client_->settings.socket_timeout.count() != 0)
        last = std::min(last, client_->world.steady_now() + client_->settings.socket_timeout);
    to.expires_at(last);
    trip_->monitoring.emplace(*client_, operation_, name_, order_.database, trip_->id, to,
                           transaction_);
    trip_->monitoring->started(trip_->request);
    return {};
}

/// A write whose outcome nobody wants to know.
runtime::awaitable<result<bson::document>> command_attempts::send_only()
{
    connection& to = **trip_->over;
    auto sent = co_await to.send(trip_->request, name_);
    phase_ = to.phase();
    bson::document assumed = bson::doc("ok", 1);
    std::optional<result<bson::document>> outcome;
    if (sent) {
        trip_->monitoring->ended(assumed.view(), nullptr);
        outcome.emplace(std::move(assumed));
    } else {
        outcome.emplace(lost(std::move(sent).error(), to, trip_->on));
        trip_->monitoring->failed(outcome->error());
    }
    trip_.reset();
    co_return *std::move(outcome);
}

/// A session, and a transaction number, once a server is there that can do something with them.
result<void> command_attempts::prepare(const selected_server& on, const connection& over)
{
    const core::mongo::connection_description& says = over.description();
    if (says.max_wire_version < order_.need.wire_version)
        return error{core::mongo::errc::command_failed,
                     std::string{name_} + ": " + on.address().value() + " is too old for " +
                         std::string{order_.need.what}};
    if (auto fits = check_session(over); !fits)
        return fits;
    const auto timeout = on.topology().logical_session_timeout_minutes;
    const auto lifetime = says.logical_session_timeout ? std::optional{static_cast<std::int32_t>(
                                                             says.logical_session_timeout->count())}
                                                       : std::nullopt;
    if (!session_ && lifetime && order_.acknowledged)
        session_.take(client_, timeout ? timeout : lifetime, attempt_began_);
    const bool can = core::mongo::supports_retryable_writes(on.description().type,
                                                            says.max_wire_version, lifetime);
    if (transaction_ && !can) {
        // The write may have been applied with a number that this server knows nothing of.
        return error{core::mongo::errc::no_server,
                     on.address().value() + " cannot recognise a write that is sent again"};
    }
    const bool numbered = order_.kind == core::mongo::retry_kind::write && is_eligible(says) &&
                          client_->settings.retry_writes && can && session_;
    if (numbered && (!transaction_ || planted.renumbers_retries)) {
        auto next = core::mongo::next_transaction_id(*session_);
        if (!next)
            return std::move(next).error();
        transaction_ = *next;
    }
    // Also where not_sent() has hoped for a number that this server cannot take.
    if (order_.kind == core::mongo::retry_kind::write)
        policy_.repeatable = transaction_.has_value();
    return {};
}

result<std::span<const std::uint8_t>> command_attempts::write(connection& to, request_id id,
                                                              const selected_server& on) const
{
    core::mongo::message_flags flags;
    flags.more_to_come = !order_.acknowledged;
    core::mongo::message_builder out{to.outgoing(), id, flags};
    bson::builder& command = out.command();
    command.merge(order_.body.view());
    if (order_.raw_data && to.description().max_wire_version >= takes_raw_data)
        command.add("rawData", *order_.raw_data);
    write_read_concern(command);
    command.add("$db", order_.database);
    if (transaction_) {
        core::mongo::write_transaction_id(command, *transaction_);
    } else if (session_) {
        core::mongo::write_lsid(command, session_->id());
    }
    if (session_)
        write_cluster_time(command);
    write_read_preference(command, order_, on);
    if (client_->settings.server_api) [[unlikely]]
        core::mongo::write_api(command, declared(client_->settings.server_api));
    if (order_.load != nullptr) {
        if (auto loaded = order_.load->write(out, to.description()); !loaded)
            return std::move(loaded).error();
    }
    return out.finish();
}

result<bson::document> command_attempts::finished(const core::mongo::message& reply,
                                                  connection& over, const selected_server& on,
                                                  time_point now)
{
    const core::mongo::reply_glance seen = core::mongo::glance_at(reply.body);
    if (session_)
        remember(seen, now);
    const bool sharded = on.topology().type == core::mongo::topology_type::sharded;
    const auto failure = core::mongo::failure_in(seen, over.description().max_wire_version,
                                                 sharded);
    if (!failure) [[likely]] {
        if (client_->adaptive)
            client_->tokens.update([this](core::token_bucket bucket) {
                return reward(policy_, progress_.retries, bucket);
            });
        return bson::document{reply.body};
    }
    failed_ = *failure;
    if (failed_.code == reauthentication_required)
        over.require_login();
    server_ = on.address();
    error why = core::mongo::make_server_error(reply.body);
    if (transaction_ && failed_.code == illegal_operation &&
        why.message().starts_with("Transaction numbers"))
        why = core::mongo::without_retryable_writes(reply.body);
    if (is_repeatable_write() && core::mongo::driver_adds_label(failed_))
        why = std::move(why).with_label(core::mongo::label::retryable_write);
    why = std::move(why).with_context("server", on.address().value());
    client_->servers->handle(
        application_error{.server = on.address(),
                          .kind = failure_kind::command,
                          .phase = connection_phase::ready,
                          .generation = over.generation,
                          .max_wire_version = over.description().max_wire_version,
                          .cause = why,
                          .reply = reply.body,
                          .service_id = over.description().service_id});
    failed_text_ = failed_.message;  // it lies in a reply that is about to go
    failed_.message = failed_text_;
    return why;
}

/// The connection broke, or the time was up. The topology is told before anybody selects again.
error command_attempts::lost(error why, const connection& over, const selected_server& on)
{
    server_ = on.address();
    failed_ = failed_attempt{.origin = failure_origin::network,
                             .max_wire_version = over.description().max_wire_version,
                             .sharded = on.topology().type == core::mongo::topology_type::sharded};
    if (session_)
        session_->mark_dirty();
    if (is_repeatable_write() && core::mongo::driver_adds_label(failed_))
        why = std::move(why).with_label(core::mongo::label::retryable_write);
    if (why.code() == boost::system::errc::operation_canceled)
        return why;  // nothing is wrong with the server
    client_->servers->handle(
        application_error{.server = on.address(),
                          .kind = core::mongo::kind_of_broken_connection(why.code()),
                          .phase = connection_phase::ready,
                          .generation = over.generation,
                          .max_wire_version = over.description().max_wire_version,
                          .cause = why,
                          .service_id = over.description().service_id});
    return why;
}

settled_step command_attempts::decide_retry(error why, time_point now)
{
    if (failed_.origin == failure_origin::server && failed_.code == reauthentication_required &&
        !std::exchange(logged_in_again_, true)) {
        record(why, "retried: the connection logs in again first", {}, now);
        reported_ = std::move(why);
        return try_again{};
    }
    const double chance = client_->world.chance();
    core::mongo::retry_decision decided;
    client_->tokens.update([&](core::token_bucket before) {
        decided = core::mongo::decide(policy_, progress_, failed_, before, now, chance);
        return decided.tokens;
    });
    record(why, describe(decided), decided.retries() ? decided.wait : duration::zero(), now);
    const bool closed = why.code() == runtime::errc::cancelled &&
                        failed_.origin == failure_origin::client;
    if (closed || why.code() == core::mongo::errc::operation_timed_out)
        return give_up{with_history(std::move(why))};
    const bool too_late = order_.until.expired(now) && is_end_of_wait(why.code());
    if (decided.reports_this || !reported_)
        reported_ = std::move(why);
    progress_ = decided.progress;
    if (too_late)
        return give_up{timed_out(now)};
    if (!decided.retries())
        return give_up{with_history(*std::move(reported_))};
    if (decided.avoids_server && !server_.value().empty())
        avoided_.push_back(server_);
    return try_again{decided.wait};
}

}  // namespace holdfast::shell::mongo
