#include "core/couchbase/config/cluster_config.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/config_text.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::bad_config_test {
namespace {

using holdfast::couchbase::errc;

/// A small configuration in which one piece is replaced by something else.
std::string broken(std::string_view piece, std::string_view by)
{
    std::string text =
        R"({"rev":1,"revEpoch":1,"name":"b","uuid":"u","nodeLocator":"vbucket",)"
        R"("collectionsManifestUid":"1","bucketCapabilities":["x"],"nodes":[{},{}],)"
        R"("nodesExt":[{"hostname":"a","services":{"kv":1}},)"
        R"({"hostname":"b","services":{"kv":1},"serverGroup":"g",)"
        R"("alternateAddresses":{"external":{"hostname":"e","ports":{"kv":5}}}}],)"
        R"("clusterCapabilities":{"n1ql":["y"]},)"
        R"("vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":1,"serverList":["a:1","b:1"],)"
        R"("vBucketMap":[[0,1],[1,0]],"vBucketMapForward":[[0,1],[1,0]]}})";
    const std::size_t at = text.find(piece);
    EXPECT_NE(at, text.npos) << piece;
    if (at != text.npos)
        text.replace(at, piece.size(), by);
    return text;
}

TEST(parse_config, small_configuration_of_these_tests_is_valid)
{
    EXPECT_TRUE(parse_config(broken("", ""), "h"));
}

TEST(parse_config, error_says_what_is_wrong_and_where)
{
    struct row {
        std::string_view piece;
        std::string by;
        std::string_view path;
    };
    const std::string long_name(257, 'n');
    const row table[] = {
        {R"("rev":1,)", "", "rev"},
        {R"("rev":1)", R"("rev":-1)", "rev"},
        {R"("rev":1)", R"("rev":1.5)", "rev"},
        {R"("rev":1)", R"("rev":"1")", "rev"},
        {R"("rev":1)", R"("rev":9223372036854775808)", "rev"},
        {R"("revEpoch":1)", R"("revEpoch":null)", "revEpoch"},
        {R"("rev":1)", R"("rev":2,"rev":1)", "rev"},
        {R"("name":"b")", R"("name":"")", "name"},
        {R"("name":"b")", R"("name":7)", "name"},
        {R"("name":"b",)", "", "name"},
        {R"("uuid":"u")", R"("uuid":")" + long_name + '"', "uuid"},
        {R"("collectionsManifestUid":"1")", R"("collectionsManifestUid":"z")",
         "collectionsManifestUid"},
        {R"(["x"])", R"("x")", "bucketCapabilities"},
        {R"(["x"])", R"(["x",1])", "bucketCapabilities[1]"},
        {R"(["y"])", R"([{}])", "clusterCapabilities.n1ql[0]"},
        {R"("hostname":"b")", R"("hostname":"b c")", "nodesExt[1].hostname"},
        {R"("hostname":"b")", R"("hostname":"$HOST!")", "nodesExt[1].hostname"},
        {R"("hostname":"b")", R"("hostname":"$HOST:0")", "nodesExt[1].hostname"},
        {R"("hostname":"b")", R"("hostname":")" + long_name + '"', "nodesExt[1].hostname"},
        {R"("services":{"kv":1},"serverGroup")", R"("serverGroup")", "nodesExt[1]"},
        {R"("services":{"kv":1},"serverGroup")", R"("services":{"kv":0},"serverGroup")",
         "nodesExt[1].services.kv"},
        {R"("services":{"kv":1},"serverGroup")", R"("services":{"kv":65536},"serverGroup")",
         "nodesExt[1].services.kv"},
        {R"("serverGroup":"g")", R"("serverGroup":[])", "nodesExt[1].serverGroup"},
        {R"("hostname":"e",)", "", "nodesExt[1].alternateAddresses.external"},
        {R"("kv":5)", R"("kv":"5")", "nodesExt[1].alternateAddresses.external.ports.kv"},
        {R"("hashAlgorithm":"CRC")", R"("hashAlgorithm":"MD5")", "vBucketServerMap.hashAlgorithm"},
        {R"("numReplicas":1)", R"("numReplicas":4)", "vBucketServerMap.numReplicas"},
        {R"("numReplicas":1)", R"("numReplicas":-1)", "vBucketServerMap.numReplicas"},
        {R"(["a:1","b:1"])", "[]", "vBucketServerMap.serverList"},
        {R"(["a:1","b:1"])", R"(["a:1",2])", "vBucketServerMap.serverList[1]"},
        {R"(["a:1","b:1"])", R"(["a:1","b:x"])", "vBucketServerMap.serverList[1]"},
        {R"(["a:1","b:1"])", R"(["a:1","b:1","c:1"])", "vBucketServerMap.serverList[2]"},
        {R"("vBucketMap":[[0,1],[1,0]])", R"("vBucketMap":[])", "vBucketServerMap.vBucketMap"},
        {R"("vBucketMap":[[0,1],[1,0]])", R"("vBucketMap":[[0],[0],[0]])",
         "vBucketServerMap.vBucketMap"},
        {R"("vBucketMap":[[0,1],[1,0]])", R"("vBucketMap":[[0,1],[1,2]])",
         "vBucketServerMap.vBucketMap[1]"},
        {R"("vBucketMap":[[0,1],[1,0]])", R"("vBucketMap":[[-2,1],[1,0]])",
         "vBucketServerMap.vBucketMap[0]"},
        {R"("vBucketMap":[[0,1],[1,0]])", R"("vBucketMap":[[0,1],1])",
         "vBucketServerMap.vBucketMap[1]"},
        {R"("vBucketMap":[[0,1],[1,0]])", R"("vBucketMap":[[0,1],[1,0,0,0,0]])",
         "vBucketServerMap.vBucketMap[1]"},
        {R"("vBucketMapForward":[[0,1],[1,0]])", R"("vBucketMapForward":[[0,1]])",
         "vBucketServerMap.vBucketMapForward"},
        {R"("vBucketMapForward":[[0,1],[1,0]])", R"("vBucketMapForward":[[0,1],[65536,0]])",
         "vBucketServerMap.vBucketMapForward[1]"},
        {R"("vBucketServerMap")", R"("vBucketServerMaps")", "vBucketServerMap"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(std::string{r.piece} + " -> " + r.by);
        const auto failed = parse_config(broken(r.piece, r.by), "h");
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code(), errc::decoding_failure);
        EXPECT_EQ(failed.error().context("path"), r.path);
        EXPECT_TRUE(failed.error().message().starts_with("cluster configuration: "))
            << failed.error().message();
    }
}

TEST(parse_config, text_that_is_no_object_or_no_json_is_refused)
{
    for (const std::string_view text : {"", "x", "[]", "1", "{", R"({"rev":1,})", "{}"})
        EXPECT_FALSE(parse_config(text, "h")) << text;
    const auto no_nodes = parse_config(R"({"rev":1})", "h");
    ASSERT_FALSE(no_nodes);
    EXPECT_EQ(no_nodes.error().message(),
              "cluster configuration: it has neither nodesExt nor nodes");
}

TEST(parse_config, buckets_without_vbuckets_are_a_feature_that_is_not_available)
{
    for (const std::string_view locator : {R"("ketama")", R"("other")"}) {
        const auto failed = parse_config(broken(R"("vbucket")", locator), "h");
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code(), errc::feature_not_available);
    }
}

TEST(parse_config, sizes_beyond_the_limits_are_refused)
{
    const auto repeated = [](std::string_view one, std::size_t times) {
        std::string list = "[";
        for (std::size_t i = 0; i < times; ++i)
            list.append(i == 0 ? "" : ",").append(one);
        return list + ']';
    };
    const auto with_nodes = [&](std::size_t count) {
        return parse_config(R"({"rev":1,"nodesExt":)" + repeated(R"({"services":{}})", count) + '}',
                            "h");
    };
    EXPECT_TRUE(with_nodes(max_nodes));
    EXPECT_FALSE(with_nodes(max_nodes + 1));
    EXPECT_FALSE(with_nodes(0));

    const auto with_rows = [&](std::size_t count) {
        return parse_config(
            broken(R"("vBucketMap":[[0,1],[1,0]],"vBucketMapForward":[[0,1],[1,0]])",
                   R"("vBucketMap":)" + repeated("[0]", count)),
            "h");
    };
    EXPECT_TRUE(with_rows(max_vbuckets));
    EXPECT_FALSE(with_rows(2 * max_vbuckets));

    const auto with_capabilities = [&](std::size_t count) {
        return parse_config(broken(R"(["x"])", repeated(R"("x")", count)), "h");
    };
    EXPECT_TRUE(with_capabilities(max_capabilities));
    EXPECT_FALSE(with_capabilities(max_capabilities + 1));

    std::string networks;
    for (std::size_t i = 0; i <= max_networks; ++i)
        networks += R"("n)" + std::to_string(i) + R"(":{"hostname":"e"},)";
    EXPECT_FALSE(parse_config(broken(R"("external":)", networks + R"("external":)"), "h"));

    std::string deep(200, '[');
    EXPECT_FALSE(parse_config(R"({"rev":1,"x":)" + deep, "h"));
    EXPECT_FALSE(parse_config(std::string(max_config_bytes + 1, ' '), "h"));
}

}  // namespace
}  // namespace holdfast::core::couchbase::bad_config_test
