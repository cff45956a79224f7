#include "lab/couchbase/mgmt/management.hpp"

#include "lab/couchbase/cluster/cluster_in_sim.hpp"
#include "support/canary.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::management_test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

class lab_couchbase_management : public testing::Test {
protected:
    http_reply ask(std::string method, std::string path, std::string body = {},
                   std::string login = "Basic YWRhOmxvdmVsYWNl", std::size_t node = 0)
    {
        http_request made;
        made.method = std::move(method);
        made.path = path;
        made.parts = *split_path(path);
        made.authorization = std::move(login);
        if (!body.starts_with('{') && !path.starts_with("/lab"))
            made.content_type = "application/x-www-form-urlencoded";
        made.body = std::move(body);
        return make_management(*lab.made, node, lab.made->at(node).world)->answer(made);
    }
    int status(std::string method, std::string path, std::string body = {})
    {
        return ask(std::move(method), std::move(path), std::move(body)).status;
    }
    json::value get(std::string path) { return json::parse(ask("GET", std::move(path)).body); }

    cluster_in_sim lab{2, 1, 1, [this](cluster_options& options) {
                           options.services = {{"mgmt", make_management, {}}};
                           options.next_place = [this](std::size_t) { return lab.next_place(); };
                       }};
    const std::string travel = "/pools/default/buckets/travel";
};

TEST_F(lab_couchbase_management, login_and_rights_are_needed)
{
    EXPECT_EQ(ask("GET", "/", "", "").status, 200);
    EXPECT_EQ(ask("GET", "/pools", "", "").status, 200);
    const http_reply refused = ask("GET", "/pools/default", "", "");
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.headers.at(0).first, "WWW-Authenticate");
    EXPECT_EQ(ask("GET", "/pools/default", "", "Basic YWRhOndyb25n").status, 401);  // ada:wrong
    EXPECT_EQ(status("GET", "/pools/default"), 200);
    ASSERT_TRUE(lab.made->set_user("eve", "apple", {"travel"}));
    const std::string eve = "Basic ZXZlOmFwcGxl";
    EXPECT_EQ(ask("GET", "/pools/default/b/travel", "", eve).status, 200);
    EXPECT_EQ(ask("POST", "/pools/default/buckets", "name=b", eve).status, 403);
    EXPECT_EQ(ask("POST", "/lab/commands", "epoch", eve).status, 403);
    EXPECT_EQ(status("GET", "/unknown"), 404);
    EXPECT_EQ(status("DELETE", "/pools"), 405);
}

TEST_F(lab_couchbase_management, configurations_have_the_management_ports_and_are_terse)
{
    const json::value services = get("/pools/default/nodeServices");
    EXPECT_EQ(services.at("nodesExt").as_array().size(), 2u);
    const auto port = services.at("nodesExt").at(1).at("services").at("mgmt").as_int64();
    EXPECT_EQ(lab.made->address(1, "mgmt"), "n1:" + std::to_string(port));
    EXPECT_EQ(get("/pools/default/b/travel").at("name"), "travel");
    EXPECT_EQ(status("GET", "/pools/default/b/none"), 404);
    EXPECT_EQ(get("/pools/default").at("nodes").at(1).at("hostname").as_string(),
              lab.made->address(1, "mgmt"));
    EXPECT_EQ(get("/pools/nodes").at("nodes").at(0).at("clusterMembership"), "active");
    EXPECT_EQ(get("/pools/default/tasks").at(0).at("status"), "notRunning");
}

TEST_F(lab_couchbase_management, streamed_configuration_goes_on_with_each_revision)
{
    const http_reply stream = ask("GET", "/pools/default/bs/travel");
    ASSERT_TRUE(stream.more);
    const std::string first = stream.more().value();
    EXPECT_TRUE(first.ends_with("\n\n\n\n"));
    EXPECT_EQ(stream.more().value(), "");
    lab.made->publish();
    EXPECT_NE(stream.more().value(), "");
    ASSERT_TRUE(lab.made->drop_bucket("travel"));
    EXPECT_FALSE(stream.more());
}

TEST_F(lab_couchbase_management, buckets_are_created_shown_changed_flushed_and_dropped)
{
    EXPECT_EQ(status("POST", "/pools/default/buckets",
                     "name=b&ramQuotaMB=128&replicaNumber=1&flushEnabled=1&bucketType=membase"),
              202);
    const json::value made = get("/pools/default/buckets/b");
    EXPECT_EQ(made.at("quota").at("rawRAM").as_int64(), 128 * 1024 * 1024);
    EXPECT_EQ(made.at("replicaNumber").as_int64(), 1);
    EXPECT_TRUE(made.at("controllers").as_object().contains("flush"));
    const http_reply again = ask("POST", "/pools/default/buckets", "name=b&ramQuotaMB=100");
    EXPECT_EQ(again.status, 400);
    EXPECT_NE(again.body.find("Bucket with given name already exists"), std::string::npos);
    EXPECT_EQ(status("POST", "/pools/default/buckets", "name=c&ramQuotaMB=1"), 400);
    EXPECT_EQ(status("POST", "/pools/default/buckets", "name=c&replicaNumber=4"), 400);
    EXPECT_EQ(status("POST", "/pools/default/buckets", "name=a+b"), 400);
    EXPECT_EQ(get("/pools/default/buckets").as_array().size(), 2u);
    EXPECT_EQ(status("POST", "/pools/default/buckets/b/controller/doFlush"), 200);
    EXPECT_EQ(status("POST", "/pools/default/buckets/b", "flushEnabled=0&replicaNumber=0"), 200);
    EXPECT_EQ(get("/pools/default/buckets/b").at("replicaNumber").as_int64(), 0);
    EXPECT_EQ(status("POST", "/pools/default/buckets/b/controller/doFlush"), 400);
    EXPECT_EQ(status("DELETE", "/pools/default/buckets/b"), 200);
    for (const char* const method : {"GET", "POST", "DELETE"})
        EXPECT_EQ(status(method, "/pools/default/buckets/b"), 404) << method;
}

TEST_F(lab_couchbase_management, replicas_that_are_added_arrive_with_a_rebalance)
{
    EXPECT_EQ(status("POST", travel, "replicaNumber=0"), 200);
    EXPECT_EQ(lab.made->layout("travel")->map.rows.at(7).size(), 1u);
    EXPECT_EQ(lab.link(lab.owner(7)).ask(cluster_in_sim::set(7, "k", "v")).status,
              kv_status::success);
    EXPECT_EQ(status("POST", travel, "replicaNumber=1"), 200);
    EXPECT_EQ(lab.made->layout("travel")->map.rows.at(7).at(1), no_node);
    ASSERT_TRUE(lab.run(lab.made->rebalance()));
    lab.settle();
    EXPECT_EQ(
        lab.link(lab.replica(7)).ask(cluster_in_sim::get(7, "k", kv_opcode::get_replica)).value,
        "v");
}

TEST_F(lab_couchbase_management, scopes_and_collections_change_and_have_the_texts_that_clients_read)
{
    const json::value done = json::parse(ask("POST", travel + "/scopes", "name=s").body);
    EXPECT_EQ(done.at("uid"), "1");
    EXPECT_NE(ask("POST", travel + "/scopes", "name=s").body.find("already exists"),
              std::string::npos);
    EXPECT_EQ(status("POST", travel + "/scopes/s/collections", "name=c&maxTTL=100"), 200);
    EXPECT_EQ(status("POST", travel + "/scopes/s/collections", "name=d&maxTTL=x"), 400);
    EXPECT_EQ(status("POST", travel + "/scopes/t/collections", "name=c"), 404);
    EXPECT_EQ(status("PATCH", travel + "/scopes/s/collections/c", "maxTTL=200"), 200);
    const json::value manifest = get(travel + "/scopes");
    EXPECT_EQ(manifest.at("scopes").at(1).at("collections").at(0).at("maxTTL").as_int64(), 200);
    EXPECT_EQ(status("DELETE", travel + "/scopes/s/collections/c"), 200);
    const http_reply gone = ask("DELETE", travel + "/scopes/s/collections/c");
    EXPECT_EQ(gone.status, 404);
    EXPECT_NE(gone.body.find("is not found"), std::string::npos);
    EXPECT_EQ(status("DELETE", travel + "/scopes/s"), 200);
    EXPECT_EQ(status("DELETE", travel + "/scopes/s"), 404);
    EXPECT_EQ(status("POST", travel + "/scopes", "name=%24"), 400);
    EXPECT_EQ(status("GET", "/pools/default/buckets/none/scopes"), 404);
}

TEST_F(lab_couchbase_management, documents_of_a_collection_with_a_ttl_expire)
{
    ASSERT_EQ(status("POST", travel + "/scopes/_default/collections", "name=c&maxTTL=10"), 200);
    sent_request set = cluster_in_sim::set(7, "k", "v");
    set.collection = lab.made->admin().collections("travel")->collection_id("_default.c").id;
    sim_link& to = lab.link(lab.owner(7));
    EXPECT_EQ(to.ask(set).status, kv_status::success);
    sent_request get = cluster_in_sim::get(7, "k");
    get.collection = set.collection;
    EXPECT_EQ(to.ask(get).value, "v");
    lab.net.run_for(11s);
    EXPECT_EQ(to.ask(get).status, kv_status::not_found);
}

TEST_F(lab_couchbase_management, users_and_groups_give_rights_on_buckets)
{
    const std::string bob = "/settings/rbac/users/local/bob";
    EXPECT_EQ(status("PUT", bob, "password=secret&roles=unknown"), 400);
    EXPECT_EQ(status("PUT", bob, "roles=admin"), 400);
    EXPECT_EQ(status("PUT", bob, "password=short&roles=admin"), 400);
    EXPECT_EQ(status("PUT", bob, "password=secret&groups=none"), 400);
    EXPECT_EQ(status("PUT", bob, "password=secret&name=Bob&roles=data_reader%5Bother%3As%5D"), 200);
    const json::value seen = get(bob);
    EXPECT_EQ(seen.at("name"), "Bob");
    EXPECT_EQ(seen.at("roles").at(0).at("bucket_name"), "other");
    EXPECT_EQ(seen.at("roles").at(0).at("scope_name"), "s");
    sim_link link{lab.net, lab.client, "n0"};
    link.bootstrap("travel", "bob", "secret");
    EXPECT_EQ(link.login_status, kv_status::success);
    EXPECT_EQ(link.select_status, kv_status::no_access);
    EXPECT_EQ(status("PUT", "/settings/rbac/groups/g", "description=d&roles=data_reader[travel]"),
              200);
    EXPECT_EQ(get("/settings/rbac/groups/g").at("description"), "d");
    EXPECT_EQ(status("PUT", bob, "groups=g"), 200);  // the password is kept
    link.bootstrap("travel", "bob", "secret");
    EXPECT_EQ(link.select_status, kv_status::success);
    EXPECT_EQ(get("/settings/rbac/users").as_array().size(), 2u);
    EXPECT_EQ(get("/settings/rbac/groups").as_array().size(), 1u);
    EXPECT_GT(get("/settings/rbac/roles").as_array().size(), 5u);
    EXPECT_EQ(status("DELETE", "/settings/rbac/groups/g"), 200);
    EXPECT_EQ(status("DELETE", "/settings/rbac/groups/g"), 404);
    EXPECT_EQ(status("GET", "/settings/rbac/groups/g"), 404);
    EXPECT_EQ(status("DELETE", bob), 200);
    EXPECT_EQ(status("GET", bob), 404);
    EXPECT_EQ(status("DELETE", bob), 404);
}

TEST_F(lab_couchbase_management, user_changes_its_password)
{
    const char* const path = "/controller/changePassword";
    EXPECT_EQ(status("POST", path, "password=x"), 400);
    const std::string body = std::string{"password"} + '=' + proof::canary::wrong_password;
    EXPECT_EQ(status("POST", path, body), 200);
    EXPECT_EQ(status("GET", "/pools/default"), 401);
    EXPECT_TRUE(lab.made->admin().people().is_administrator("ada"));
}

TEST_F(lab_couchbase_management, membership_changes_by_the_names_of_nodes)
{
    const json::value added = json::parse(ask("POST", "/controller/addNode", "hostname=any").body);
    EXPECT_TRUE(added.at("otpNode").as_string().starts_with("n_2@n2:"));
    EXPECT_EQ(status("POST", "/controller/rebalance", "ejectedNodes=n_9@x"), 400);
    EXPECT_EQ(status("POST", "/controller/rebalance", "ejectedNodes=n_1@n1:1"), 200);
    EXPECT_TRUE(lab.pass_until([&] { return lab.made->rebalancing(); }));
    EXPECT_EQ(get("/pools/default/tasks").at(0).at("status"), "running");
    EXPECT_EQ(status("POST", "/controller/rebalance", ""), 400);
    EXPECT_TRUE(lab.pass_until([&] { return !lab.made->is_running(1); }));
    EXPECT_EQ(status("POST", "/controller/startGracefulFailover", "otpNode=n_2@n2"), 200);
    EXPECT_TRUE(lab.pass_until([&] { return !lab.made->is_member(2); }));
    EXPECT_EQ(status("POST", "/controller/failOver", "otpNode=n_0"), 400);  // the last one
    EXPECT_EQ(status("POST", "/controller/failOver", "otpNode=x"), 400);
    EXPECT_EQ(status("POST", "/controller/ejectNode", "otpNode=n_0"), 400);
    EXPECT_EQ(status("POST", "/controller/ejectNode", "otpNode=n_2"), 200);
    EXPECT_TRUE(lab.pass_until([&] { return !lab.made->is_running(2); }));
}

TEST_F(lab_couchbase_management, commands_and_faults_come_by_http)
{
    const http_reply status_lines = ask("POST", "/lab/commands", "publish\n\nstatus\n");
    EXPECT_EQ(json::parse(status_lines.body).at("lines").as_array().size(), 2u);
    EXPECT_EQ(status("POST", "/lab/commands", "dance"), 400);
    EXPECT_EQ(status("POST", "/lab/faults", R"({"name":"f","operations":["noop"],"status":133})"),
              200);
    EXPECT_EQ(lab.link(0).ask({.opcode = kv_opcode::noop}).status, kv_status::busy);
    EXPECT_EQ(get("/lab/faults").at("f").at("hits").as_int64(), 1);
    EXPECT_EQ(status("POST", "/lab/faults", "{"), 400);
    EXPECT_EQ(status("POST", "/lab/faults", R"({"operations":["noop"]})"), 400);
    EXPECT_EQ(status("DELETE", "/lab/faults/g"), 404);
    EXPECT_EQ(status("DELETE", "/lab/faults/f"), 200);
    EXPECT_EQ(status("DELETE", "/lab/faults"), 200);
    EXPECT_EQ(status("POST", "/lab/commands", "crash 1"), 202);
    EXPECT_TRUE(lab.pass_until([&] { return !lab.made->is_running(1); }));
}

TEST_F(lab_couchbase_management, command_that_cannot_begin_is_refused_by_its_line)
{
    const auto refused = [&](const std::string& lines) {
        const http_reply reply = ask("POST", "/lab/commands", lines);
        EXPECT_EQ(reply.status, 400) << lines;
        return reply.body;
    };
    const auto has = [&](const std::string& body, const std::string& text) {
        EXPECT_NE(body.find(text), std::string::npos) << body;
    };
    has(refused("crash 99"), "line 1: there is no node 99");
    has(refused("publish\n\nrebalance 99"), "line 3: there is no node 99");
    has(refused("crash 1 now"), "usage: crash N [lost]");
    has(refused("crash"), "usage: crash N [lost]");
    has(refused("remove 99"), "there is no node 99");
    has(refused("rebalance 0 1"), "no node with data would stay");
    has(refused("graceful-failover 99"), "there is no node 99");
    EXPECT_TRUE(lab.made->is_running(1));

    EXPECT_EQ(status("POST", "/lab/commands", "add-node\nrebalance"), 202);
    EXPECT_TRUE(lab.pass_until([&] { return lab.made->rebalancing(); }));
    has(refused("rebalance"), "a rebalance is running");
    has(refused("remove 1"), "a rebalance is running");
    has(refused("graceful-failover 1"), "a rebalance is running");
}

}  // namespace
}  // namespace holdfast::lab::couchbase::management_test
