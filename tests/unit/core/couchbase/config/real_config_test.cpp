// Configurations as real servers sent them. They are not part of this project: where they are not
// to be found, the tests say so and are skipped.
#include "core/couchbase/config/network.hpp"
#include "core/couchbase/config/offer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::core::couchbase::real_config_test {
namespace {

std::filesystem::path folder()
{
    auto root = std::filesystem::path{__FILE__};
    for (int up = 0; up < 6; ++up)
        root = root.parent_path();
    return root / ".." / "shared" / "couchbase-data";
}

std::string read(const std::string& name)
{
    std::ifstream in{folder() / name};
    return {std::istreambuf_iterator<char>{in}, {}};
}

class real_config : public testing::Test {
protected:
    void SetUp() override
    {
        if (!std::filesystem::is_directory(folder()))
            GTEST_SKIP() << folder() << " is not here: no configuration of a real server is read";
    }

    static cluster_config parsed(const std::string& name)
    {
        auto made = parse_config(read(name), "192.0.2.1");
        EXPECT_TRUE(made) << name << ": " << (made ? "" : made.error().message());
        return made ? *std::move(made) : cluster_config{};
    }
};

TEST_F(real_config, every_terse_configuration_parses_and_peeks_to_the_same_revision)
{
    struct row {
        std::string name;
        config_revision revision;
        std::size_t nodes;
    };
    const row table[] = {
        {"gocaves/bucket_terseconfig_70.json", {{}, 120}, 1},
        {"gocbcore/bucket_config_with_app_telemetry.json", {1, 1100}, 3},
        {"gocbcore/bucket_config_with_external_addresses.json", {{}, 1073}, 3},
        {"gocbcore/bucket_config_with_external_addresses_without_ports.json", {{}, 1073}, 3},
        {"gocbcore/bucket_config_with_node_uuids.json", {1, 134}, 3},
        {"gocbcore/bucket_config_with_rev_epoch.json", {2, 2}, 1},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.name);
        const auto config = parsed(r.name);
        EXPECT_EQ(config.revision, r.revision);
        EXPECT_EQ(peek_revision(read(r.name)), r.revision);
        EXPECT_EQ(config.nodes.size(), r.nodes);
        ASSERT_TRUE(config.bucket);
        EXPECT_EQ(config.bucket->map.size, 1024U);
        EXPECT_EQ(config.bucket->map.replicas, 1U);
        EXPECT_EQ(config.bucket->map.nodes.size(), 2048U);
        EXPECT_TRUE(has_capability(config.bucket->capabilities, "cccp"));
        EXPECT_TRUE(config.nodes[0].has_bucket);
        EXPECT_EQ(config.nodes[0].ports.of(service_type::key_value, false), 11210);
        EXPECT_EQ(config.nodes[0].ports.of(service_type::key_value, true), 11207);
    }
}

TEST_F(real_config, nodes_have_their_hosts_groups_and_ids)
{
    const auto uuids = parsed("gocbcore/bucket_config_with_node_uuids.json");
    ASSERT_EQ(uuids.nodes.size(), 3U);
    EXPECT_EQ(uuids.nodes[0].host, "192.168.106.128");
    EXPECT_EQ(uuids.nodes[0].server_group, "Group 1");
    EXPECT_EQ(uuids.nodes[0].uuid, "2ef565f7abff0a3f827cb2ab31dfcdc4");
    EXPECT_TRUE(uuids.nodes[1].is_this_node);
    const auto alone = parsed("gocbcore/bucket_config_with_rev_epoch.json");
    ASSERT_EQ(alone.nodes.size(), 1U);
    EXPECT_EQ(alone.nodes[0].host, "192.0.2.1") << "the host that was dialled";
    EXPECT_EQ(alone.bucket->name, "travel-sample");
    EXPECT_EQ(alone.bucket->manifest_uid, 1U);
}

TEST_F(real_config, external_addresses_are_found_by_the_seed)
{
    const auto config = parsed("gocbcore/bucket_config_with_external_addresses.json");
    const seed_address outside{"192.168.132.234", 32799};
    EXPECT_EQ(choose_network(config, "auto", outside), "external");
    EXPECT_EQ(choose_network(config, "auto", {"172.17.0.3", 11210}), "default");
    EXPECT_EQ(address_of(config.nodes[1], "external", service_type::key_value, true),
              endpoint{"192.168.132.234:32800"});
    const auto without = parsed(
        "gocbcore/bucket_config_with_external_addresses_without_ports.json");
    EXPECT_EQ(address_of(without.nodes[1], "external", service_type::key_value, true),
              endpoint{"192.168.132.234:11207"});
}

/// What the management service has for people lacks a revision, and can not be compared.
TEST_F(real_config, verbose_descriptions_are_refused)
{
    for (const char* const name :
         {"gocaves/bucket_config_70.json", "gocaves/cluster_config_70.json"}) {
        const auto refused = parse_config(read(name), "192.0.2.1");
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().context("path"), "rev");
    }
}

}  // namespace
}  // namespace holdfast::core::couchbase::real_config_test
