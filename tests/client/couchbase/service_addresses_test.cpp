// Where services are found: in the configuration in use, in the network of the client.
#include "client/couchbase/service_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <chrono>

namespace holdfast::couchbase_service_addresses_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::service_type;
using couchbase::errc;
using proof::http_ok;
using proof::http_seen;
using proof::service_scene;
using proof::service_wish;

lab::couchbase::alternate_address external(std::uint16_t query_port)
{
    lab::couchbase::alternate_address made;
    made.hostname = "n0";
    made.ports["kv"] = 11210;
    if (query_port != 0)
        made.ports["n1ql"] = query_port;
    return made;
}

TEST(couchbase_service_addresses, service_is_reached_in_the_network_of_the_client)
{
    for (const bool outside : {true, false}) {
        service_scene scene;
        auto& inner = scene.serve(0, [](const http_seen&) { return http_ok("{}"); });
        auto& outer = scene.serve(0, [](const http_seen&) { return http_ok("{}"); }, "other", 9093);
        scene.cluster->set_alternate_address(0, external(9093));
        scene.connect({}, outside ? "?network=external" : "?network=default");
        const auto done = scene.request();
        ASSERT_TRUE(done->good()) << done->explain();
        EXPECT_EQ((*done->outcome)->server.value(), outside ? "n0:9093" : "n0:8093");
        EXPECT_EQ(outer.seen().size(), outside ? 1u : 0u);
        EXPECT_EQ(inner.seen().size(), outside ? 0u : 1u);
    }
}

TEST(couchbase_service_addresses, service_without_a_port_in_that_network_is_not_there)
{
    service_scene scene;
    scene.serve(0, [](const http_seen&) { return http_ok("{}"); });
    scene.cluster->set_alternate_address(0, external(0));
    scene.connect({}, "?network=external");
    service_wish wish;
    wish.timeout = 100ms;
    const auto late = scene.request(wish);
    EXPECT_EQ(late->code(), errc::unambiguous_timeout);
    EXPECT_NE(late->error().message().find("a node with the query service"), std::string::npos);
}

TEST(couchbase_service_addresses, services_of_all_nodes_are_listed_with_their_connections)
{
    service_scene scene{{.nodes = 2}};
    scene.serve(1, [](const http_seen&) { return http_ok("{}"); });
    scene.serve(0, [](const http_seen&) { return http_ok("{}"); }, "fts", 8094);
    scene.connect();
    auto& services = scene.state()->nodes->services();
    EXPECT_TRUE(services.look().empty()) << "there is no configuration yet";
    ASSERT_TRUE(scene.request()->good());
    const auto seen = services.look();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].service, service_type::search);
    EXPECT_EQ(seen[0].server.value(), "n0:8094");
    EXPECT_EQ(seen[0].open, 0u);
    EXPECT_EQ(seen[1].service, service_type::query);
    EXPECT_EQ(seen[1].open, 1u);
    EXPECT_EQ(seen[1].in_use, 0u);
}

TEST(couchbase_service_addresses, views_are_asked_of_nodes_that_have_the_bucket)
{
    service_scene scene{{.nodes = 3}};
    std::vector<proof::scripted_http*> services;
    for (const std::size_t node : {0, 1, 2})
        services.push_back(
            &scene.serve(node, [](const http_seen&) { return http_ok("{}"); }, "capi", 8092));
    scene.connect();
    scene.warm_up();
    ASSERT_TRUE(scene.cluster->fail_over(1));
    scene.simulation.run_for(100ms);
    service_wish wish;
    wish.service = service_type::views;
    wish.bucket = "travel";
    for (int n = 0; n != 6; ++n)
        EXPECT_TRUE(scene.request(wish)->good());
    EXPECT_EQ(services[0]->seen().size(), 3u);
    EXPECT_TRUE(services[1]->seen().empty());
    EXPECT_EQ(services[2]->seen().size(), 3u);
}

}  // namespace
}  // namespace holdfast::couchbase_service_addresses_test
