#include "core/mongo/error/errc.hpp"
#include "shell/mongo/execute/command_attempts.hpp"
#include "shell/mongo/execute/pinned_connection.hpp"

#include <string>
#include <utility>

/// What a command owes to its session, and to the cursor that it belongs to.
namespace holdfast::shell::mongo {

namespace {

/// From this wire version on (MongoDB 5.0) servers read as of a time in the past.
constexpr std::int32_t reads_snapshots = 13;

/// Where the reply to a read in a snapshot session says which time it was.
std::optional<bson::timestamp> snapshot_time_in(bson::view reply)
{
    const bson::element cursor = reply.find("cursor");
    const bson::element received = cursor.type() == bson::type::document
                                   ? cursor.as_document().find("atClusterTime")
                                   : reply.find("atClusterTime");
    if (received.type() != bson::type::timestamp)
        return std::nullopt;
    return received.as_timestamp();
}

bool continues_cursor(std::string_view command) noexcept
{
    return command == "getMore" || command == "killCursors";
}

bool has_open_cursor(bson::view reply)
{
    const bson::element cursor = reply.find("cursor");
    if (cursor.type() != bson::type::document)
        return false;
    const bson::element id = cursor.as_document().find("id");
    return id.type() == bson::type::int64 && id.as_int64() != 0;
}

}  // namespace

result<void> command_attempts::check_session(const connection& over) const
{
    const session_state* const given = session_.given();
    if (given == nullptr || given->implicit) [[likely]]
        return {};
    const char* wrong = nullptr;
    if (given->ended)
        wrong = "the session has ended";
    else if (!order_.acknowledged)
        wrong = "a write without acknowledgement (w: 0) cannot be part of a session";
    else if (!over.description().logical_session_timeout)
        wrong = "the server does not support sessions";
    else if (given->snapshot && over.description().max_wire_version < reads_snapshots)
        wrong = "Snapshot reads require MongoDB 5.0 or later";
    if (wrong == nullptr)
        return {};
    return error{core::mongo::errc::command_failed, std::string{name_} + ": " + wrong};
}

/// The operation's level, and what its session adds: reads of a causally consistent one are not
/// older than what it has seen, and a snapshot session says so with every command, for the server
/// to refuse those that it cannot do.
void command_attempts::write_read_concern(bson::builder& command) const
{
    const session_state* const given = session_.given();
    const bool snapshot = given != nullptr && given->snapshot && !continues_cursor(name_);
    const bool after = order_.reads && given != nullptr && given->causal &&
                       given->operation_time.latest().has_value();
    const bool level = order_.reads && order_.read_concern.level.has_value();
    if (!snapshot && !after && !level) [[likely]]
        return;
    if (order_.body.find("readConcern"))
        return;  // the application has written the command itself
    bson::builder concern = command.document("readConcern");
    if (snapshot) {
        concern.add("level", "snapshot");
        if (given->snapshot_time)
            concern.add("atClusterTime", *given->snapshot_time);
        return;
    }
    if (level)
        concern.add("level", *order_.read_concern.level);
    if (after)
        concern.add("afterClusterTime", *given->operation_time.latest());
}

/// The newer one of the client's and the session's.
void command_attempts::write_cluster_time(bson::builder& command) const
{
    const session_state* const given = session_.given();
    if (given != nullptr && given->cluster_time.latest() &&
        client_->cluster_time.is_older_than(given->cluster_time.latest()->view()))
        command.add("$clusterTime", given->cluster_time.latest()->view());
    else
        client_->cluster_time.write(command);
}

/// What a reply tells that later operations must know.
void command_attempts::remember(const core::mongo::reply_glance& seen, time_point now)
{
    session_.used(now);
    const bool received = seen.cluster_time.type() == bson::type::document;
    if (received)
        client_->cluster_time.advance(seen.cluster_time.as_document());
    session_state* const given = session_.given();
    if (given == nullptr) [[likely]]
        return;
    if (received)
        given->cluster_time.advance(seen.cluster_time.as_document());
    if (seen.operation_time.type() == bson::type::timestamp)
        given->operation_time.advance(seen.operation_time.as_timestamp());
    if (given->snapshot && !given->snapshot_time)
        given->snapshot_time = snapshot_time_in(seen.reply);
}

/// The cursor's connection, if it has one of its own. One that broke was only kept for its close.
void command_attempts::take_pinned()
{
    if (order_.facts == nullptr || !order_.facts->pin)
        return;
    const auto pin = std::exchange(order_.facts->pin, nullptr);
    if (!pin->over->usable())
        return;
    trip_.emplace(std::move(pin->on));
    trip_->over.emplace(std::move(pin->over));
    trip_->pinned = true;
}

/// Tells who asked for it which server has answered; behind a load balancer, a connection stays
/// with a cursor that the server still has, and with one that has failed. Not if a reply to it is
/// still to come: the pool waits for that.
void command_attempts::keep_pinned(bson::view reply, bool failed)
{
    answer_facts& facts = *order_.facts;
    connection& over = **trip_->over;
    if (!reply.empty()) {
        facts.server = trip_->on.address();
        facts.wire_version = over.description().max_wire_version;
    }
    const bool balanced = trip_->on.topology().type == core::mongo::topology_type::load_balanced;
    const bool stays = failed ? trip_->pinned && !over.owes_reply()
                              : has_open_cursor(reply) && over.usable();
    if (!balanced || !order_.opens_cursor || !stays)
        return;
    facts.pin = std::make_shared<pinned_connection>(std::move(trip_->on), std::move(*trip_->over));
    trip_.reset();
}

}  // namespace holdfast::shell::mongo
