#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/first_data.hpp"
#include "lab/mongo/set/message_fields.hpp"
#include "lab/mongo/set/set_commands.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo::set_commands {

namespace {

constexpr int already_initialized = 23;

/// An entry that all others will have after the change, so that a majority of the new set is known.
void note_reconfig(set_member& on)
{
    const bson::document note = document_of([&](bson::builder& out) {
        out.add("msg", "Reconfig set")
            .add("version", static_cast<std::int32_t>(on.config().version));
    });
    const change noted{.op = 'n', .ns = "", .o = note.view()};
    (void)on.parts().context.node.write(noted);
}

}  // namespace

result<progress> initiate(set_member& on, request& what, bson::builder&)
{
    if (on.parts().role.has_config())
        return refuse(already_initialized, "already initialized");
    const bson::element given = *what.body.begin();
    set_config config;
    if (given.type() == bson::type::document && !given.as_document().empty()) {
        auto read = read_config(given.as_document());
        if (!read)
            return std::move(read).error();
        config = *std::move(read);
    } else {
        config.name = "rs0";
        member_config self;
        self.host = on.parts().context.node.options.own_address;
        config.members.push_back(std::move(self));
    }
    if (auto fine = check_config(config); !fine)
        return std::move(fine).error();
    if (!config.by_host(on.parts().context.node.options.own_address))
        return refuse(server_code::node_not_found,
                      "No host described in new configuration for "
                      "replica set " +
                          config.name + " maps to this node");
    on.parts().context.node.world.random(config.id.bytes);
    config.term = 0;
    const bson::datetime wall = on.parts().context.node.wall_now();
    set_member::install(*on.parts().context.node.data, config, on.last() == optime{}, wall);
    write_first_data(*on.parts().context.node.data, on.parts().context.node.options.version, wall);
    on.parts().heartbeats.adopt_config(std::move(config));
    on.parts().role.set_election_due(on.parts().context.now());
    on.parts().context.changed.notify();
    return progress::done;
}

result<progress> reconfig(set_member& on, request& what, bson::builder&)
{
    if (!on.parts().role.has_config())
        return not_initialized();
    const bool force = flag_or(what.body.find("force"), false);
    if (!on.writable() && !force)
        return refuse(server_code::not_writable_primary,
                      "New config is rejected. replSetReconfig should only be run on a writable "
                      "PRIMARY. Current state " +
                          std::string{name_of(on.state())} + ";");
    const bson::element given = *what.body.begin();
    if (given.type() != bson::type::document)
        return refuse(server_code::type_mismatch, "no configuration specified");
    auto next = read_config(given.as_document());
    if (!next)
        return std::move(next).error();
    if (auto fine = check_reconfig(on.config(), *next, force); !fine)
        return std::move(fine).error();
    if (!force && !next->by_host(on.parts().context.node.options.own_address))
        return refuse(server_code::node_not_found,
                      "No host described in new configuration for "
                      "replica set " +
                          next->name + " maps to this node");
    next->id = on.config().id;
    next->term = force ? -1 : on.term();
    if (force)
        next->version = std::max(next->version, on.config().version) + 10'000 +
                        static_cast<std::int64_t>(on.parts().context.node.world.chance() * 10'000);
    on.parts().heartbeats.adopt_config(*std::move(next));
    if (on.writable())
        note_reconfig(on);
    return progress::done;
}

result<progress> get_config(set_member& on, request& what, bson::builder& reply)
{
    if (!on.parts().role.has_config())
        return not_initialized();
    {
        bson::builder config = reply.document("config");
        write_config(config, on.config());
    }
    if (flag_or(what.body.find("commitmentStatus"), false))
        reply.add("commitmentStatus", true);
    return progress::done;
}

}  // namespace holdfast::lab::mongo::set_commands
