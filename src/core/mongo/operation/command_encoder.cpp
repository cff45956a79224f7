#include "core/mongo/operation/command_encoder.hpp"

#include "core/mongo/select/suitable.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// From this wire version on (MongoDB 8.2) servers take rawData.
constexpr std::int32_t takes_raw_data = 27;

message_flags flags_of(const command& what) noexcept
{
    message_flags flags;
    flags.more_to_come = !what.acknowledged;
    return flags;
}

/// Whether it is a write that may have to wait until the server has reached a time.
bool takes_after_cluster_time(const command& what) noexcept
{
    constexpr std::array<std::string_view, 10> writes{
        "insert", "update",        "delete", "findAndModify", "bulkWrite",
        "create", "createIndexes", "drop",   "dropDatabase",  "dropIndexes"};
    return what.kind == retry_kind::write &&
           std::ranges::find(writes, what.body.name()) != writes.end();
}

/// Whether the command or its session asks for a read concern. A snapshot session does so with
/// commands that take none, too, for the server to refuse them.
bool is_set(const command& what, const session_read_concern& session) noexcept
{
    if (session.snapshot)
        return true;
    if (what.reads)
        return session.after_cluster_time || what.read_concern.level;
    return session.covers_writes && session.after_cluster_time && takes_after_cluster_time(what);
}

void write_preference(bson::builder& to, read_mode mode, const read_preference& from)
{
    bson::builder preference = to.document("$readPreference");
    preference.add("mode", name_of(mode));
    if (!from.tag_sets.empty()) {
        auto sets = preference.array("tags");
        for (const tag_set& set : from.tag_sets) {
            bson::builder tags = sets.document();
            for (const auto& [name, value] : set)
                tags.add(name, value);
        }
    }
    if (from.max_staleness)
        preference.add("maxStalenessSeconds",
                       static_cast<std::int32_t>(from.max_staleness->count()));
}

}  // namespace

command_encoder::command_encoder(command& what, request_id id, const session_read_concern& session,
                                 bson::byte_buffer& outgoing)
    : command_{what}, id_{id}, session_{session}, needs_read_concern_{is_set(what, session)}
{
    what.body.rewind();
    if (needs_read_concern_) [[unlikely]]
        needs_read_concern_ = !what.body.find("readConcern");
    if (what.load == nullptr) [[likely]] {
        what.body.open(in_place_);
        return;
    }
    with_load_.emplace(outgoing, id, flags_of(what));
    fields().merge(what.body.view());
}

void command_encoder::add_raw_data(std::int32_t wire_version)
{
    if (command_.raw_data && wire_version >= takes_raw_data)
        fields().add("rawData", *command_.raw_data);
}

void command_encoder::add_read_concern()
{
    if (!needs_read_concern_) [[likely]]
        return;
    bson::builder concern = fields().document("readConcern");
    if (session_.snapshot) {
        concern.add("level", "snapshot");
        if (session_.at_cluster_time)
            concern.add("atClusterTime", *session_.at_cluster_time);
        return;
    }
    if (command_.reads && command_.read_concern.level)
        concern.add("level", *command_.read_concern.level);
    if (session_.after_cluster_time)
        concern.add("afterClusterTime", *session_.after_cluster_time);
}

void command_encoder::add_database()
{
    fields().add("$db", command_.database);
}

void command_encoder::add_read_preference(const topology_description& topology,
                                          const server_description& server)
{
    const read_preference& wanted = command_.preference;
    const bool selects_as_write = kind_in(topology, command_.selects, command_.writes_output) ==
                                  operation_kind::write;
    if (topology.type == topology_type::single && server.type != server_type::mongos) {
        const bool writes = selects_as_write && command_.kind == retry_kind::write;
        if (server.type == server_type::standalone || writes)
            return;
        // A member that was addressed by itself replies whatever its state is, or will be when the
        // command arrives. The mode primary, which is also the default, would be refused.
        if (selects_as_write || wanted.mode == read_mode::primary)
            write_preference(fields(), read_mode::primary_preferred, {});
        else
            write_preference(fields(), wanted.mode, wanted);
        return;
    }
    if (selects_as_write || wanted.mode == read_mode::primary)
        return;
    write_preference(fields(), wanted.mode, wanted);
}

result<std::span<const std::uint8_t>> command_encoder::finish(const connection_description& limits)
{
    if (in_place_) [[likely]]
        return command_.body.close(*in_place_, id_, flags_of(command_));
    if (auto loaded = command_.load->write(*with_load_, limits); !loaded)
        return std::move(loaded).error();
    return with_load_->finish();
}

}  // namespace holdfast::core::mongo
