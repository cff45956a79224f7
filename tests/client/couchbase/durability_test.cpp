// Durable writes on a bucket with replicas.
#include "client/couchbase/operation_fixture.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>

namespace holdfast::couchbase_durability_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::durability;
using couchbase::errc;
using couchbase::raw_json;
using proof::kv_scene;
using proof::use_awaitable;
namespace cb = couchbase;

constexpr durability levels[] = {durability::majority, durability::majority_and_persist_to_active,
                                 durability::persist_to_majority};

class couchbase_durability : public proof::operation_fixture {
protected:
    couchbase_durability() : operation_fixture{{.nodes = 3, .replicas = 2}}
    {
        const raw_json content{"{}"};
        good(all.upsert("warm", content, {}, use_awaitable));
    }
};

TEST_F(couchbase_durability, every_kind_of_change_is_made_at_every_level)
{
    const raw_json content{R"({"n":1})"};
    const cb::changes edit{cb::upsert("n", 2)};
    for (const durability level : levels) {
        good(all.insert("a", content, {.durability = level}, use_awaitable));
        good(all.upsert("a", content, {.durability = level}, use_awaitable));
        good(all.replace("a", content, {.durability = level}, use_awaitable));
        good(all.mutate_in("a", edit, {.durability = level}, use_awaitable));
        good(all.append("a", " ", {.durability = level}, use_awaitable));
        good(all.prepend("a", " ", {.durability = level}, use_awaitable));
        EXPECT_EQ(good(all.get("a", {}, use_awaitable)).content.text(), R"( {"n":2} )");
        good(all.remove("a", {.durability = level}, use_awaitable));
        good(all.increment("n", {.initial = 1, .durability = level}, use_awaitable));
        good(all.decrement("n", {.initial = 1, .durability = level}, use_awaitable));
    }
}

TEST_F(couchbase_durability, durable_change_survives_the_failover_of_its_node)
{
    const raw_json content{R"({"n":1})"};
    for (std::size_t n = 0; n != 8; ++n)
        good(all.upsert("k" + std::to_string(n), content, {.durability = durability::majority},
                        use_awaitable));
    ASSERT_TRUE(scene.cluster->fail_over(1));
    for (std::size_t n = 0; n != 8; ++n)
        EXPECT_EQ(good(all.get("k" + std::to_string(n), {}, use_awaitable)).content, content);
}

TEST_F(couchbase_durability, change_that_too_few_replicas_could_have_is_impossible)
{
    // Of three copies two are gone: the majority cannot be reached.
    ASSERT_TRUE(scene.cluster->fail_over(1));
    ASSERT_TRUE(scene.cluster->fail_over(2));
    const raw_json content{"1"};
    good(all.upsert("a", content, {}, use_awaitable));
    scene.count_requests(kv_opcode::upsert);
    const auto refused = scene.run(
        all.upsert("a", content, {.durability = durability::majority}, use_awaitable));
    EXPECT_EQ(refused->code(), errc::durability_impossible) << refused->explain();
    EXPECT_EQ(refused->error().context("may_have_been_applied"), "false");
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 1);
}

TEST_F(couchbase_durability, change_that_waits_for_replicas_in_vain_is_ambiguous)
{
    for (std::size_t n = 0; n != 3; ++n)
        scene.cluster->hold_replication(n, true);
    const raw_json content{"1"};
    const auto doubt = scene.run(all.upsert(
        "a", content, {.timeout = 4s, .durability = durability::majority}, use_awaitable));
    EXPECT_EQ(doubt->code(), errc::durability_ambiguous) << doubt->explain();
    EXPECT_LT(doubt->took(), 4s) << "the server gives up before the client does";
    EXPECT_GE(doubt->took(), 3600ms);
    EXPECT_EQ(doubt->error().context("may_have_been_applied"), "true");
}

TEST_F(couchbase_durability, change_waits_for_a_durable_one_that_is_under_way)
{
    VERIFIES_BY_TRAFFIC("CR-058");
    VERIFIES_BY_TRAFFIC("CR-084");
    for (std::size_t n = 0; n != 3; ++n)
        scene.cluster->hold_replication(n, true);
    const raw_json first{"1"};
    const raw_json second{"2"};
    const auto durable = scene.start(
        all.upsert("a", first, {.durability = durability::majority}, use_awaitable));
    scene.simulation.run_for(10ms);
    const auto other = scene.start(all.upsert("a", second, {}, use_awaitable));
    scene.simulation.run_for(300ms);
    EXPECT_FALSE(durable->done());
    EXPECT_FALSE(other->done());
    for (std::size_t n = 0; n != 3; ++n)
        scene.cluster->hold_replication(n, false);
    ASSERT_TRUE(scene.finish([&] { return durable->done() && other->done(); }));
    EXPECT_TRUE(durable->good()) << durable->explain();
    EXPECT_TRUE(other->good()) << other->explain();
    EXPECT_EQ(good(all.get("a", {}, use_awaitable)).content, second);
}

TEST_F(couchbase_durability, durable_change_has_the_longer_timeout)
{
    lab::couchbase::kv_fault silent;
    silent.silent = true;
    scene.fault_everywhere(kv_opcode::upsert, silent, lab::activation::always());
    const raw_json content{"1"};
    const auto late = scene.run(
        all.upsert("a", content, {.durability = durability::majority}, use_awaitable));
    EXPECT_EQ(late->code(), errc::ambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 10s);
}

}  // namespace
}  // namespace holdfast::couchbase_durability_test
