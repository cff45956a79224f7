#include "lab/couchbase/map/configuration.hpp"

#include "lab/couchbase/map/manifest.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::lab::couchbase::configuration_test {
namespace {

namespace json = boost::json;

cluster_members two_nodes()
{
    cluster_members made;
    made.revision = {3, 17};
    made.nodes = {{4, "one", {{"kv", 11210}, {"kvSSL", 11207}, {"mgmt", 8091}}},
                  {9, "::1", {{"kv", 11211}, {"mgmt", 8092}}}};
    made.nodes[1].external = alternate_address{"outside", {{"kv", 30000}}};
    return made;
}

bucket_layout travel()
{
    const std::vector<int> nodes{9, 4};
    return {"travel", "abcd", 1, balance(nodes, {.replicas = 1, .vbuckets = 4}), "1f"};
}

TEST(lab_couchbase_configuration, global_one_has_revision_nodes_and_no_bucket)
{
    const auto read = json::parse(configuration_text(two_nodes(), {.node = 9})).as_object();
    EXPECT_EQ(read.at("rev"), 17);
    EXPECT_EQ(read.at("revEpoch"), 3);
    EXPECT_FALSE(read.contains("name"));
    EXPECT_FALSE(read.contains("vBucketServerMap"));
    const auto& nodes = read.at("nodesExt").as_array();
    ASSERT_EQ(nodes.size(), 2u);
    EXPECT_EQ(nodes[0].at("hostname"), "one");
    EXPECT_EQ(nodes[0].at("services").at("kvSSL"), 11207);
    EXPECT_FALSE(nodes[0].as_object().contains("thisNode"));
    EXPECT_FALSE(nodes[0].as_object().contains("alternateAddresses"));
    EXPECT_EQ(nodes[1].at("thisNode"), true);
    EXPECT_EQ(nodes[1].at("alternateAddresses").at("external").at("ports").at("kv"), 30000);
}

TEST(lab_couchbase_configuration, bucket_has_its_map_in_places_of_the_server_list)
{
    const auto read = json::parse(configuration_text(two_nodes(), travel(), {.node = 4}));
    EXPECT_EQ(read.at("name"), "travel");
    EXPECT_EQ(read.at("uuid"), "abcd");
    EXPECT_EQ(read.at("collectionsManifestUid"), "1f");
    EXPECT_EQ(read.at("nodes").at(1).at("hostname"), "[::1]:8092");
    EXPECT_EQ(read.at("nodes").at(0).at("ports").at("direct"), 11210);
    const auto& map = read.at("vBucketServerMap");
    EXPECT_EQ(map.at("numReplicas"), 1);
    EXPECT_EQ(map.at("serverList"), (json::array{"one:11210", "[::1]:11211"}));
    EXPECT_EQ(map.at("vBucketMap"), (json::array{json::array{0, 1}, json::array{1, 0},
                                                 json::array{0, 1}, json::array{1, 0}}));
    EXPECT_FALSE(map.as_object().contains("vBucketMapForward"));
}

TEST(lab_couchbase_configuration, vbucket_of_a_node_that_has_left_is_nowhere)
{
    auto cluster = two_nodes();
    cluster.nodes.pop_back();
    const auto forward = travel().map;
    bucket_layout moving = travel();
    moving.forward = forward;
    const auto read = json::parse(configuration_text(cluster, moving, {.node = 4}));
    const auto& map = read.at("vBucketServerMap");
    EXPECT_EQ(map.at("vBucketMap").at(0), (json::array{0, -1}));
    EXPECT_EQ(map.at("vBucketMap").at(1), (json::array{-1, 0}));
    EXPECT_EQ(map.at("vBucketMapForward"), map.at("vBucketMap"));
}

TEST(lab_couchbase_configuration, hosts_are_named_dialled_or_left_out)
{
    const asker dialled{4, host_style::dialled};
    const auto read = json::parse(configuration_text(two_nodes(), travel(), dialled));
    EXPECT_EQ(read.at("nodesExt").at(0).at("hostname"), "$HOST");
    EXPECT_EQ(read.at("vBucketServerMap").at("serverList").at(1), "$HOST:11211");
    const asker without{4, host_style::left_out};
    const auto bare = json::parse(configuration_text(two_nodes(), without));
    EXPECT_FALSE(bare.at("nodesExt").at(0).as_object().contains("hostname"));
}

TEST(lab_couchbase_manifest, collections_are_created_found_and_dropped_by_name)
{
    manifest of;
    EXPECT_EQ(of.text(), R"({"uid":"0","scopes":[{"name":"_default","uid":"0",)"
                         R"("collections":[{"name":"_default","uid":"0"}]}]})");
    EXPECT_EQ(of.collection_id("_default._default").id, 0u);
    EXPECT_EQ(of.collection_id(".").code, kv_status::success);
    EXPECT_EQ(of.create_scope("s"), manifest_change::done);
    EXPECT_EQ(of.create_scope("s"), manifest_change::exists);
    EXPECT_EQ(of.create_collection("s", "c"), manifest_change::done);
    EXPECT_EQ(of.create_collection("s", "c"), manifest_change::exists);
    EXPECT_EQ(of.create_collection("t", "c"), manifest_change::no_scope);
    EXPECT_EQ(of.uid(), 2u);
    EXPECT_EQ(of.collection_id("s.c").id, 9u);
    EXPECT_EQ(of.scope_id("s").id, 8u);
    EXPECT_EQ(of.collection_id("s.d").code, kv_status::unknown_collection);
    EXPECT_EQ(of.collection_id("t.c").code, kv_status::unknown_scope);
    EXPECT_EQ(of.collection_id("c").code, kv_status::invalid);
    EXPECT_EQ(of.collection_id("a.b.c").code, kv_status::invalid);
    EXPECT_TRUE(of.has_collection(9));
    EXPECT_EQ(json::parse(of.text()).at("scopes").at(1).at("collections").at(0).at("uid"), "9");
    EXPECT_EQ(of.drop_collection("s", "d"), manifest_change::no_collection);
    EXPECT_EQ(of.drop_collection("s", "c"), manifest_change::done);
    EXPECT_FALSE(of.has_collection(9));
}

TEST(lab_couchbase_manifest, dropped_and_created_collection_has_a_new_id)
{
    manifest of;
    of.create_scope("s");
    of.create_collection("s", "c");
    const auto before = of.collection_id("s.c").id;
    EXPECT_EQ(of.drop_scope("s"), manifest_change::done);
    of.create_scope("s");
    of.create_collection("s", "c");
    EXPECT_GT(of.collection_id("s.c").id, before);
    EXPECT_EQ(of.uid(), 5u);
}

TEST(lab_couchbase_manifest, names_are_limited_and_those_of_the_system_are_refused)
{
    manifest of;
    for (const char* name : {"", "_mine", "%mine", "a.b", "a b"})
        EXPECT_EQ(of.create_scope(name), manifest_change::invalid_name) << name;
    EXPECT_EQ(of.create_scope(std::string(252, 'a')), manifest_change::invalid_name);
    EXPECT_EQ(of.create_scope(std::string(251, 'a')), manifest_change::done);
    EXPECT_EQ(of.drop_scope("_default"), manifest_change::invalid_name);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::configuration_test
