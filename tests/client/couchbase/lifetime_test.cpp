// Clusters, operations and executors that end in any order, and threads that share a cluster.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "support/verifies.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <chrono>
#include <list>
#include <thread>

namespace holdfast::couchbase_lifetime_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using lab::activation;
using proof::kv_scene;
using proof::use_awaitable;

using get_run = proof::kv_run<couchbase::document<couchbase::raw_json>>;

std::vector<get_run> start_many(kv_scene& scene, std::size_t count)
{
    std::vector<get_run> all;
    for (std::size_t n = 0; n != count; ++n)
        all.push_back(scene.start(
            scene.documents().get("key" + std::to_string(n), {.timeout = 2s}, use_awaitable)));
    return all;
}

bool have_all_ended(const std::vector<get_run>& all)
{
    return std::ranges::all_of(all, [](const get_run& one) { return one->done(); });
}

TEST(couchbase_lifetime, cluster_destroyed_at_any_moment_ends_all_operations_once)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        kv_scene scene{{.nodes = 2, .seed = seed}};
        scene.connect();
        const auto all = start_many(scene, 20);
        scene.simulation.run_for(std::chrono::microseconds{scene.simulation.random() % 30'000});
        scene.client.reset();
        ASSERT_TRUE(scene.finish([&] { return have_all_ended(all); })) << seed;
        scene.simulation.run_for(5s);
        EXPECT_EQ(scene.simulation.left().streams, 0u) << seed;
    }
}

TEST(couchbase_lifetime, executor_destroyed_at_any_moment_takes_everything_with_it)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        kv_scene scene{{.nodes = 2, .seed = seed}};
        scene.connect();
        const auto all = start_many(scene, 20);
        scene.simulation.run_for(std::chrono::microseconds{scene.simulation.random() % 30'000});
        const bool client_first = scene.simulation.random() % 2 == 0;
        if (client_first)
            scene.client.reset();
        scene.app.crash();
        scene.client.reset();
        scene.simulation.run_for(1s);
    }
}

TEST(couchbase_lifetime, cancellation_at_any_moment_ends_the_operation_at_once)
{
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
        kv_scene scene{{.nodes = 2, .seed = seed}};
        scene.cluster->create_collection("travel", "_default", "c");
        scene.connect();
        lab::couchbase::kv_fault busy;
        busy.error_code = static_cast<int>(kv_status::temporary_failure);
        scene.fault_everywhere(kv_opcode::get, busy, activation::times(2));
        const auto documents = (*scene.client)["travel"].collection("c");
        std::list<boost::asio::cancellation_signal> signals;
        int ended = 0;
        for (int n = 0; n != 5; ++n) {
            signals.emplace_back();
            auto token = boost::asio::bind_cancellation_slot(signals.back().slot(),
                                                             [&](const auto&) { ++ended; });
            documents.get("k" + std::to_string(n), {}, std::move(token));
        }
        scene.simulation.run_for(std::chrono::microseconds{scene.simulation.random() % 40'000});
        signals.front().emit(boost::asio::cancellation_type::terminal);
        signals.back().emit(boost::asio::cancellation_type::terminal);
        ASSERT_TRUE(scene.finish([&] { return ended == 5; })) << seed;
        // Whatever was cancelled, the others and later ones find all that they need.
        const auto later = scene.run(documents.get("later", {}, use_awaitable));
        EXPECT_EQ(later->code(), errc::document_not_found) << seed << later->explain();
    }
}

TEST(couchbase_lifetime, change_is_never_applied_twice_whenever_the_connection_is_cut)
{
    VERIFIES_BY_TRAFFIC("CR-003");
    VERIFIES_BY_TRAFFIC("CR-055");
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        kv_scene scene{{.nodes = 1, .seed = seed, .vbuckets = 64}};
        scene.connect();
        scene.warm_up();
        scene.count_requests(kv_opcode::upsert);
        const couchbase::raw_json content{"1"};
        const auto one = scene.start(scene.documents().upsert("a", content, {}, use_awaitable));
        const auto cut_at = std::chrono::microseconds{scene.simulation.random() % 3'000};
        scene.simulation.at_time(scene.simulation.now() + cut_at, [&] {
            scene.simulation.reset_connections(scene.app, scene.host_of(0));
        });
        ASSERT_TRUE(scene.finish([&] { return one->done(); })) << seed;
        scene.simulation.run_for(3s);
        const std::int64_t arrived = scene.counted(kv_opcode::upsert);
        EXPECT_LE(arrived, 1) << seed << one->explain();
        if (one->good()) {
            EXPECT_EQ(arrived, 1) << seed;
        } else {
            EXPECT_EQ(one->code(), errc::request_canceled) << seed;
            EXPECT_LT(one->took(), cut_at + 50ms) << seed;
            EXPECT_EQ(one->error().context("may_have_been_applied"), "true") << seed;
        }
        EXPECT_TRUE(scene.upsert("b", "1")->good()) << seed;
    }
}

runtime::awaitable<void> read_and_write(couchbase::collection in, int id, int count,
                                        std::atomic<int>* good)
{
    const std::string key = "key" + std::to_string(id);
    const couchbase::raw_json content{R"({"n":1})"};
    for (int n = 0; n != count; ++n) {
        const auto stored = co_await in.upsert(key, content, {}, use_awaitable);
        const auto found = co_await in.get(key, {}, use_awaitable);
        if (stored && found && found->content.text() == content.text())
            ++*good;
    }
}

TEST(couchbase_lifetime, threads_share_one_cluster_on_sockets)
{
    auto lab = lab::couchbase_cluster::start({.nodes = 2, .buckets = {"travel"}}).value();
    boost::asio::io_context loop{4};
    couchbase::cluster_options options;
    options.authenticator = couchbase::password{"Administrator", "password"};
    std::optional<couchbase::cluster> db;
    db.emplace(loop.get_executor(), lab.uri(), options);
    const auto documents = (*db)["travel"].default_collection();
    constexpr int workers = 32;
    constexpr int rounds = 200;
    std::atomic<int> good{0};
    std::atomic<int> left{workers};
    for (int n = 0; n != workers; ++n) {
        // Some on the loop itself, where replies resume them inline, some on strands.
        const boost::asio::any_io_executor on =
            n % 2 == 0 ? boost::asio::any_io_executor{loop.get_executor()}
                       : boost::asio::any_io_executor{boost::asio::make_strand(loop)};
        boost::asio::co_spawn(
            on, read_and_write(documents, n, rounds, &good), [&](std::exception_ptr) {
                if (--left == 0)
                    boost::asio::co_spawn(loop, db->close(), [](std::exception_ptr) {});
            });
    }
    std::vector<std::thread> threads;
    for (int n = 0; n != 4; ++n)
        threads.emplace_back([&] { loop.run(); });
    for (std::thread& one : threads)
        one.join();
    EXPECT_EQ(good, workers * rounds);
}

}  // namespace
}  // namespace holdfast::couchbase_lifetime_test
