// How long a get takes while the vbuckets of a whole bucket move.
#include "client/couchbase/kv_scene.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace holdfast::couchbase_latency_test {
namespace {

using namespace std::chrono_literals;
using proof::kv_scene;
using proof::use_awaitable;

constexpr int readers = 16;
constexpr int keys = 500;

class couchbase_latency : public ::testing::Test {
protected:
    couchbase_latency() { scene_.simulation.set_all_links({}); }
    ~couchbase_latency() override
    {
        stopped_ = true;
        scene_.finish([this] { return running_ == 0; });
    }

    void begin(const std::string& options = {})
    {
        scene_.connect({}, options);
        for (int n = 0; n != keys; ++n)
            ASSERT_TRUE(scene_.upsert("k" + std::to_string(n), "{}")->good());
        for (int n = 0; n != readers; ++n)
            boost::asio::co_spawn(scene_.app.world().executor(), read(n), boost::asio::detached);
    }

    /// Of all gets that end within it.
    duration p99_of(const std::function<void()>& what)
    {
        took_.clear();
        what();
        EXPECT_GT(took_.size(), 1000U);
        EXPECT_EQ(failed_, 0);
        const auto at = took_.begin() + static_cast<std::ptrdiff_t>(took_.size() * 99 / 100);
        std::ranges::nth_element(took_, at);
        return *at;
    }

    duration quiet_p99()
    {
        return p99_of([this] { scene_.simulation.run_for(500ms); });
    }

    /// All that a fourth node gets of 1024 vbuckets and their replicas.
    duration p99_in_rebalance()
    {
        sim::host& fresh = scene_.simulation.add_host("n3");
        scene_.hosts.push_back(&fresh);
        EXPECT_TRUE(scene_.cluster->add_node({&fresh.world(), "n3", "n3", 11210}));
        std::optional<result<void>> done;
        return p99_of([&] {
            scene_.host_of(0).start(rebalance(done));
            EXPECT_TRUE(scene_.finish([&] { return done.has_value(); }));
            EXPECT_TRUE(done->has_value());
        });
    }

    static duration bound(duration quiet) { return 3 * quiet + 12ms; }

    kv_scene scene_{{.nodes = 3, .replicas = 1}};

private:
    runtime::awaitable<void> rebalance(std::optional<result<void>>& done)
    {
        auto moved = co_await scene_.cluster->rebalance();
        done.emplace(std::move(moved));
    }

    runtime::awaitable<void> read(int id)
    {
        ++running_;
        const auto documents = scene_.documents();
        for (int n = id; !stopped_; n += readers) {
            const std::string key = "k" + std::to_string(n % keys);
            const time_point began = scene_.simulation.now();
            const auto found = co_await documents.get(key, {.timeout = 5s}, use_awaitable);
            took_.push_back(scene_.simulation.now() - began);
            failed_ += found ? 0 : 1;
        }
        --running_;
    }

    bool stopped_ = false;
    int running_ = 0;
    int failed_ = 0;
    std::vector<duration> took_;
};

TEST_F(couchbase_latency, p99_of_get_in_a_rebalance_is_at_most_3_times_the_quiet_one_and_12_ms)
{
    begin();
    const duration quiet = quiet_p99();
    const duration moving = p99_in_rebalance();
    EXPECT_LE(moving, bound(quiet)) << moving / 1us << " us, and quiet " << quiet / 1us << " us";
    RecordProperty("quiet_us", static_cast<int>(quiet / 1us));
    RecordProperty("moving_us", static_cast<int>(moving / 1us));
}

TEST_F(couchbase_latency, p99_of_get_is_worse_where_no_node_says_what_has_moved)
{
    // The planted defect of the test above: nodes that keep the news to themselves.
    begin("?enable_clustermap_notification=false&config_poll_interval=2500");
    const duration quiet = quiet_p99();
    for (std::size_t n = 0; n != scene_.cluster->nodes(); ++n)
        scene_.node(n).refusals = lab::couchbase::refusal_body::empty;
    EXPECT_GT(p99_in_rebalance(), bound(quiet));
}

}  // namespace
}  // namespace holdfast::couchbase_latency_test
