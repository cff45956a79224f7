// The blocking client on sockets: each thread has a connection for itself while it waits.
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "support/certificates.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::couchbase_sync_connections_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::raw_json;
namespace cb = couchbase;

const raw_json content{R"({"n":1})"};

lab::couchbase_options two_nodes()
{
    lab::couchbase_options options;
    options.nodes = 2;
    options.replicas = 1;
    options.buckets = {"travel"};
    return options;
}

cb::cluster_options login()
{
    cb::cluster_options options;
    options.authenticator = cb::password{"Administrator", secret{"password"}};
    return options;
}

class couchbase_sync_connections : public ::testing::Test {
protected:
    /// From now on requests for documents of this name are carried out, and not answered.
    void silence(const std::string& key)
    {
        lab::couchbase_fault fault;
        fault.key_prefix = key;
        fault.silent = true;
        ASSERT_TRUE(lab.set_fault(key, fault));
    }
    void wait_for_hit(const std::string& key) const
    {
        while (lab.fault_hits(key) == 0)
            std::this_thread::yield();
    }

    lab::couchbase_cluster lab = lab::couchbase_cluster::start(two_nodes()).value();
    cb::sync::cluster db{lab.uri(), login()};
    cb::sync::collection all = db["travel"].default_collection();
};

TEST_F(couchbase_sync_connections, reply_that_does_not_come_ends_with_the_timeout)
{
    all.upsert("slow", content);
    silence("slow");
    const auto late = all.try_get("slow", {.timeout = 100ms});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), errc::unambiguous_timeout);
    const auto stored = all.try_upsert("slow", content, {.timeout = 100ms});
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code(), errc::ambiguous_timeout);
    lab.clear_faults();
    EXPECT_EQ(all.get("slow").content, content);
}

TEST_F(couchbase_sync_connections, close_ends_a_thread_that_waits_for_its_reply)
{
    all.upsert("slow", content);
    silence("slow");
    std::optional<error_code> code;
    std::jthread waits{[&] {
        const auto late = all.try_get("slow", {.timeout = 60s});
        code = late ? error_code{} : late.error().code();
    }};
    wait_for_hit("slow");
    db.close();
    waits.join();
    EXPECT_EQ(code, errc::closed);
}

TEST_F(couchbase_sync_connections, crash_cuts_a_write_in_flight_and_repeats_no_write)
{
    all.upsert("slow", content);
    silence("slow");
    std::optional<error> cut;
    std::jthread waits{[&] {
        auto late = all.try_upsert("slow", content, {.timeout = 60s});
        if (!late)
            cut = std::move(late).error();
    }};
    wait_for_hit("slow");
    ASSERT_TRUE(lab.crash(0));
    ASSERT_TRUE(lab.crash(1));
    waits.join();
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->code(), errc::request_canceled) << cut->explain();
    EXPECT_EQ(cut->context("may_have_been_applied"), "true");
    EXPECT_EQ(lab.fault_hits("slow"), 1);
    lab.clear_faults();
    ASSERT_TRUE(lab.restart(0));
    ASSERT_TRUE(lab.restart(1));
    EXPECT_TRUE(all.try_upsert("slow", content, {.timeout = 20s}));
}

TEST_F(couchbase_sync_connections, more_threads_than_connections_wait_in_line)
{
    constexpr int threads = 48;
    constexpr int times = 40;
    std::atomic<int> good{0};
    {
        std::vector<std::jthread> running;
        for (int n = 0; n != threads; ++n)
            running.emplace_back([this, n, &good] {
                const std::string key = "key" + std::to_string(n);
                for (int i = 0; i != times; ++i)
                    good += all.try_upsert(key, content) && all.try_get(key);
            });
    }
    EXPECT_EQ(good, threads * times);
}

TEST_F(couchbase_sync_connections, rebalance_and_failover_fail_no_operation)
{
    std::atomic<bool> stop{false};
    std::atomic<int> done{0};
    std::atomic<int> failed{0};
    std::vector<std::jthread> running;
    for (int n = 0; n != 4; ++n)
        running.emplace_back([this, n, &stop, &done, &failed] {
            const std::string key = "key" + std::to_string(n) + '_';
            for (int i = 0; !stop; ++i) {
                const bool good = all.try_upsert(key + std::to_string(i % 64), content).has_value();
                ++(good ? done : failed);
            }
        });
    ASSERT_TRUE(lab.add_node());
    EXPECT_TRUE(lab.rebalance());
    EXPECT_TRUE(lab.fail_over(0));
    EXPECT_TRUE(lab.rebalance());
    const int so_far = done;
    while (done < so_far + 200 && failed == 0)
        std::this_thread::yield();
    stop = true;
    running.clear();
    EXPECT_EQ(failed, 0);
    EXPECT_GT(done, 200);
}

TEST(couchbase_sync_over_tls, documents_are_stored_and_read)
{
    auto options = two_nodes();
    options.tls_certificate = proof::certificates::file("server.pem");
    auto lab = lab::couchbase_cluster::start(options).value();
    const std::string trusted = "?trust_certificate=" + proof::certificates::file("ca.pem");
    const cb::sync::cluster db{lab.tls_uri() + trusted, login()};
    const auto all = db["travel"].default_collection();
    for (int n = 0; n != 20; ++n)
        all.upsert("key" + std::to_string(n), content);
    for (int n = 0; n != 20; ++n)
        EXPECT_EQ(all.get("key" + std::to_string(n)).content, content);
    EXPECT_FALSE(all.get_if("none"));
}

}  // namespace
}  // namespace holdfast::couchbase_sync_connections_test
