#include "core/mongo/operation/command_encoder.hpp"

#include "core/mongo/select/suitable.hpp"

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

command_encoder::command_encoder(const command& what, request_id id, bson::byte_buffer& out)
    : command_{what}, message_{out, id, flags_of(what)}
{
    fields().merge(what.body.view());
}

void command_encoder::add_raw_data(std::int32_t wire_version)
{
    if (command_.raw_data && wire_version >= takes_raw_data)
        fields().add("rawData", *command_.raw_data);
}

void command_encoder::add_read_concern(const session_read_concern& session)
{
    const bool after = command_.reads && session.after_cluster_time.has_value();
    const bool level = command_.reads && command_.read_concern.level.has_value();
    if (!session.snapshot && !after && !level) [[likely]]
        return;
    if (command_.body.find("readConcern"))
        return;  // the application has written the command itself
    bson::builder concern = fields().document("readConcern");
    if (session.snapshot) {
        concern.add("level", "snapshot");
        if (session.at_cluster_time)
            concern.add("atClusterTime", *session.at_cluster_time);
        return;
    }
    if (level)
        concern.add("level", *command_.read_concern.level);
    if (after)
        concern.add("afterClusterTime", *session.after_cluster_time);
}

void command_encoder::add_database()
{
    fields().add("$db", command_.database);
}

void command_encoder::add_read_preference(const topology_description& topology,
                                          const server_description& server)
{
    if (topology.type == topology_type::single && server.type != server_type::mongos) {
        // A member that was addressed by itself answers whatever its state is.
        if (server.type != server_type::standalone && server.type != server_type::rs_primary)
            write_preference(fields(), read_mode::primary_preferred, {});
        return;
    }
    const read_preference& wanted = command_.preference;
    if (kind_in(topology, command_.selects, command_.writes_output) == operation_kind::write ||
        wanted.mode == read_mode::primary)
        return;
    write_preference(fields(), wanted.mode, wanted);
}

result<std::span<const std::uint8_t>> command_encoder::finish(const connection_description& limits)
{
    if (command_.load != nullptr) {
        if (auto loaded = command_.load->write(message_, limits); !loaded)
            return std::move(loaded).error();
    }
    return message_.finish();
}

}  // namespace holdfast::core::mongo
