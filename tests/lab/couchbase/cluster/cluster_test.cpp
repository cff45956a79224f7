#include "lab/couchbase/cluster/cluster.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "lab/couchbase/serve/kv_link.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace holdfast::lab::couchbase::cluster_test {
namespace {

using holdfast::couchbase::errc;

class lab_couchbase_cluster : public testing::Test {
protected:
    void start()
    {
        cluster_options options;
        for (const char* const name : {"one", "two", "three"})
            options.nodes.push_back({&net.add_host(name).world(), name, name, 11210});
        options.buckets = {"travel"};
        options.user = "ada";
        options.password = "lovelace";
        made = std::make_unique<cluster>(options);
        ASSERT_TRUE(made->start());
    }
    ~lab_couchbase_cluster() override { made.reset(); }

    sim::simulation net{1};
    std::unique_ptr<cluster> made;
};

TEST_F(lab_couchbase_cluster, every_vbucket_is_active_on_exactly_one_node)
{
    start();
    std::size_t total = 0;
    for (std::size_t n = 0; n != made->nodes(); ++n)
        total += made->at(n).buckets.at("travel").vbuckets.size();
    EXPECT_EQ(total, 1024u);
    for (std::uint16_t id = 0; id != 1024; ++id) {
        int owners = 0;
        for (std::size_t n = 0; n != made->nodes(); ++n)
            owners += made->at(n).buckets.at("travel").find_active(id) ? 1 : 0;
        ASSERT_EQ(owners, 1) << id;
    }
    EXPECT_EQ(made->address(1), "two:11210");
}

TEST_F(lab_couchbase_cluster, changes_have_a_new_revision_on_all_nodes)
{
    start();
    const auto before = made->at(0).members.revision;
    EXPECT_EQ(made->create_scope("travel", "s"), manifest_change::done);
    EXPECT_EQ(made->create_collection("travel", "s", "c"), manifest_change::done);
    EXPECT_EQ(made->create_collection("travel", "t", "c"), manifest_change::no_scope);
    EXPECT_EQ(made->create_scope("unknown", "s"), manifest_change::no_scope);
    for (std::size_t n = 0; n != made->nodes(); ++n) {
        EXPECT_EQ(made->at(n).members.revision.rev, before.rev + 2);
        EXPECT_EQ(made->at(n).buckets.at("travel").collections.uid(), 2u);
        EXPECT_EQ(made->at(n).buckets.at("travel").layout.manifest_uid, "2");
    }
    EXPECT_FALSE(made->create_bucket("travel"));
    EXPECT_FALSE(made->create_bucket("a b"));
    EXPECT_TRUE(made->create_bucket("more"));
    EXPECT_EQ(made->at(2).known_buckets, (std::vector<std::string>{"travel", "more"}));
}

TEST_F(lab_couchbase_cluster, dropped_collection_loses_its_documents)
{
    start();
    made->create_scope("travel", "s");
    made->create_collection("travel", "s", "c");
    bucket& in = made->at(0).buckets.at("travel");
    const std::uint32_t id = in.collections.collection_id("s.c").id;
    vbucket& part = in.vbuckets.begin()->second;
    new_content content;
    store(part, store_mode::set, {id, "k"}, content, {});
    store(part, store_mode::set, {0, "k"}, content, {});
    EXPECT_EQ(made->drop_scope("travel", "s"), manifest_change::done);
    EXPECT_EQ(part.find({id, "k"}), nullptr);
    EXPECT_NE(part.find({0, "k"}), nullptr);
}

TEST(lab_couchbase_api, options_that_make_no_sense_are_refused_by_name)
{
    const auto refused = [](couchbase_options options) {
        const auto started = lab::couchbase_cluster::start(std::move(options));
        return !started && started.error().context("phase") == "options";
    };
    EXPECT_TRUE(refused({.nodes = 0}));
    EXPECT_TRUE(refused({.nodes = 51}));
    EXPECT_TRUE(refused({.replicas = 4}));
    EXPECT_TRUE(refused({.user = ""}));
    EXPECT_TRUE(refused({.host = ""}));
    EXPECT_TRUE(refused({.nodes = 2, .port = 65535}));
    EXPECT_TRUE(refused({.tls_certificate = "/nowhere"}));
    EXPECT_TRUE(refused({.nodes = 2, .service_port = 65530}));
    EXPECT_TRUE(refused({.services = {"kv,eventing"}}));
    EXPECT_TRUE(refused({.services = {"query", "kv"}}));
}

TEST(lab_couchbase_api, cluster_names_its_nodes_and_changes_its_collections)
{
    auto lab = lab::couchbase_cluster::start({.nodes = 2, .buckets = {"travel"}});
    ASSERT_TRUE(lab);
    EXPECT_EQ(lab->uri(), "couchbase://" + lab->address(0) + "," + lab->address(1));
    EXPECT_EQ(lab->tls_uri(), "");
    EXPECT_TRUE(lab->create_scope("travel", "s"));
    EXPECT_TRUE(lab->create_collection("travel", "s", "c"));
    EXPECT_EQ(lab->create_collection("travel", "t", "c").error().code(), errc::scope_not_found);
    EXPECT_EQ(lab->drop_collection("travel", "s", "d").error().code(), errc::collection_not_found);
    EXPECT_EQ(lab->create_scope("none", "s").error().code(), errc::bucket_not_found);
    EXPECT_TRUE(lab->drop_scope("travel", "s"));
    ASSERT_EQ(lab->status().size(), 2u);
    const std::string line = lab->status()[1];
    EXPECT_TRUE(line.starts_with("1 " + lab->address(1) + " 0 connections 0 documents ")) << line;
    EXPECT_TRUE(line.ends_with("fts,kv member") || line.ends_with("n1ql member")) << line;
}

TEST(lab_couchbase_api, cluster_is_broken_and_mended)
{
    auto lab = lab::couchbase_cluster::start({.nodes = 2, .replicas = 1, .buckets = {"travel"}});
    ASSERT_TRUE(lab);
    EXPECT_TRUE(lab->management_url().starts_with("http://127.0.0.1:"));
    EXPECT_EQ(lab->external_uri(), "");
    EXPECT_TRUE(lab->crash(1));
    EXPECT_TRUE(lab->status()[1].ends_with(" down"));
    EXPECT_TRUE(lab->restart(1));
    EXPECT_FALSE(lab->restart(1));
    EXPECT_TRUE(lab->freeze(0));
    EXPECT_TRUE(lab->status()[0].ends_with(" frozen"));
    EXPECT_TRUE(lab->thaw(0));
    EXPECT_FALSE(lab->thaw(2));
    EXPECT_EQ(lab->add_node().value(), 2u);
    EXPECT_EQ(lab->nodes(), 3u);
    EXPECT_TRUE(lab->rebalance());
    EXPECT_TRUE(lab->fail_over(1, true));
    EXPECT_TRUE(lab->rebalance({0}));
    EXPECT_TRUE(lab->status()[0].ends_with(" gone"));
    EXPECT_FALSE(lab->fail_over(2));  // the last one
    lab->auto_failover(std::chrono::seconds{5});
    EXPECT_TRUE(lab->create_bucket("more"));
    EXPECT_TRUE(lab->flush_bucket("more"));
    EXPECT_TRUE(lab->drop_bucket("more"));
    EXPECT_TRUE(lab->set_user("eve", "secret", {"travel"}));
    lab->drop_user("eve");
}

TEST(lab_couchbase_api, nodes_have_the_services_of_their_layout)
{
    auto lab = lab::couchbase_cluster::start(
        {.nodes = 2, .services = {"management", "kv"}, .external_host = "127.0.0.1"});
    EXPECT_FALSE(lab);  // management is everywhere, and in no list
    lab = lab::couchbase_cluster::start({.nodes = 2, .services = {"views", "kv"}});
    ASSERT_TRUE(lab);
    EXPECT_EQ(lab->uri(), "couchbase://" + lab->address(1));
    EXPECT_EQ(lab->address(0), "");
    EXPECT_EQ(lab->address(0, "mgmt"), lab->management_url().substr(7));
    EXPECT_NE(lab->address(0, "views"), "");
    EXPECT_EQ(lab->address(0, "viewsSSL"), "");
    EXPECT_EQ(lab->address(0, "nothing"), "");
    EXPECT_TRUE(lab->remove_service(0, "views"));
    EXPECT_EQ(lab->address(0, "views"), "");
    EXPECT_TRUE(lab->add_service(0, "search"));
    EXPECT_EQ(lab->add_node("kv,search").value(), 2u);
    EXPECT_FALSE(lab->add_node("kv,nothing"));
    EXPECT_NE(lab->address(2, "search"), "");
    EXPECT_TRUE(lab->answer("search", "GET", "/api/ping", {{.status = 503}}));
    EXPECT_FALSE(lab->answer("search", "", "", std::vector<couchbase_answer>{}));
    EXPECT_FALSE(lab->answer("kv", "", "", {{.status = 503}}));
    EXPECT_EQ(lab->fault_hits("search GET /api/ping"), 0);
}

TEST(lab_couchbase_api, node_whose_port_was_taken_meanwhile_comes_back_at_another)
{
    auto lab = lab::couchbase_cluster::start({.nodes = 2, .services = {"kv", "kv"}});
    ASSERT_TRUE(lab);
    const std::string before = lab->address(1);
    ASSERT_TRUE(lab->crash(1));
    const auto number = static_cast<std::uint16_t>(std::stoi(before.substr(before.find(':') + 1)));
    auto other = lab::couchbase_cluster::start({.port = number, .services = {"kv"}});
    ASSERT_TRUE(other);
    ASSERT_TRUE(lab->restart(1));
    EXPECT_NE(lab->address(1), before);
    EXPECT_TRUE(lab->rebalance());
    ASSERT_TRUE(other->crash(0));
    auto third = lab::couchbase_cluster::start({.port = number, .services = {"kv"}});
    ASSERT_TRUE(third);
    EXPECT_FALSE(other->restart(0));  // that is the port that was asked for
}

TEST(lab_couchbase_api, faults_are_set_and_cleared_by_name)
{
    auto lab = lab::couchbase_cluster::start({.external_host = "127.0.0.1"});
    ASSERT_TRUE(lab);
    EXPECT_TRUE(lab->external_uri().starts_with("couchbase://127.0.0.1:"));
    EXPECT_NE(lab->external_uri(), lab->uri());
    EXPECT_TRUE(lab->set_fault("f", {.operations = {"get"}, .status = 0x86}));
    EXPECT_FALSE(lab->set_fault("g", {.operations = {"fetch"}}));
    EXPECT_EQ(lab->fault_hits("f"), 0);
    EXPECT_TRUE(lab->clear_fault("f"));
    EXPECT_FALSE(lab->clear_fault("f"));
    lab->clear_faults();
    EXPECT_EQ(lab->command("hits f").value(), std::vector<std::string>{"0"});
    EXPECT_FALSE(lab->command("dance"));
    for (const char* const line : {"crash 99", "restart 99", "rebalance 99", "remove 99"}) {
        const auto failed = lab->command(line);
        ASSERT_FALSE(failed) << line;
        EXPECT_EQ(failed.error().message(), "there is no node 99");
    }
    EXPECT_NE(lab::couchbase_cluster::command_help().find("rebalance"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::cluster_test
