// Where a client looks for the cluster when none of the nodes that it knows can be reached.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <chrono>
#include <map>
#include <set>

namespace holdfast::couchbase_seeds_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using proof::kv_scene;

constexpr const char* srv_name = "_couchbase._tcp.cluster.home.test";

std::vector<runtime::srv_record> records(const std::vector<std::string>& hosts)
{
    std::vector<runtime::srv_record> made;
    for (const std::string& one : hosts)
        made.push_back({.host = one, .port = 11210, .ttl = 60});
    return made;
}

void connect_by_name(kv_scene& scene, const std::string& more = {})
{
    const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &scene.app.world()};
    couchbase::cluster_options options;
    options.authenticator = kv_scene::login();
    scene.client.emplace(
        couchbase::access::in_world(world, "couchbase://cluster.home.test" + more, options)
            .value());
    scene.warm_up();
}

void crash(kv_scene& scene)
{
    for (std::size_t n = 0; n != scene.hosts.size(); ++n) {
        scene.host_of(n).crash();
        scene.cluster->lost(n);
    }
}

/// Another cluster, at the host m0, which is younger than the first.
struct other_cluster {
    explicit other_cluster(kv_scene& of) : host{of.simulation.add_host("m0")}
    {
        lab::couchbase::cluster_options options;
        options.nodes.push_back({&host.world(), "m0", "m0", 11210});
        options.buckets = {"travel"};
        options.user = "ada";
        options.password = "lovelace";
        nodes = std::make_unique<lab::couchbase::cluster>(options);
        nodes->start().value();
    }
    ~other_cluster() { host.crash(); }

    sim::host& host;
    std::unique_ptr<lab::couchbase::cluster> nodes;
};

/// The states of the connections of that bucket, by node.
std::map<std::string, couchbase::endpoint_state> endpoints(const kv_scene& scene,
                                                           const std::string& bucket)
{
    std::map<std::string, couchbase::endpoint_state> made;
    for (const auto& one : scene.client->diagnostics().key_value) {
        if (one.bucket == bucket)
            made.emplace(one.server.value(), one.state);
    }
    return made;
}

TEST(couchbase_seeds, cluster_that_has_moved_is_found_by_its_name)
{
    kv_scene scene{{.nodes = 2}};
    scene.simulation.set_srv(srv_name, records({"n0", "n1"}));
    connect_by_name(scene);
    // Its revisions are older than the last one of the first, which is not to be mistaken for news.
    for (int n = 0; n != 5; ++n)
        scene.cluster->publish();
    scene.simulation.run_for(1s);
    crash(scene);
    const other_cluster next{scene};
    scene.simulation.run_for(10s);
    EXPECT_EQ(scene.upsert("k", "1", {.timeout = 100ms})->code(), errc::unambiguous_timeout)
        << "nothing says where it is";
    scene.simulation.set_srv(srv_name, records({"m0"}));
    const time_point announced = scene.simulation.now();
    const auto stored = scene.upsert("k", "1", {.timeout = 20s});
    EXPECT_TRUE(stored->good()) << stored->explain();
    EXPECT_LE(stored->ended - announced, 7s);
    EXPECT_TRUE(scene.get("k")->good());
    scene.simulation.run_for(3s);
    using enum couchbase::endpoint_state;
    EXPECT_EQ(endpoints(scene, "travel"),
              (std::map{std::pair{std::string{"m0:11210"}, connected}}));
}

TEST(couchbase_seeds, name_is_not_looked_up_again_while_a_node_is_reached)
{
    kv_scene scene{{.nodes = 2, .replicas = 1}};
    scene.simulation.set_srv(srv_name, records({"n0", "n1"}));
    connect_by_name(scene);
    const other_cluster foreign{scene};
    scene.simulation.set_srv(srv_name, records({"m0"}));
    scene.host_of(1).crash();
    scene.cluster->lost(1);
    ASSERT_TRUE(scene.cluster->fail_over(1));
    scene.simulation.run_for(30s);
    EXPECT_TRUE(scene.upsert("k", "1")->good());
    EXPECT_FALSE(endpoints(scene, "travel").contains("m0:11210"));
    EXPECT_EQ(foreign.nodes->connections(0), 0u);
}

TEST(couchbase_seeds, nodes_that_hang_are_not_reached)
{
    kv_scene scene{{.nodes = 2}};
    scene.simulation.set_srv(srv_name, records({"n0", "n1"}));
    connect_by_name(scene);
    scene.cluster->freeze(0, true);
    scene.cluster->freeze(1, true);
    const other_cluster next{scene};
    scene.simulation.set_srv(srv_name, records({"m0"}));
    // What is in flight may have been done there; what comes later goes to the other cluster.
    EXPECT_EQ(scene.upsert("k", "1", {.timeout = 9s})->code(), errc::request_canceled);
    EXPECT_TRUE(scene.upsert("k", "1")->good());
}

TEST(couchbase_seeds, cluster_that_comes_back_is_used_as_before)
{
    kv_scene scene{{.nodes = 2}};
    scene.simulation.set_srv(srv_name, records({"n0", "n1"}));
    connect_by_name(scene);
    ASSERT_TRUE(scene.upsert("k", "1")->good());
    for (std::size_t n = 0; n != 2; ++n)
        ASSERT_TRUE(scene.cluster->close_port(n));
    for (std::size_t n = 0; n != 2; ++n)
        scene.simulation.reset_connections(scene.app, scene.host_of(n));
    scene.simulation.run_for(20s);
    for (std::size_t n = 0; n != 2; ++n)
        ASSERT_TRUE(scene.cluster->open_port_again(n));
    scene.simulation.run_for(2s);
    EXPECT_TRUE(scene.get("k")->good());
    EXPECT_EQ(endpoints(scene, "travel").size(), 2u);
}

TEST(couchbase_seeds, connections_of_the_cluster_that_are_not_needed_are_not_opened_again)
{
    kv_scene scene{{.nodes = 3, .replicas = 1}};
    scene.count_requests(core::couchbase::kv_opcode::hello);
    scene.connect();
    scene.warm_up();
    for (std::size_t n = 0; n != 3; ++n)
        scene.simulation.reset_connections(scene.app, scene.host_of(n));
    scene.simulation.run_for(10s);
    EXPECT_EQ(endpoints(scene, "").size(), 1u);
    const std::int64_t opened = scene.counted(core::couchbase::kv_opcode::hello);
    scene.simulation.run_for(60s);
    EXPECT_EQ(scene.counted(core::couchbase::kv_opcode::hello), opened);
}

TEST(couchbase_seeds, connection_of_the_cluster_goes_to_another_node_if_its_own_is_gone)
{
    kv_scene scene{{.nodes = 3, .replicas = 1}};
    scene.connect();
    scene.warm_up();
    const auto first = endpoints(scene, "");
    ASSERT_EQ(first.size(), 1u);
    const auto number = static_cast<std::size_t>(first.begin()->first.at(1) - '0');
    scene.host_of(number).crash();
    scene.cluster->lost(number);
    ASSERT_TRUE(scene.cluster->fail_over(number));
    scene.simulation.run_for(3s);
    const auto second = endpoints(scene, "");
    ASSERT_EQ(second.size(), 1u);
    EXPECT_NE(second.begin()->first, first.begin()->first);
    EXPECT_EQ(second.begin()->second, couchbase::endpoint_state::connected);
}

}  // namespace
}  // namespace holdfast::couchbase_seeds_test
