#include "lab/couchbase/cluster/http_in_sim.hpp"
#include "lab/couchbase/mgmt/commands.hpp"
#include "lab/couchbase/mgmt/management.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::services_test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// Four nodes: two with data, of which one has queries, one for search and analytics, one for
/// queries.
class lab_couchbase_services : public testing::Test {
protected:
    json::object shown(std::size_t of, std::size_t asked = 0)
    {
        const auto got = lab.link(asked).ask({.opcode = kv_opcode::get_cluster_config}).value;
        return json::parse(got).at("nodesExt").at(of).at("services").as_object();
    }
    static std::string names(const json::object& services)
    {
        std::string text;
        for (const auto& [name, port] : services)
            text += std::string{name} + " ";
        return text;
    }
    json::value get(const std::string& path)
    {
        return json::parse(ask(lab, lab.made->address(0, "mgmt"), "GET", path)->body());
    }
    std::string refusal(const std::string& line)
    {
        const auto done = carry_out_now(*lab.made, line);
        return done ? std::string{} : done.error().message();
    }
    administration& admin() { return lab.made->admin(); }

    cluster_in_sim lab{
        4, 1, 1, [this](cluster_options& options) {
            options.services = {{"mgmt", make_management, {}}};
            for (const char* const name : {"capi", "n1ql", "cbas"})
                options.services.push_back(counting_service::offer(name));
            options.services.push_back(counting_service::offer("fts", {"vectorSearch"}));
            const char* const layout[] = {"kv,query,views", "data", "fts,analytics", "n1ql"};
            for (std::size_t n = 0; n != 4; ++n)
                options.nodes[n].services = read_services(layout[n]);
            options.next_place = [this](std::size_t) { return lab.next_place(); };
        }};
};

TEST_F(lab_couchbase_services, layout_is_shown_and_only_its_ports_are_open)
{
    EXPECT_EQ(names(shown(0)), "capi kv mgmt n1ql ");
    EXPECT_EQ(names(shown(1)), "kv mgmt ");
    EXPECT_EQ(names(shown(2)), "cbas fts mgmt ");
    EXPECT_EQ(names(shown(3)), "mgmt n1ql ");
    EXPECT_EQ(lab.made->address(2), "");
    EXPECT_EQ(lab.made->address(1, "n1ql"), "");
    EXPECT_EQ(lab.made->address(3, "n1ql"), "n3:" + std::to_string(shown(3).at("n1ql").as_int64()));
    EXPECT_EQ(ask(lab, lab.made->address(3, "n1ql"), "GET", "/")->body(), "1");
    EXPECT_FALSE(dial(lab, "n2:11210", "")->connected);
    EXPECT_EQ(get("/pools/default/nodeServices").at("nodesExt").as_array().size(), 4u);
    const json::value nodes = get("/pools/nodes").at("nodes");
    EXPECT_EQ(nodes.at(0).at("services"), (json::array{"kv", "n1ql"}));
    EXPECT_EQ(nodes.at(2).at("services"), (json::array{"cbas", "fts"}));
    EXPECT_EQ(nodes.at(0).at("couchApiBase"),
              json::string{"http://" + lab.made->address(0, "capi") + "/"});
    EXPECT_EQ(get("/pools/default/b/travel").at("nodes").at(0).at("couchApiBase"),
              json::string{"http://" + lab.made->address(0, "capi") + "/travel"});
}

TEST_F(lab_couchbase_services, data_is_on_nodes_with_key_value_only)
{
    const json::value map = get("/pools/default/b/travel");
    EXPECT_EQ(map.at("vBucketServerMap").at("serverList"), (json::array{"n0:11210", "n1:11210"}));
    EXPECT_EQ(map.at("nodesExt").as_array().size(), 4u);
    for (const std::vector<int>& row : lab.made->layout("travel")->map.rows)
        EXPECT_TRUE(row[0] < 2 && row[1] < 2);
    EXPECT_EQ(lab.link(1).ask(cluster_in_sim::set(7, "k", "v")).status == kv_status::success,
              lab.owner(7) == 1u);
    ASSERT_TRUE(lab.made->create_bucket("second", 1));
    EXPECT_TRUE(lab.made->at(2).buckets.at("second").vbuckets.empty());
    EXPECT_EQ(refusal("failover 0"), "");
    EXPECT_NE(refusal("failover 1").find("the last node with data"), std::string::npos);
    EXPECT_EQ(refusal("failover 3"), "");
}

TEST_F(lab_couchbase_services, f17_services_come_and_go)
{
    const std::string query = lab.made->address(3, "n1ql");
    const auto open = dial(lab, query, "");
    ASSERT_TRUE(open->connected && !open->over);
    ASSERT_TRUE(admin().remove_service(3, "n1ql"));
    EXPECT_EQ(names(shown(3)), "mgmt ");
    lab.net.run_for(50ms);
    EXPECT_TRUE(open->over);
    EXPECT_FALSE(dial(lab, query, "")->connected);
    EXPECT_EQ(refusal("remove-service 0 query"), "");
    EXPECT_EQ(names(shown(0)), "capi kv mgmt ");
    EXPECT_EQ(refusal("add-service 1 query"), "");
    EXPECT_EQ(names(shown(1)), "kv mgmt n1ql ");
    EXPECT_EQ(ask(lab, lab.made->address(1, "n1ql"), "GET", "/")->body(), "1");
    EXPECT_NE(refusal("remove-service 3 n1ql"), "");
    EXPECT_NE(refusal("add-service 1 n1ql"), "");
    EXPECT_NE(refusal("add-service 1 mgmt"), "");
    EXPECT_NE(refusal("add-service 1 eventing"), "");
    EXPECT_NE(refusal("remove-service 0 kv").find("remove the node"), std::string::npos);
}

TEST_F(lab_couchbase_services, node_that_gets_key_value_has_data_after_a_rebalance)
{
    ASSERT_TRUE(admin().add_service(3, "kv"));
    EXPECT_EQ(names(shown(3)), "kv mgmt n1ql ");
    ASSERT_TRUE(lab.run(lab.made->rebalance()));
    std::size_t active = 0;
    for (const std::vector<int>& row : lab.made->layout("travel")->map.rows)
        active += row.front() == 3 ? 1 : 0;
    EXPECT_GT(active, 300u);
    lab.settle();
    EXPECT_TRUE(lab.made->is_member(2));  // it has no data, and stays
}

TEST_F(lab_couchbase_services, node_is_added_with_services_by_their_names_in_couchbase)
{
    const auto added = ask(lab, lab.made->address(0, "mgmt"), "POST",
                           "/controller/addNode?services=kv,index,fts&hostname=any");
    EXPECT_EQ(added->status(), 200);
    EXPECT_EQ(names(shown(4)), "capi fts kv mgmt ");
    const auto line = carry_out_now(*lab.made, "add-node analytics,query");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->front(), "5 " + lab.made->address(5, "mgmt"));
    EXPECT_EQ(names(shown(5)), "cbas mgmt n1ql ");
    EXPECT_NE(refusal("add-node nothing"), "");
    EXPECT_EQ(carry_out_now(*lab.made, "status")->at(5),
              line->front() + " 0 connections 0 documents cbas,n1ql member");
}

TEST_F(lab_couchbase_services, crash_freeze_and_failover_take_the_services_of_a_node)
{
    const std::string query = lab.made->address(3, "n1ql");
    EXPECT_EQ(ask(lab, query, "GET", "/")->body(), "1");
    EXPECT_EQ(ask(lab, query, "GET", "/")->body(), "2");
    lab.made->freeze(3, true);
    const auto late = ask(lab, query, "GET", "/");
    EXPECT_EQ(late->bytes, "");
    lab.made->freeze(3, false);
    lab.net.run_for(10ms);
    EXPECT_EQ(late->body(), "3");
    lab.crash(3);
    EXPECT_FALSE(dial(lab, query, "")->connected);
    lab.restart(3);
    EXPECT_EQ(lab.made->address(3, "n1ql"), query);
    EXPECT_EQ(ask(lab, query, "GET", "/")->body(), "1");  // another process
    ASSERT_TRUE(lab.made->fail_over(3));
    const auto config = lab.link(0).ask({.opcode = kv_opcode::get_cluster_config}).value;
    EXPECT_EQ(json::parse(config).at("nodesExt").as_array().size(), 3u);
}

TEST_F(lab_couchbase_services, port_of_one_service_is_closed_and_its_service_lives_on)
{
    const std::string query = lab.made->address(0, "n1ql");
    EXPECT_EQ(ask(lab, query, "GET", "/")->body(), "1");
    EXPECT_EQ(refusal("close-port 0 query"), "");
    EXPECT_FALSE(dial(lab, query, "")->connected);
    EXPECT_TRUE(dial(lab, lab.made->address(0, "capi"), "")->connected);
    EXPECT_EQ(names(shown(0)), "capi kv mgmt n1ql ");
    EXPECT_EQ(refusal("open-port 0"), "");
    EXPECT_EQ(ask(lab, query, "GET", "/")->body(), "2");
    EXPECT_NE(refusal("close-port 0 nothing"), "");
}

TEST_F(lab_couchbase_services, silent_node_without_data_is_failed_over_by_itself)
{
    lab.made->auto_failover(2s);
    lab.net.run_for(10s);
    EXPECT_TRUE(lab.made->is_member(2) && lab.made->is_member(3));
    lab.made->freeze(3, true);
    lab.net.run_for(1s);
    EXPECT_TRUE(lab.made->is_member(3));
    EXPECT_TRUE(lab.pass_until([&] { return !lab.made->is_member(3); }, 5s));
    lab.crash(2);
    EXPECT_TRUE(lab.pass_until([&] { return !lab.made->is_member(2); }, 5s));
}

TEST_F(lab_couchbase_services, capabilities_are_shown_and_changed)
{
    const auto search = [&] {
        const auto got = lab.link(0).ask({.opcode = kv_opcode::get_cluster_config}).value;
        return json::parse(got).at("clusterCapabilities");
    };
    EXPECT_EQ(search().at("search"), (json::array{"vectorSearch"}));
    EXPECT_EQ(refusal("capabilities search scopedSearchIndex vectorSearch"), "");
    EXPECT_EQ(search().at("search"), (json::array{"scopedSearchIndex", "vectorSearch"}));
    EXPECT_EQ(refusal("capabilities search none"), "");
    EXPECT_TRUE(search().as_object().empty());
    EXPECT_NE(refusal("capabilities nothing x"), "");
}

TEST(lab_couchbase_service_ports, services_have_ports_for_tls_and_alternate_addresses)
{
    cluster_in_sim lab{1, 0, 1, [](cluster_options& options) {
                           options.services = {{"mgmt", make_management, {}},
                                               counting_service::offer("n1ql")};
                           options.tls = std::make_shared<open_tls>();
                           options.nodes[0].external_host = "out";
                           options.nodes[0].more_ports = {{"n1ql", 8093}};
                       }};
    const auto config = json::parse(
        lab.link(0).ask({.opcode = kv_opcode::get_cluster_config}).value);
    const auto& node = config.at("nodesExt").at(0);
    const auto& outside = node.at("alternateAddresses").at("external").at("ports");
    EXPECT_EQ(node.at("services").at("n1ql").as_int64(), 8093);
    const auto number = [](const json::value& port) { return std::to_string(port.as_int64()); };
    for (const auto& port : {node.at("services").at("n1ql"), node.at("services").at("n1qlSSL"),
                             outside.at("n1ql"), outside.at("n1qlSSL")})
        EXPECT_EQ(ask(lab, "n0:" + number(port), "GET", "/")->status(), 200);
    ASSERT_TRUE(lab.made->admin().remove_service(0, "n1ql"));
    const auto after = json::parse(
        lab.link(0).ask({.opcode = kv_opcode::get_cluster_config}).value);
    EXPECT_FALSE(after.at("nodesExt").at(0).at("services").as_object().contains("n1qlSSL"));
}

TEST(lab_couchbase_service_ports, cluster_without_sense_does_not_start)
{
    sim::simulation net{1};
    sim::host& there = net.add_host("n0");
    const auto start = [&](const char* services, std::vector<offered_service> offered) {
        cluster_options options;
        node_place at{&there.world(), "n0", "n0", 11210};
        at.services = read_services(services);
        options.nodes = {at};
        options.buckets = {"travel"};
        options.user = "ada";
        options.password = "lovelace";
        options.services = std::move(offered);
        cluster made{std::move(options)};
        const auto started = made.start();
        return started ? std::string{} : started.error().message();
    };
    EXPECT_NE(start("kv,n1ql", {}).find("does not offer"), std::string::npos);
    EXPECT_NE(start("n1ql", {counting_service::offer("n1ql")}).find("management"),
              std::string::npos);
    EXPECT_NE(start("n1ql", {counting_service::offer("n1ql"), {"mgmt", make_management, {}}})
                  .find("no node has key-value"),
              std::string::npos);
}

TEST(lab_couchbase_service_names, lists_are_read_in_both_languages)
{
    EXPECT_EQ(read_services("data,query,search,analytics,views"), all_services());
    EXPECT_EQ(text_of(all_services()), "capi,cbas,fts,kv,n1ql");
    for (const char* const wrong : {"", "kv,", "mgmt", "index", "kv query"})
        EXPECT_FALSE(read_services(wrong)) << wrong;
    EXPECT_EQ(service_named("management"), "mgmt");
}

}  // namespace
}  // namespace holdfast::lab::couchbase::services_test
