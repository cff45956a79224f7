#include "client/prose/lab_scene.hpp"

#include "api/mongo/access.hpp"
#include "net/tls/tls.hpp"
#include "support/certificates.hpp"
#include "support/other_world.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

namespace holdfast::proof {

using namespace std::chrono_literals;

namespace {

/// The simulator has no TLS of its own, but ours goes over any stream.
class tls_world final : public other_world {
public:
    using other_world::other_world;
    result<runtime::tls_ptr> tls(const runtime::tls_options& options) override
    {
        return net::make_tls(options);
    }
};

lab::mongo::tls_pair tls_of_servers()
{
    runtime::tls_options serving;
    serving.certificate_key_file = certificates::file("server.pem");
    serving.verify_peer = false;
    runtime::tls_options connecting;
    connecting.verify_peer = false;
    return {net::make_tls(serving).value(), net::make_tls(connecting).value()};
}

runtime::awaitable<void> wait_until_ready(lab::mongo::deployment* set, runtime::world* in,
                                          std::optional<result<void>>* outcome)
{
    auto ready = co_await set->ready(*in, in->steady_now() + 50s);
    outcome->emplace(std::move(ready));
}

runtime::awaitable<void> open_client(mongo::client which, bool* done)
{
    co_await which.ready();
    *done = true;
}

runtime::awaitable<void> close_client(mongo::client which, bool* done)
{
    co_await which.close();
    *done = true;
}

}  // namespace

lab_scene::lab_scene(lab_options what)
    : simulation{what.seed},
      app{simulation.add_host("app")},
      standalone_{what.standalone},
      tls_{what.tls}
{
    sim::link link_state;
    link_state.latency_min = 1ms;
    link_state.latency_max = 1ms;
    simulation.set_all_links(link_state);
    recorder_ = std::make_shared<recorder>(simulation);
    lab::mongo::deployment_options plan;
    plan.node.version = lab::mongo::read_version(what.version).value();
    plan.node.sessions = what.sessions;
    plan.standalone = what.standalone;
    if (tls_)
        plan.tls = tls_of_servers();
    for (std::size_t n = 0; n < what.members; ++n)
        plan.members.push_back(
            add_host("m" + std::to_string(n), static_cast<std::uint16_t>(27017 + n)));
    for (std::size_t n = 0; n < what.routers; ++n)
        plan.routers.push_back(add_host("r" + std::to_string(n), 27017));
    set = std::make_unique<lab::mongo::deployment>(std::move(plan));
    set->start().value();
    std::optional<result<void>> ready;
    app.start(wait_until_ready(set.get(), &app.world(), &ready));
    if (!finish([&] { return ready.has_value(); }) || !*ready)
        throw std::runtime_error{"the lab does not get ready"};
    simulation.run_for(2s);  // all members follow
}

lab_scene::~lab_scene()
{
    client.reset();
    app.crash();
    for (sim::host* const one : hosts)
        one->crash();
    set.reset();
}

lab::mongo::place lab_scene::add_host(const std::string& name, std::uint16_t port)
{
    hosts.push_back(&simulation.add_host(name));
    return {&hosts.back()->world(), "", name, port};
}

std::string lab_scene::uri() const
{
    const bool routed = set->routers() != 0;
    std::string made;
    for (std::size_t n = 0; n < (routed ? set->routers() : set->members()); ++n)
        made += (n == 0 ? "mongodb://" : ",") + (routed ? set->router_address(n) : set->address(n));
    made += routed || standalone_ ? "/?appName=prose" : "/?replicaSet=" + set->set_name();
    return made + (tls_ ? "&tls=true&tlsInsecure=true" : "");
}

void lab_scene::connect(const std::string& more, mongo::client_options options)
{
    connect_to(uri() + more, std::move(options));
}

void lab_scene::connect_to(const std::string& to, mongo::client_options options)
{
    std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &app.world()};
    if (tls_)
        world = std::make_shared<tls_world>(app.world());
    connect_in(std::move(world), to, std::move(options));
}

void lab_scene::connect_in(std::shared_ptr<runtime::world> world, const std::string& to,
                           mongo::client_options options)
{
    if (!before_)
        before_ = simulation.left();
    options.listeners.insert(options.listeners.begin(), recorder_);
    client.emplace(mongo::access::in_world(std::move(world), to, std::move(options)).value());
}

bool lab_scene::finish(const std::function<bool()>& done)
{
    const time_point limit = simulation.now() + 10min;
    (void)simulation.run_while_not([&] { return done() || simulation.now() > limit; });
    return done();
}

void lab_scene::open()
{
    bool done = false;
    app.start(open_client(*client, &done));
    EXPECT_TRUE(finish([&] { return done; }));
}

void lab_scene::fail_on(std::size_t member, std::string_view json)
{
    const bson::document what = bson::from_json(json).value();
    (void)set->process(member)->server().faults.configure(what.view()).value();
}

void lab_scene::fail(std::string_view mode, std::string_view data)
{
    fail_on(primary(), fail_command(mode, data));
}

void lab_scene::fail_router(std::size_t router, std::string_view mode, std::string_view data)
{
    const bson::document what = bson::from_json(fail_command(mode, data)).value();
    const auto to = mongo::access::in_world(
                        std::shared_ptr<runtime::world>{std::shared_ptr<void>{}, &app.world()},
                        "mongodb://" + set->router_address(router) + "/?directConnection=true")
                        .value();
    const auto planned = get(to.run_command("admin", what.view(), {}, use_awaitable));
    EXPECT_TRUE(planned) << planned.error().explain();
    bool done = false;
    app.start(close_client(to, &done));
    EXPECT_TRUE(finish([&] { return done; }));
}

void lab_scene::close()
{
    // After the next heartbeat a server that refused to serve is known again, and can be configured
    // sessions end.
    simulation.run_for(11s);
    bool done = false;
    app.start(close_client(*client, &done));
    EXPECT_TRUE(finish([&] { return done; }));
    EXPECT_EQ(sessions_in_use(), 0U);
    expect_nothing_left();
}

void lab_scene::expect_nothing_left()
{
    EXPECT_EQ(events().count(heard::connection_created), events().count(heard::connection_closed));
    simulation.run_for(1min);  // servers notice, and their last waits end
    const sim::leftovers left = simulation.left();
    EXPECT_LE(left.tasks, before_->tasks);
    if (set->members() == 1 && set->routers() == 0) {  // others talk among themselves
        EXPECT_EQ(left.streams, before_->streams);
        EXPECT_EQ(left.alarms, before_->alarms);
    }
}

duration lab_scene::pause_after(std::size_t failure, std::string_view command) const
{
    const auto failed = of(heard::command_failed, command);
    const auto sent = started(command);
    EXPECT_LT(failure, failed.size());
    EXPECT_LT(failure + 1, sent.size());
    if (failure >= failed.size() || failure + 1 >= sent.size())
        return {};
    return sent[failure + 1].when - failed[failure].when;
}

std::size_t lab_scene::sessions_in_use() const
{
    std::set<std::array<std::uint8_t, 16>> used;
    std::set<std::array<std::uint8_t, 16>> gone;
    std::map<std::int32_t, bson::uuid> by_request;
    for (const record& one : events().all()) {
        if (one.what == heard::command_started && one.name == "endSessions") {
            for (const bson::element& id : one.body["endSessions"].as_array())
                gone.insert(id.as_document().get<bson::uuid>("id").value().bytes);
        } else if (const auto id = lsid_of(one); one.what == heard::command_started && id) {
            used.insert(id->bytes);
            by_request.insert_or_assign(one.request, *id);
        } else if (one.what == heard::command_failed && one.failure &&
                   mongo::kind_of(*one.failure) == mongo::error_kind::network) {
            if (const auto at = by_request.find(one.request); at != by_request.end())
                gone.insert(at->second.bytes);
        }
    }
    return static_cast<std::size_t>(
        std::ranges::count_if(used, [&](const auto& id) { return !gone.contains(id); }));
}

std::vector<record> lab_scene::of(heard what, std::string_view command) const
{
    std::vector<record> found;
    for (const record& one : events().all()) {
        if (one.what == what && one.name == command)
            found.push_back(one);
    }
    return found;
}

}  // namespace holdfast::proof
