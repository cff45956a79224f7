// Scopes and collections that are not there, come, go, and come again, and nodes that hear of it
// late.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "core/couchbase/wire/leb128.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <set>

namespace holdfast::couchbase_collections_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::raw_json;
using couchbase::retry_reason;
using lab::activation;
using proof::kv_scene;
using proof::labels_of;
using proof::observing_strategy;
using proof::status_fault;
using proof::use_awaitable;

TEST(couchbase_collections, unknown_names_fail_at_once_after_one_look_up)
{
    VERIFIES_BY_TRAFFIC("CR-042");
    VERIFIES_BY_TRAFFIC("CR-043");
    VERIFIES_BY_TRAFFIC("CR-082");
    kv_scene scene;
    scene.connect();
    scene.warm_up();
    scene.count_requests(kv_opcode::get_collection_id);
    const raw_json content{"{}"};
    struct row {
        couchbase::collection in;
        errc code;
        const char* reason;
        const char* name;
    };
    const auto travel = (*scene.client)["travel"];
    const row table[] = {
        {travel.collection("lost"), errc::collection_not_found, "COLLECTION_NOT_FOUND", "\"lost\""},
        {travel["gone"]["lost"], errc::scope_not_found, "SCOPE_NOT_FOUND", "\"gone\""},
    };
    for (const row& one : table) {
        const auto read = scene.run(one.in.get("a", {}, use_awaitable));
        EXPECT_EQ(read->code(), one.code) << read->explain();
        EXPECT_EQ(read->took(), 2ms) << "the look-up, and nothing else";
        EXPECT_EQ(labels_of(read->error()), std::vector<std::string>{one.reason});
        EXPECT_NE(read->error().message().find(one.name), std::string::npos);
        const auto stored = scene.run(one.in.upsert("a", content, {}, use_awaitable));
        EXPECT_EQ(stored->code(), one.code) << stored->explain();
        EXPECT_EQ(stored->took(), 2ms);
        EXPECT_EQ(stored->error().context("may_have_been_applied"), "false");
    }
    EXPECT_EQ(scene.counted(kv_opcode::get_collection_id), 4) << "one each: it is an answer";
}

TEST(couchbase_collections, names_are_not_missing_before_a_node_has_said_so)
{
    VERIFIES_BY_TRAFFIC("CR-036");
    VERIFIES_BY_TRAFFIC("CR-037");
    const lab::couchbase::kv_fault troubles[] = {proof::silent_fault(), proof::cut_fault(),
                                                 status_fault(kv_status::temporary_failure)};
    for (const auto& trouble : troubles) {
        for (const bool no_scope : {true, false}) {
            kv_scene scene;
            scene.fault(0, kv_opcode::get_collection_id, trouble, activation::always());
            const auto strategy = std::make_shared<observing_strategy>();
            couchbase::cluster_options options;
            options.strategy = strategy;
            scene.connect(options);
            const auto lost = (*scene.client)["travel"][no_scope ? "gone" : "_default"]["lost"];
            const auto early = scene.run(lost.get("a", {.timeout = 500ms}, use_awaitable));
            EXPECT_EQ(early->code(), errc::unambiguous_timeout) << early->explain();
            EXPECT_FALSE(strategy->was_asked_for(retry_reason::scope_not_found));
            EXPECT_FALSE(strategy->was_asked_for(retry_reason::collection_not_found));

            scene.clear_faults();
            scene.simulation.run_for(2s);
            strategy->asked.clear();
            (void)scene.run(lost.get("a", {.timeout = 500ms}, use_awaitable));
            EXPECT_EQ(strategy->reasons(),
                      std::vector<retry_reason>{no_scope ? retry_reason::scope_not_found
                                                         : retry_reason::collection_not_found});
        }
    }
}

TEST(couchbase_collections, name_that_is_made_while_operations_wait_is_used)
{
    VERIFIES_BY_TRAFFIC("CR-036");
    VERIFIES_BY_TRAFFIC("CR-037");
    VERIFIES_BY_TRAFFIC("CR-060");
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    const couchbase::retry_strategy_ptr patient =
        std::make_shared<couchbase::best_effort_retry_strategy>();
    const auto place = (*scene.client)["travel"]["s"]["c"];
    const raw_json content{"{}"};
    std::vector<proof::kv_run<couchbase::mutation_result>> all;
    for (int n = 0; n != 20; ++n)
        all.push_back(scene.start(place.upsert("k" + std::to_string(n), content,
                                               {.timeout = 5s, .strategy = &patient},
                                               use_awaitable)));
    // The same operation by the default strategy is over at once.
    const auto refused = scene.run(place.upsert("x", content, {}, use_awaitable));
    EXPECT_EQ(refused->code(), errc::scope_not_found) << refused->explain();
    scene.simulation.run_for(200ms);
    scene.cluster->create_scope("travel", "s");
    scene.simulation.run_for(200ms);
    EXPECT_EQ(scene.run(place.upsert("x", content, {}, use_awaitable))->code(),
              errc::collection_not_found);
    EXPECT_TRUE(std::ranges::none_of(all, [](const auto& one) { return one->done(); }));
    scene.cluster->create_collection("travel", "s", "c");
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
    for (const auto& one : all) {
        EXPECT_TRUE(one->good()) << one->explain();
        EXPECT_LT(one->took(), 400ms + 510ms) << "at its next attempt";
    }
}

/// Reads and writes without an end, and keeps what went wrong.
struct collection_traffic {
    bool stopped = false;
    int running = 0;
    int reads = 0;
    std::vector<std::string> errors = {};
};

runtime::awaitable<void> read_and_write(couchbase::collection in, int id, collection_traffic* of)
{
    ++of->running;
    for (int n = 0; !of->stopped; ++n) {
        const std::string key = "k" + std::to_string(id) + "_" + std::to_string(n % 20);
        const raw_json content{std::to_string(n)};
        const auto stored = co_await in.upsert(key, content, {}, use_awaitable);
        const auto found = co_await in.get(key, {}, use_awaitable);
        ++of->reads;
        if (!stored)
            of->errors.push_back(stored.error().explain());
        // The documents of a collection that was dropped are gone.
        if (!found && found.error().code() != errc::document_not_found)
            of->errors.push_back(found.error().explain());
    }
    --of->running;
}

class couchbase_recreated_collection : public ::testing::Test {
protected:
    couchbase_recreated_collection()
    {
        scene.cluster->create_collection("travel", "_default", "airline");
        scene.connect();
        scene.warm_up();
        const auto in = (*scene.client)["travel"].collection("airline");
        for (int n = 0; n != 8; ++n)
            boost::asio::co_spawn(scene.app.world().executor(), read_and_write(in, n, &traffic),
                                  boost::asio::detached);
        scene.watch_requests(kv_opcode::get, [this](const auto& one) {
            const auto octets = core::couchbase::as_octets(one.key);
            if (const auto split = core::couchbase::split_collection_key(octets))
                ids.push_back(split->collection);
        });
        scene.simulation.run_for(100ms);
    }
    void recreate()
    {
        scene.cluster->drop_collection("travel", "_default", "airline");
        scene.cluster->create_collection("travel", "_default", "airline");
    }
    void stop()
    {
        traffic.stopped = true;
        ASSERT_TRUE(scene.finish([&] { return traffic.running == 0; }));
        EXPECT_TRUE(traffic.errors.empty())
            << traffic.errors.size() << " of " << traffic.reads << ": " << traffic.errors.front();
    }

    kv_scene scene{{.nodes = 3, .replicas = 1}};
    collection_traffic traffic;
    std::vector<std::uint32_t> ids;  // of the collections that gets were for
};

TEST_F(couchbase_recreated_collection, no_operation_fails_and_the_new_id_is_used)
{
    VERIFIES_BY_TRAFFIC("CR-053");
    VERIFIES_BY_TRAFFIC("CR-082");
    ASSERT_FALSE(ids.empty());
    const std::uint32_t old_id = ids.front();
    EXPECT_EQ(std::set(ids.begin(), ids.end()), std::set{old_id});
    for (int n = 0; n != 5; ++n) {
        recreate();
        scene.simulation.run_for(100ms);
    }
    ids.clear();
    const int before = traffic.reads;
    scene.simulation.run_for(200ms);
    EXPECT_GE(traffic.reads, before + 8 * 40) << "4 ms each: nothing waits";
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 1u);
    EXPECT_NE(ids.front(), old_id);
    stop();
}

TEST_F(couchbase_recreated_collection, node_that_hears_of_it_late_fails_no_operation)
{
    VERIFIES_BY_TRAFFIC("CR-053");
    VERIFIES_BY_TRAFFIC("CR-082");
    const std::uint32_t old_id = ids.front();
    scene.cluster->hold_manifest(1, true);
    recreate();
    scene.simulation.run_for(300ms);
    scene.cluster->hold_manifest(1, false);
    scene.simulation.run_for(1s);
    ids.clear();
    scene.simulation.run_for(100ms);
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 1u);
    EXPECT_NE(ids.front(), old_id);
    stop();
}

TEST(couchbase_collections, new_name_is_known_to_the_client_before_a_node_has_heard_of_it)
{
    VERIFIES_BY_TRAFFIC("CR-082");
    kv_scene scene{{.nodes = 2}};
    scene.connect();  // fails on terminal errors
    scene.warm_up();
    scene.cluster->hold_manifest(1, true);
    scene.cluster->create_collection("travel", "_default", "late");
    const auto late = (*scene.client)["travel"].collection("late");
    const raw_json content{"{}"};
    const auto first = scene.run(late.upsert(scene.key_on(0), content, {}, use_awaitable));
    EXPECT_TRUE(first->good()) << first->explain();
    const auto waits = scene.start(late.upsert(scene.key_on(1), content, {}, use_awaitable));
    scene.simulation.run_for(100ms);
    EXPECT_FALSE(waits->done()) << waits->explain();
    scene.cluster->hold_manifest(1, false);
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
    EXPECT_LT(waits->took(), 200ms);
}

}  // namespace
}  // namespace holdfast::couchbase_collections_test
