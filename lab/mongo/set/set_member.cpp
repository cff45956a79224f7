#include "lab/mongo/set/set_member.hpp"

#include "lab/mongo/set/hello_fields.hpp"
#include "lab/mongo/set/message_fields.hpp"
#include "lab/mongo/set/stored_config.hpp"

#include <utility>

namespace holdfast::lab::mongo {

set_member::set_member(node& of, set_options options) : parts_{of, std::move(options.tls)}
{
    parts_.role.load_config();
}

set_member::~set_member()
{
    parts_.forwarding.stop();
    parts_.context.tasks.stop();  // before the parts that the coroutines use are destroyed
}

void set_member::install(disk& on, const set_config& config, bool initiator, bson::datetime wall)
{
    store_config(on, config);
    if (!initiator)
        return;
    const bson::document note = document_of(
        [](bson::builder& out) { out.add("msg", "initiating set"); });
    const change first{.op = 'n', .ns = "", .o = note.view()};
    (void)on.write(first, 0, wall);
}

void set_member::start()
{
    parts_.context.started = true;
    parts_.context.started_at = parts_.context.now();
    parts_.heartbeats.connect_members();
    parts_.election.start();
    parts_.replication.start();
}

void set_member::stop()
{
    parts_.context.stopping = true;
    parts_.forwarding.stop();
    parts_.context.tasks.stop();
    parts_.context.changed.notify();
    parts_.context.progress.notify();
}

runtime::awaitable<void> set_member::ended()
{
    co_await parts_.context.tasks.ended();
}

void set_member::pause(bool on)
{
    parts_.context.paused = on;
    if (on)
        parts_.replication.cancel_fetch();
    parts_.context.changed.notify();
    parts_.context.progress.notify();
    parts_.context.node.news.notify();
}

void set_member::describe(bson::builder& hello, bool legacy) const
{
    write_hello_fields(hello, parts_.role, committed(), legacy);
}

concern_state set_member::check(const optime& wrote, const write_concern& concern) const
{
    const bool met = parts_.context.node.options.acknowledges_early ||
                     parts_.commit.is_met(wrote, concern);
    if (met && writable())
        return concern_state::met;
    return writable() && !parts_.context.stopping ? concern_state::pending
                                                  : concern_state::impossible;
}

result<void> set_member::accepts(const write_concern& concern) const
{
    return check_satisfiable(config(), concern);
}

/// Majority, unless arbiters take the place of members whose data a majority would need; the rule
/// of MongoDB's manual for the implicit default write concern.
write_concern set_member::default_concern() const
{
    write_concern made;
    const bool arbiters = config().data_members() < config().members.size();
    made.majority = !(arbiters && config().data_voters() <= config().majority());
    return made;
}

runtime::awaitable<result<bson::document>> set_member::ask_primary(const request& what)
{
    return parts_.forwarding.forward(std::string{primary_host()}, what);
}

std::span<const command> set_member::commands() const noexcept
{
    return all_set_commands();
}

}  // namespace holdfast::lab::mongo
