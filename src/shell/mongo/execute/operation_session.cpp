#include "shell/mongo/execute/operation_session.hpp"

#include <utility>

namespace holdfast::shell::mongo {

namespace {

/// From this wire version on (MongoDB 5.0) servers read as of a time in the past.
constexpr std::int32_t reads_snapshots = 13;

/// The time of a read in a snapshot session, as the reply reports it.
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

}  // namespace

const char* operation_session::claim(bool acknowledged,
                                     const core::mongo::connection_description& connection) noexcept
{
    // The commands of a cursor or a bulk write follow each other: their own session needs no guard.
    if (given_ == nullptr || given_->implicit) [[likely]]
        return nullptr;
    if (given_->ended)
        return "the session has ended";
    if (!acknowledged)
        return "a write without acknowledgement (w: 0) cannot be part of a session";
    if (!connection.logical_session_timeout)
        return "the server does not support sessions";
    if (given_->snapshot && connection.max_wire_version < reads_snapshots)
        return "Snapshot reads require MongoDB 5.0 or later";
    if (!claimed_)
        claimed_ = !given_->in_use.exchange(true, std::memory_order_acquire);
    return claimed_ ? nullptr
                    : "the session is in use by another operation that has not ended; a session "
                      "serves one operation at a time";
}

void operation_session::take(std::shared_ptr<client_state> from,
                             std::optional<std::int32_t> timeout_minutes, time_point now)
{
    if (given_) {
        given_->server = from->sessions.take(timeout_minutes, now);
        given_->client = std::move(from);
        given_->timeout_minutes = timeout_minutes;
        return;
    }
    client_ = std::move(from);
    timeout_ = timeout_minutes;
    last_used_ = now;
    own_ = client_->sessions.take(timeout_minutes, now);
}

result<void> operation_session::assign_transaction_number()
{
    auto next = core::mongo::next_transaction_id(server());
    if (!next)
        return std::move(next).error();
    transaction_ = *next;
    return {};
}

/// A snapshot session sends its level with every command but those of a cursor, so that the server
/// refuses what it cannot read as of that time.
core::mongo::session_read_concern operation_session::read_concern(
    std::string_view command, const core::mongo::resilience_profile& profile) const
{
    core::mongo::session_read_concern concern;
    if (given_ == nullptr) [[likely]]
        return concern;
    concern.snapshot = given_->snapshot && !continues_cursor(command);
    concern.at_cluster_time = given_->snapshot_time;
    if (given_->causal)
        concern.after_cluster_time = given_->operation_time.latest();
    concern.covers_writes = profile.after_cluster_time_on_writes;
    return concern;
}

void operation_session::write_fields(bson::builder& command, const cluster_clock& of_client) const
{
    if (transaction_)
        core::mongo::write_transaction_id(command, *transaction_);
    else if (*this)
        core::mongo::write_lsid(command, server().id());
    write_cluster_time(command, of_client);
}

/// The newer one of the client's and the session's.
void operation_session::write_cluster_time(bson::builder& command,
                                           const cluster_clock& of_client) const
{
    if (given_ != nullptr && given_->cluster_time.latest() &&
        of_client.is_older_than(given_->cluster_time.latest()->view()))
        command.add("$clusterTime", given_->cluster_time.latest()->view());
    else
        of_client.write(command);
}

void operation_session::replied(const core::mongo::reply_glance& seen, cluster_clock& of_client,
                                time_point now)
{
    const bool received = seen.cluster_time.type() == bson::type::document;
    if (received)
        of_client.advance(seen.cluster_time.as_document());
    if (!*this)
        return;
    last_used_ = now;
    server().used(now);
    if (given_ == nullptr) [[likely]]
        return;
    if (received)
        given_->cluster_time.advance(seen.cluster_time.as_document());
    if (seen.operation_time.type() == bson::type::timestamp)
        given_->operation_time.advance(seen.operation_time.as_timestamp());
    if (given_->snapshot && !given_->snapshot_time)
        given_->snapshot_time = snapshot_time_in(seen.reply);
}

}  // namespace holdfast::shell::mongo
