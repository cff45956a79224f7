#include "core/mongo/sdam/application_error.hpp"

#include "core/mongo/error/server_text.hpp"
#include "core/mongo/sdam/reply.hpp"
#include "core/mongo/sdam/topology_update.hpp"

#include <boost/system/errc.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// From MongoDB 4.2 a server that changes its state keeps its connections.
constexpr std::int32_t state_change_keeps_connections = 8;

bool contains(std::string_view text, std::string_view part) noexcept
{
    return text.find(part) != text.npos;
}

std::optional<std::int32_t> code_of(bson::view reply)
{
    const bson::element e = reply["code"];
    const auto code = e ? e.get<std::int32_t>() : result<std::int32_t>{0};
    return e && code ? std::optional{*code} : std::nullopt;
}

reply_error inspect(bson::view subject, std::string_view text_field)
{
    reply_error found;
    found.code = code_of(subject);
    const bson::element text = subject[text_field];
    const std::string_view message = text.type() == bson::type::string ? text.as_string()
                                                                       : std::string_view{};
    found.change = classify_state_change(found.code, message);
    found.message = limited_text(message);
    return found;
}

/// The server is unknown for this reason. Runs through the table as a failed check would.
transition lose(const topology_ptr& before, const application_error& e,
                std::optional<topology_version> version, time_point now, wire_range client)
{
    return apply_check(before, unknown_server(e.server, e.cause, version, now), client);
}

transition on_state_change(const topology_ptr& before, const application_error& e,
                           state_change change, time_point now, wire_range client)
{
    const bool clears = change == state_change::shutting_down ||
                        e.max_wire_version < state_change_keeps_connections;
    if (before->type == topology_type::load_balanced) {
        transition unchanged{before};
        if (clears && e.service_id)
            unchanged.effects.emplace_back(clear_pool{e.server, e.cause, e.service_id});
        return unchanged;
    }
    const auto version = parse_topology_version(e.reply);
    if (compare(before->find(e.server)->version, version) >= 0)
        return {before};  // the monitor has heard of this change, or of a later one
    transition t = lose(before, e, version, now, client);
    if (clears)
        t.effects.emplace_back(clear_pool{e.server, e.cause});
    t.effects.emplace_back(request_check{e.server});
    return t;
}

transition on_lost_connection(const topology_ptr& before, const application_error& e,
                              time_point now, wire_range client)
{
    if (before->type == topology_type::load_balanced) {
        transition unchanged{before};
        if (e.service_id)
            unchanged.effects.emplace_back(clear_pool{e.server, e.cause, e.service_id});
        return unchanged;
    }
    transition t = lose(before, e, std::nullopt, now, client);
    t.effects.emplace_back(clear_pool{e.server, e.cause});
    if (e.kind == failure_kind::network)
        t.effects.emplace_back(cancel_check{e.server});
    return t;
}

}  // namespace

state_change classify_state_change(std::optional<std::int32_t> code, std::string_view message)
{
    if (code) {
        switch (*code) {
        case 11600:  // InterruptedAtShutdown
        case 91:     // ShutdownInProgress
            return state_change::shutting_down;
        case 11602:  // InterruptedDueToReplStateChange
        case 13436:  // NotPrimaryOrSecondary
        case 189:    // PrimarySteppedDown
            return state_change::recovering;
        case 10107:  // NotWritablePrimary
        case 13435:  // NotPrimaryNoSecondaryOk
        case 10058:  // LegacyNotPrimary
            return state_change::not_writable_primary;
        default:
            return state_change::none;
        }
    }
    // "not master or secondary" contains "not master": the longer text is looked for first.
    if (contains(message, "node is recovering") || contains(message, "not master or secondary"))
        return state_change::recovering;
    return contains(message, "not master") ? state_change::not_writable_primary
                                           : state_change::none;
}

reply_error inspect_reply(bson::view reply)
{
    if (reply["ok"] && !is_ok(reply))
        return inspect(reply, "errmsg");
    if (const bson::element e = reply["writeConcernError"]; e.type() == bson::type::document)
        return inspect(e.as_document(), "errmsg");
    if (reply["err"].type() == bson::type::string)  // getLastError
        return inspect(reply, "err");
    if (reply["$err"].type() == bson::type::string)  // a legacy query that failed
        return inspect(reply, "$err");
    return {};
}

failure_kind kind_of_broken_connection(error_code why) noexcept
{
    const auto timed_out = boost::system::errc::make_error_condition(
        boost::system::errc::timed_out);
    return why == timed_out ? failure_kind::timeout : failure_kind::network;
}

transition apply_error(const topology_ptr& before, const application_error& e,
                       std::uint32_t pool_generation, const resilience_profile& profile,
                       time_point now, wire_range client)
{
    if (!before->find(e.server) || e.generation < pool_generation)
        return {before};
    const bool ready = e.phase == connection_phase::ready;
    if (!ready && e.refusal) {  // a change of its state is one in whatever phase it is reported
        const state_change change = classify_state_change(e.refusal, {});
        if (change != state_change::none)
            return on_state_change(before, e, change, now, client);
    }
    switch (e.kind) {
    case failure_kind::command: {
        const state_change change = inspect_reply(e.reply).change;
        if (change != state_change::none)
            return on_state_change(before, e, change, now, client);
        return ready ? transition{before} : on_lost_connection(before, e, now, client);
    }
    case failure_kind::authentication:
        return ready ? transition{before} : on_lost_connection(before, e, now, client);
    case failure_kind::timeout:
        if (ready)
            return {before};  // the operation may just be slow
        break;
    case failure_kind::network:
        break;
    }
    if (e.phase == connection_phase::connecting && profile.connect_errors_are_overload &&
        !e.never_overload)
        return {before};
    return on_lost_connection(before, e, now, client);
}

transition apply_failed_check(const topology_ptr& before, const endpoint& server, error cause,
                              failure_kind kind, time_point now, wire_range client)
{
    const server_ptr current = before->find(server);
    if (!current)
        return {before};
    const bool was_known = !is_unknown(current->type);
    transition t = apply_check(before, unknown_server(server, cause, std::nullopt, now), client);
    const bool timed_out = kind == failure_kind::timeout;
    t.effects.emplace_back(clear_pool{server, std::move(cause), std::nullopt, timed_out});
    if (was_known && (kind == failure_kind::network || timed_out))
        t.effects.emplace_back(request_check{server});
    return t;
}

}  // namespace holdfast::core::mongo
