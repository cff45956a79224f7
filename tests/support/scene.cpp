#include "support/scene.hpp"

#include "api/mongo/access.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <utility>

namespace holdfast::proof {

using namespace std::chrono_literals;

std::string operation::explain() const
{
    if (!outcome)
        return "not done";
    return outcome->has_value() ? "done" : outcome->error().explain();
}

scene::scene(scene_options options)
    : simulation{options.seed}, app{simulation.add_host("app")}, options_{std::move(options)}
{
    began_ = simulation.now();
    sim::link link_state;
    link_state.latency_min = options_.latency_min;
    link_state.latency_max = options_.latency_max;
    simulation.set_all_links(link_state);
    recorder_ = std::make_shared<recorder>(simulation);
    set.sharded = options_.sharded;
    set.streams = options_.streams;
    for (const std::string& name : options_.hosts) {
        member one{&simulation.add_host(name), name + ":27017",
                   std::make_unique<scripted_server>()};
        const std::string me = one.address;
        set.hosts.push_back(me);
        one.server->on_hello(
            [this, me](const scripted_command&) { return scripted_reply{set.hello_of(me)}; });
        one.server->on("insert", [](bson::view) { return bson::doc("n", 1, "ok", 1.0); });
        one.server->on("find", [](bson::view) {
            return bson::doc(
                "cursor",
                bson::object("id", std::int64_t{0}, "ns", "sea.coll", "firstBatch", bson::list()),
                "ok", 1.0);
        });
        one.server->on("endSessions", [](bson::view) { return bson::doc("ok", 1.0); });
        members_.emplace(name, std::move(one));
        listen(name);
    }
    if (!set.sharded)
        set.primary = set.hosts.front();
}

scene::member& scene::at(std::string_view name)
{
    return members_.find(name.substr(0, name.find(':')))->second;
}

scripted_server& scene::server(std::string_view name)
{
    return *at(name).server;
}

sim::host& scene::host(std::string_view name)
{
    return *at(name).on;
}

void scene::listen(std::string_view name)
{
    const member& one = at(name);
    runtime::destination where;
    where.host = one.on->name();
    where.port = 27017;
    one.on->start(one.server->serve(one.on->world(), where));
}

void scene::restart(const std::string& name, duration down)
{
    const member& one = at(name);
    one.server->stop_listening();
    one.server->drop_connections();
    ++set.processes[one.address];
    set.versions[one.address] = 1;
    simulation.at_time(simulation.now() + down, [this, name] { listen(name); });
}

void scene::connect(const std::string& more)
{
    std::string uri = "mongodb://";
    for (std::size_t i = 0; i < set.hosts.size(); ++i)
        uri += (i == 0 ? "" : ",") + set.hosts[i];
    connect_to(uri + (set.sharded ? "/?appName=scene" : "/?replicaSet=rs") + more);
}

void scene::connect_to(const std::string& uri)
{
    connect_in(std::shared_ptr<runtime::world>{std::shared_ptr<void>{}, &app.world()}, uri);
}

void scene::connect_in(std::shared_ptr<runtime::world> world, const std::string& uri)
{
    mongo::client_options options;
    options.listeners.push_back(recorder_);
    options.log = log;
    client.emplace(mongo::access::in_world(std::move(world), uri, std::move(options)).value());
}

operation& scene::start(const bson::document& command, mongo::command_options options)
{
    operation& one = operations.emplace_back();
    one.began = simulation.now();
    auto done = [this, &one](result<bson::document> reply) {
        ++one.completions;
        one.ended = simulation.now();
        one.outcome.emplace(std::move(reply));
    };
    client->run_command("sea", command.view(), options,
                        boost::asio::bind_cancellation_slot(one.stop.slot(), std::move(done)));
    return one;
}

operation& scene::start_write(int id)
{
    return start(insert_of(id), as_write());
}

bool scene::finish(const operation& which)
{
    const time_point limit = simulation.now() + 1h;
    (void)simulation.run_while_not([&] { return which.done() || simulation.now() > limit; });
    return which.done();
}

bool scene::finish_all()
{
    bool all = true;
    for (const operation& one : operations)
        all = finish(one) && all;
    return all;
}

operation& scene::run(const bson::document& command, mongo::command_options options)
{
    operation& one = start(command, options);
    (void)finish(one);
    return one;
}

operation& scene::write(int id)
{
    return run(insert_of(id), as_write());
}

namespace {

runtime::awaitable<void> open_client(mongo::client which)
{
    co_await which.ready();
}

runtime::awaitable<void> close_client(mongo::client which, bool& done)
{
    co_await which.close();
    done = true;
}

}  // namespace

void scene::settle(duration length)
{
    app.start(open_client(*client));
    simulation.run_for(length);
}

std::string scene::close()
{
    bool done = false;
    app.start(close_client(*client, done));
    const time_point limit = simulation.now() + 1h;
    (void)simulation.run_while_not([&] { return done || simulation.now() > limit; });
    closed_ = true;
    if (!done)
        return "close() did not return";
    client.reset();
    simulation.run_for(30s);  // servers notice, and their last waits end
    const sim::leftovers left = simulation.left();
    std::string text;
    if (left.streams != 0)
        text += std::to_string(left.streams) + " streams ";
    if (left.alarms != 0)
        text += std::to_string(left.alarms) + " alarms ";
    if (left.tasks > left.listeners)
        text += std::to_string(left.tasks - left.listeners) + " tasks ";
    return text.empty() ? text : "left after close: " + text;
}

std::string scene::complaints(rule_limits limits) const
{
    limits.closed = closed_;
    return proof::complaints(*recorder_, began_, limits);
}

}  // namespace holdfast::proof
