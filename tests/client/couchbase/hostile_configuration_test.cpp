// Nodes whose configurations make no sense: they are refused, and a client that has a good one
// stays with it.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/kv/names.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <mutex>

namespace holdfast::couchbase_hostile_configuration_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::errc;
using lab::couchbase::config_damage;
using proof::kv_scene;
using proof::use_awaitable;

/// Keeps why configurations were refused.
class refusals : public couchbase::event_listener {
public:
    void on(const couchbase::config_refused& one) override { causes.push_back(one.cause); }

    std::vector<std::string> causes;
};

void damage_all(kv_scene& scene, config_damage what)
{
    for (std::size_t n = 0; n != scene.cluster->nodes(); ++n)
        scene.node(n).damage = what;
}

class couchbase_hostile_configuration : public ::testing::TestWithParam<const char*> {
protected:
    couchbase::cluster_options heard()
    {
        couchbase::cluster_options options;
        options.listeners.push_back(heard_);
        return options;
    }
    config_damage damage() const { return *lab::couchbase::config_damage_named(GetParam()); }

    std::shared_ptr<refusals> heard_ = std::make_shared<refusals>();
};

TEST_P(couchbase_hostile_configuration, client_with_a_good_one_is_not_disturbed)
{
    VERIFIES("CR-081");
    kv_scene scene{{.nodes = 3, .replicas = 1}};
    scene.connect(heard());
    scene.warm_up();
    damage_all(scene, damage());
    for (int n = 0; n != 3; ++n) {
        scene.cluster->publish();
        scene.simulation.run_for(100ms);
    }
    for (int n = 0; n != 20; ++n) {
        const auto one = scene.upsert("key" + std::to_string(n), "{}", {.timeout = 1s});
        ASSERT_TRUE(one->good()) << one->explain();
        ASSERT_LT(one->took(), 10ms);
    }
    // And it takes the next good one.
    damage_all(scene, config_damage::none);
    ASSERT_TRUE(scene.cluster->fail_over(2));
    for (int n = 0; n != 20; ++n) {
        const auto one = scene.get("key" + std::to_string(n), {.timeout = 2s});
        ASSERT_TRUE(one->good() || one->code() == errc::document_not_found) << one->explain();
    }
}

TEST_P(couchbase_hostile_configuration, client_without_one_ends_in_time_and_recovers)
{
    kv_scene scene{{.nodes = 2}};
    damage_all(scene, damage());
    scene.connect(heard());
    const auto first = scene.get("key", {.timeout = 1s});
    EXPECT_LE(first->took(), 1s);
    EXPECT_TRUE(first->code() == errc::unambiguous_timeout ||
                first->code() == errc::document_not_found)
        << first->explain();
    damage_all(scene, config_damage::none);
    scene.cluster->publish();
    const auto second = scene.upsert("key", "{}", {.timeout = 10s});
    EXPECT_TRUE(second->good()) << second->explain();
}

INSTANTIATE_TEST_SUITE_P(all, couchbase_hostile_configuration,
                         ::testing::Values("no_extended_nodes", "short_rows", "index_out_of_range",
                                           "all_missing", "no_vbuckets", "no_servers",
                                           "older_revision", "other_name", "not_json"),
                         [](const auto& of) { return std::string{of.param}; });

TEST(couchbase_hostile_refusal, configuration_that_is_refused_is_reported_with_its_cause)
{
    kv_scene scene{{.nodes = 2}};
    const auto heard = std::make_shared<refusals>();
    couchbase::cluster_options options;
    options.listeners.push_back(heard);
    scene.connect(options);
    scene.warm_up();
    for (const char* const name : {"index_out_of_range", "not_json", "no_servers"}) {
        heard->causes.clear();
        damage_all(scene, *lab::couchbase::config_damage_named(name));
        scene.cluster->publish();
        scene.simulation.run_for(100ms);
        ASSERT_FALSE(heard->causes.empty()) << name;
        EXPECT_FALSE(heard->causes.front().empty());
    }
    damage_all(scene, config_damage::none);
}

/// What NOT_MY_VBUCKET carries is as little to be trusted.
TEST(couchbase_hostile_refusal, garbage_in_not_my_vbucket_is_one_failed_attempt_and_no_more)
{
    VERIFIES("CR-081");
    for (const char* const body : {"{", "{\"rev\":9999999}", "null", "[]",
                                   "{\"rev\":9999999,\"revEpoch\":7,\"name\":\"travel\"}"}) {
        kv_scene scene{{.nodes = 2}};
        scene.connect();
        scene.warm_up();
        lab::couchbase::kv_fault refusal;
        refusal.error_code = 0x07;
        refusal.close_connection = false;
        refusal.body = body;
        scene.fault_everywhere(kv_opcode::upsert, refusal, lab::activation::times(1));
        const auto one = scene.upsert("key", "{}", {.timeout = 1s});
        ASSERT_TRUE(one->good()) << body << '\n' << one->explain();
        EXPECT_LT(one->took(), 20ms) << body;
    }
}

}  // namespace
}  // namespace holdfast::couchbase_hostile_configuration_test
