#include "shell/mongo/execute/routing.hpp"

namespace holdfast::shell::mongo {

using core::mongo::read_mode;
using core::mongo::server_type;
using core::mongo::topology_type;

namespace {

void write(bson::builder& command, read_mode mode, const core::mongo::read_preference& from)
{
    bson::builder preference = command.document("$readPreference");
    preference.add("mode", name_of(mode));
    if (!from.tag_sets.empty()) {
        auto sets = preference.array("tags");
        for (const core::mongo::tag_set& set : from.tag_sets) {
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

void write_read_preference(bson::builder& command, const command_order& order,
                           const selected_server& on)
{
    const core::mongo::read_preference& wanted = order.preference;
    const server_type type = on.description().type;
    if (on.topology().type == topology_type::single && type != server_type::mongos) {
        // A member that was addressed by itself answers whatever its state is.
        if (type != server_type::standalone && type != server_type::rs_primary)
            write(command, read_mode::primary_preferred, {});
        return;
    }
    if (kind_in(on.topology(), order.selects, order.writes_output) ==
            core::mongo::operation_kind::write ||
        wanted.mode == read_mode::primary)
        return;
    write(command, wanted.mode, wanted);
}

}  // namespace holdfast::shell::mongo
