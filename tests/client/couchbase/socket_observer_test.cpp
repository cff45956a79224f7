// Observers on sockets: the thread that they are called by, and what they can stop: nothing.
#include "client/couchbase/observer_support.hpp"
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"

#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <regex>
#include <thread>

namespace holdfast::couchbase_socket_observer_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::raw_json;
using proof::use_awaitable;
using lines = std::vector<std::string>;
namespace cb = couchbase;

/// Blocks its thread with its first event, until it is released.
class blocking_observer final : public observer {
public:
    using observer::on;
    void on(const observed::operation_began&) noexcept override
    {
        thread = std::this_thread::get_id();
        blocked = true;
        released_.wait();
        ++began;
    }
    void on(const observed::records_dropped& e) noexcept override { dropped += e.operations; }
    void release() { release_.set_value(); }

    std::atomic<std::thread::id> thread = {};
    std::atomic<bool> blocked = false;
    std::atomic<std::uint64_t> began = 0;
    std::atomic<std::uint64_t> dropped = 0;

private:
    std::promise<void> release_;
    std::shared_future<void> released_ = release_.get_future().share();
};

template <class Condition>
bool comes_true(Condition what)
{
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!what() && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    return what();
}

class couchbase_socket_observer : public ::testing::Test {
protected:
    template <class Observer>
    static cb::cluster_options with(const std::shared_ptr<Observer>& observer)
    {
        cb::cluster_options options;
        options.authenticator = proof::socket_scene::login();
        options.observers = {observer};
        return options;
    }

    proof::socket_scene scene;
};

TEST_F(couchbase_socket_observer, observer_that_hangs_stops_no_connection)
{
    const auto hangs = std::make_shared<blocking_observer>();
    auto options = with(hangs);
    options.observer_queue = 50;
    scene.connect(std::move(options));
    scene.warm_up();
    ASSERT_TRUE(comes_true([&] { return hangs->blocked.load(); }));
    for (int n = 0; n != 300; ++n) {
        const auto one = scene.get("warm1");
        ASSERT_TRUE(one->good()) << one->explain();
    }
    EXPECT_EQ(hangs->began, 0u);
    EXPECT_NE(hangs->thread.load(), std::this_thread::get_id()) << "the loop's own thread";
    hangs->release();
    EXPECT_TRUE(comes_true([&] { return hangs->began + hangs->dropped == 308; }))
        << hangs->began << " + " << hangs->dropped;
}

TEST_F(couchbase_socket_observer, client_is_destroyed_while_its_observer_hangs)
{
    const auto hangs = std::make_shared<blocking_observer>();
    scene.connect(with(hangs));
    scene.warm_up();
    ASSERT_TRUE(comes_true([&] { return hangs->blocked.load(); }));
    scene.client.reset();
    hangs->release();
    EXPECT_TRUE(comes_true([&] { return hangs->began == 1; }));
}

TEST_F(couchbase_socket_observer, observer_that_hangs_stops_no_blocking_client)
{
    const auto hangs = std::make_shared<blocking_observer>();
    {
        const cb::sync::cluster db{scene.lab.uri(), with(hangs)};
        const auto documents = db["travel"].default_collection();
        documents.upsert("a", raw_json{"{}"});
        ASSERT_TRUE(comes_true([&] { return hangs->blocked.load(); }));
        for (int n = 0; n != 300; ++n)
            EXPECT_EQ(documents.get("a").content.text(), "{}");
        // It closes, too, after it has waited for the observer as long as it may.
    }
    EXPECT_EQ(hangs->began, 0u);
    hangs->release();
    EXPECT_TRUE(comes_true([&] { return hangs->began == 1; }));
}

TEST_F(couchbase_socket_observer, blocking_client_reports_both_forms_of_a_call)
{
    const auto seen = std::make_shared<proof::operation_lines>();
    const cb::sync::cluster db{scene.lab.uri(), with(seen)};
    const auto documents = db["travel"].default_collection();
    documents.upsert("a", raw_json{"{}"});
    ASSERT_TRUE(comes_true([&] { return seen->ended() == 1; }));
    const std::string server = scene.lab.uri().substr(std::string{"couchbase://"}.size());
    seen->take();
    documents.get("a");
    EXPECT_FALSE(documents.try_get("none"));
    EXPECT_THROW(documents.get("none"), failure);
    ASSERT_TRUE(comes_true([&] { return seen->ended() == 4; }));
    const lines all = seen->take();
    ASSERT_EQ(all.size(), 12u);
    EXPECT_TRUE(all[1].starts_with("attempt 1 to 127.0.0.1:")) << all[1];
    for (const std::size_t first : {0u, 4u, 8u}) {
        EXPECT_EQ(all[first], "began | get");
        EXPECT_EQ(all[first + 2], first == 0 ? "answered | get" : "refused | get");
        EXPECT_EQ(all[first + 3], first == 0 ? "done | get" : "failed: document not found | get");
    }
    EXPECT_TRUE(std::regex_match(seen->last_local(), std::regex{"127\\.0\\.0\\.1:[0-9]+"}))
        << seen->last_local();
}

TEST_F(couchbase_socket_observer, blocking_client_reports_slow_operations)
{
    const auto log = std::make_shared<proof::request_reports>();
    cb::cluster_options options;
    options.authenticator = proof::socket_scene::login();
    options.log = log;
    options.thresholds.key_value = 0ms;
    {
        const cb::sync::cluster db{scene.lab.uri(), std::move(options)};
        db["travel"].default_collection().upsert("a", raw_json{"{}"});
    }
    ASSERT_EQ(log->all().size(), 1u) << "it is reported when the client closes";
    EXPECT_EQ(log->all()[0].component, "threshold");
    EXPECT_NE(log->all()[0].json.find(R"("operation_name":"upsert","last_local_id":")"),
              std::string::npos)
        << log->all()[0].json;
    EXPECT_NE(log->all()[0].json.find(R"("last_local_socket":"127.0.0.1:)"), std::string::npos);
}

TEST_F(couchbase_socket_observer, executor_of_the_application_calls_observers_if_one_is_given)
{
    boost::asio::thread_pool pool{1};
    std::promise<std::thread::id> of_pool;
    boost::asio::post(pool, [&] { of_pool.set_value(std::this_thread::get_id()); });
    const auto seen = std::make_shared<blocking_observer>();
    seen->release();
    auto options = with(seen);
    options.observers_on = pool.get_executor();
    scene.connect(std::move(options));
    scene.warm_up();
    EXPECT_TRUE(comes_true([&] { return seen->began == 8; }));
    EXPECT_EQ(seen->thread.load(), of_pool.get_future().get());
    scene.disconnect();
}

}  // namespace
}  // namespace holdfast::couchbase_socket_observer_test
