// Facts that keep requests from being sent until they are mended from outside: a login that is
// rejected, a bucket that cannot be opened. Which operations hear of them, and when they go.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_terminal_facts_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::retry_reason;
using lab::activation;
using proof::kv_scene;
using proof::observing_strategy;
using proof::status_fault;
using proof::use_awaitable;

using reason_list = std::vector<retry_reason>;

/// A client whose operations wait, and whose strategy shows why.
std::shared_ptr<observing_strategy> connect_patiently(kv_scene& scene)
{
    auto strategy = std::make_shared<observing_strategy>();
    couchbase::cluster_options options;
    options.strategy = strategy;
    scene.connect(options);
    return strategy;
}

/// Breaks the connections to a node, so that the next request for it meets an obstacle.
void interrupt(kv_scene& scene, std::size_t node)
{
    scene.fault(node, kv_opcode::hello, proof::cut_fault(), activation::times(4));
    scene.simulation.reset_connections(scene.app, scene.host_of(node));
    scene.simulation.run_for(3ms);
}

TEST(couchbase_terminal_facts, rejected_login_is_the_reason_of_every_operation_until_one_succeeds)
{
    VERIFIES_BY_TRAFFIC("CR-031");
    VERIFIES_BY_TRAFFIC("CR-032");
    // What the RFC prints, and what servers send.
    for (const kv_status rejection : {kv_status::exists, kv_status::auth_error}) {
        kv_scene scene{{.nodes = 3}};
        scene.fault_everywhere(kv_opcode::sasl_auth, status_fault(rejection), activation::always());
        const auto strategy = connect_patiently(scene);
        const auto read = scene.start(scene.documents().get("a", {.timeout = 5s}, use_awaitable));
        const couchbase::raw_json content{"{}"};
        const auto stored = scene.start(
            scene.documents().upsert("a", content, {.timeout = 5s}, use_awaitable));
        scene.simulation.run_for(500ms);
        EXPECT_EQ(strategy->reasons(), reason_list{retry_reason::authentication_error});
        scene.clear_faults();
        ASSERT_TRUE(scene.finish([&] { return read->done() && stored->done(); }));
        EXPECT_TRUE(stored->good()) << stored->explain();
        EXPECT_LT(stored->took(), 2500ms);

        scene.simulation.run_for(3s);
        scene.warm_up();
        strategy->asked.clear();
        interrupt(scene, 0);
        EXPECT_TRUE(scene.upsert(scene.key_on(0), "{}")->good());
        EXPECT_EQ(strategy->reasons(), reason_list{retry_reason::socket_not_available})
            << "it is forgotten";
    }
}

TEST(couchbase_terminal_facts, login_that_breaks_off_or_is_refused_otherwise_is_not_one_of_them)
{
    VERIFIES_BY_TRAFFIC("CR-032");
    const lab::couchbase::kv_fault troubles[] = {
        proof::cut_fault(), proof::silent_fault(), status_fault(kv_status::internal),
        status_fault(kv_status::temporary_failure), status_fault(kv_status::busy)};
    for (const auto& trouble : troubles) {
        for (const kv_opcode step : {kv_opcode::sasl_auth, kv_opcode::sasl_step}) {
            kv_scene scene;
            scene.fault(0, step, trouble, activation::always());
            const auto strategy = connect_patiently(scene);
            const auto late = scene.get("a", {.timeout = 300ms});
            EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
            EXPECT_EQ(late->took(), 300ms);
            EXPECT_FALSE(strategy->was_asked_for(retry_reason::authentication_error));
            EXPECT_NE(late->error().message().find("n0:11210"), std::string::npos);
        }
    }
}

TEST(couchbase_terminal_facts, node_that_left_the_cluster_sets_no_fact)
{
    VERIFIES_BY_TRAFFIC("CR-034");
    for (const bool has_left : {true, false}) {
        SCOPED_TRACE(has_left ? "a stranger" : "a member");
        kv_scene scene{{.nodes = 2, .replicas = 1}};
        if (has_left) {
            ASSERT_TRUE(scene.cluster->fail_over(1));
        }
        // Its refusal comes when the configuration of the other is known already: connections of
        // a node that is in none do not follow the cluster.
        lab::couchbase::kv_fault late = status_fault(kv_status::auth_error);
        late.delay = 100ms;
        scene.fault(1, kv_opcode::sasl_auth, late, activation::always());
        const auto strategy = connect_patiently(scene);
        EXPECT_TRUE(scene.upsert(scene.key_on(0), "{}")->good());
        scene.simulation.run_for(300ms);
        strategy->asked.clear();
        interrupt(scene, 0);
        EXPECT_TRUE(scene.upsert(scene.key_on(0), "{}")->good());
        EXPECT_EQ(strategy->reasons(), reason_list{has_left ? retry_reason::socket_not_available
                                                            : retry_reason::authentication_error});
    }
}

TEST(couchbase_terminal_facts, bucket_without_rights_fails_at_once_and_others_are_not_affected)
{
    VERIFIES_BY_TRAFFIC("CR-035");
    VERIFIES_BY_TRAFFIC("CR-041");
    kv_scene scene{{.nodes = 3, .buckets = {"travel", "closed"}}};
    ASSERT_TRUE(scene.cluster->set_user("ada", "lovelace", {"travel"}));
    scene.connect();
    scene.warm_up();
    const auto closed = (*scene.client)["closed"].default_collection();
    const couchbase::raw_json content{"{}"};
    for (int n = 0; n != 3; ++n) {
        const auto refused = scene.run(closed.upsert("a", content, {}, use_awaitable));
        EXPECT_EQ(refused->code(), errc::generic_failure) << refused->explain();
        EXPECT_LT(refused->took(), 100ms);
        EXPECT_NE(refused->error().message().find("\"closed\""), std::string::npos)
            << refused->error().message();
        EXPECT_EQ(proof::labels_of(refused->error()).back(), "BUCKET_ACCESS_ERROR");
        EXPECT_TRUE(scene.get("warm1")->good());
        interrupt(scene, 0);
        const auto other = scene.upsert(scene.key_on(0), "{}");
        EXPECT_TRUE(other->good()) << other->explain();
        scene.simulation.run_for(2s);
    }
    // The rights come, and with the next attempt to select the bucket the fact goes.
    ASSERT_TRUE(scene.cluster->set_user("ada", "lovelace", {"travel", "closed"}));
    scene.simulation.run_for(1100ms);
    const auto opened = scene.run(closed.upsert("a", content, {}, use_awaitable));
    EXPECT_TRUE(opened->good()) << opened->explain();
}

TEST(couchbase_terminal_facts, bucket_that_one_node_of_three_lacks_is_no_error)
{
    VERIFIES_BY_TRAFFIC("CR-035");
    kv_scene scene{{.nodes = 3}};
    scene.fault(1, kv_opcode::select_bucket, status_fault(kv_status::not_found),
                activation::times(3));
    scene.connect();  // fails on terminal errors
    std::vector<proof::kv_run<couchbase::mutation_result>> all;
    const couchbase::raw_json content{"{}"};
    for (int n = 0; n != 60; ++n)
        all.push_back(scene.start(
            scene.documents().upsert("key" + std::to_string(n), content, {}, use_awaitable)));
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
    for (const auto& one : all)
        EXPECT_TRUE(one->good()) << one->explain();
}

TEST(couchbase_terminal_facts, names_are_reasons_for_documents_of_these_names_alone)
{
    VERIFIES_BY_TRAFFIC("CR-038");
    kv_scene scene{{.nodes = 2}};
    const auto strategy = connect_patiently(scene);
    scene.warm_up();
    const auto nowhere = (*scene.client)["nowhere"].default_collection();
    const auto no_scope = (*scene.client)["travel"]["lost"]["lost"];
    const auto no_collection = (*scene.client)["travel"].collection("lost");
    for (const auto& lost : {nowhere, no_scope, no_collection})
        (void)scene.run(lost.get("a", {.timeout = 300ms}, use_awaitable));
    EXPECT_EQ(strategy->reasons(),
              (reason_list{retry_reason::bucket_access_error, retry_reason::scope_not_found,
                           retry_reason::collection_not_found}));
    // What is asked of the cluster as such has no bucket, and is not kept from anything.
    const auto ready = scene.run(scene.client->ready({.timeout = 1s}, use_awaitable));
    EXPECT_TRUE(ready->good()) << ready->explain();
    const auto pinged = scene.run(scene.client->ping({}, use_awaitable));
    ASSERT_TRUE(pinged->good());
    for (const couchbase::endpoint_ping& one : (*pinged->outcome)->key_value)
        EXPECT_EQ(one.latency.has_value(), one.bucket != "nowhere") << one.error;
    strategy->asked.clear();
    interrupt(scene, 0);
    EXPECT_TRUE(scene.upsert(scene.key_on(0), "{}")->good());
    EXPECT_EQ(strategy->reasons(), reason_list{retry_reason::socket_not_available});
}

TEST(couchbase_terminal_facts, patient_change_goes_on_when_each_of_them_has_gone)
{
    VERIFIES_BY_TRAFFIC("CR-060");
    const couchbase::raw_json content{"{}"};
    const auto run = [&](const char* bucket, const char* scope, retry_reason expected,
                         const std::function<void(kv_scene&)>& break_it,
                         const std::function<void(kv_scene&)>& mend) {
        SCOPED_TRACE(name_of(expected));
        kv_scene scene;
        break_it(scene);
        const auto strategy = connect_patiently(scene);
        const auto place = (*scene.client)[bucket][scope]["c"];
        const auto waits = scene.start(place.upsert("a", content, {.timeout = 10s}, use_awaitable));
        scene.simulation.run_for(400ms);
        ASSERT_FALSE(waits->done()) << waits->explain();
        EXPECT_EQ(strategy->reasons(), reason_list{expected}) << "it is asked, and only for this";
        EXPECT_GE(strategy->asked.size(), 5u);
        EXPECT_FALSE(strategy->asked[0].idempotent);
        mend(scene);
        ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
        EXPECT_TRUE(waits->good()) << waits->explain();
        EXPECT_LT(waits->took(), 2500ms);
    };
    run(
        "travel", "_default", retry_reason::authentication_error,
        [](kv_scene& in) {
            in.cluster->create_collection("travel", "_default", "c");
            in.fault(0, kv_opcode::sasl_auth, status_fault(kv_status::auth_error),
                     activation::always());
        },
        [](kv_scene& in) { in.clear_faults(); });
    run(
        "later", "_default", retry_reason::bucket_access_error, [](kv_scene&) {},
        [](kv_scene& in) {
            ASSERT_TRUE(in.cluster->create_bucket("later"));
            in.cluster->create_collection("later", "_default", "c");
        });
    run(
        "travel", "s", retry_reason::scope_not_found, [](kv_scene&) {},
        [](kv_scene& in) {
            in.cluster->create_scope("travel", "s");
            in.cluster->create_collection("travel", "s", "c");
        });
    run(
        "travel", "_default", retry_reason::collection_not_found, [](kv_scene&) {},
        [](kv_scene& in) { in.cluster->create_collection("travel", "_default", "c"); });
}

}  // namespace
}  // namespace holdfast::couchbase_terminal_facts_test
