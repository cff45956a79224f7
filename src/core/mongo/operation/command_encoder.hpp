#pragma once
#include "core/mongo/handshake/connection_description.hpp"
#include "core/mongo/operation/command.hpp"
#include "core/mongo/sdam/server_description.hpp"
#include "core/mongo/sdam/topology_description.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::core::mongo {

/// The part of a readConcern that comes from the session: reads of a causally consistent session
/// are not older than what it has seen, and a snapshot session reads as of one time.
struct session_read_concern {
    bool snapshot = false;
    std::optional<bson::timestamp> at_cluster_time = {};
    std::optional<bson::timestamp> after_cluster_time = {};
    bool covers_writes = false;  // writes carry after_cluster_time as well
};

/// Encodes the message of one attempt: behind the command's own fields those that depend on the
/// attempt, in the order in which they are added here. A command without a load is completed where
/// it lies, and its documents are not copied again. One with a load is small; it is copied to
/// `outgoing`, whose memory is used again and again, and its documents are written there directly.
class command_encoder {
public:
    command_encoder(command& what, request_id id, const session_read_concern& session,
                    bson::byte_buffer& outgoing);
    command_encoder(const command_encoder&) = delete;
    command_encoder& operator=(const command_encoder&) = delete;

    /// For fields that the caller writes: lsid, txnNumber, $clusterTime, the versioned API.
    bson::builder& fields() noexcept { return with_load_ ? with_load_->command() : *in_place_; }

    /// Servers before 8.2 do not know the option.
    void add_raw_data(std::int32_t wire_version);
    /// Omitted if the application has written the command itself, with one of its own.
    void add_read_concern();
    void add_database();
    /// Omitted where the server answers without it, and where the default means the same.
    void add_read_preference(const topology_description& topology,
                             const server_description& server);

    /// `limits` are those of the connection that the message is sent over.
    result<std::span<const std::uint8_t>> finish(const connection_description& limits);

private:
    command& command_;
    const request_id id_;
    const session_read_concern session_;
    bool needs_read_concern_;
    std::optional<bson::builder> in_place_;
    std::optional<message_builder> with_load_;
};

}  // namespace holdfast::core::mongo
