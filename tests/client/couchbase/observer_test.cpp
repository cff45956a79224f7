// What observers get of key-value operations, in the simulator.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/observer_support.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <regex>

namespace holdfast::couchbase_observer_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::raw_json;
using lab::activation;
using proof::kv_scene;
using proof::use_awaitable;
using lines = std::vector<std::string>;
namespace asio = boost::asio;

class couchbase_observer : public ::testing::Test {
protected:
    void open(couchbase::cluster_options options = {})
    {
        options.observers = {seen};
        scene.connect(std::move(options));
        scene.warm_up();
        taken();
    }
    lines taken()
    {
        scene.simulation.run_for(1ms);
        return seen->take();
    }
    static lines good(const std::string& name)
    {
        return {"began | " + name, "attempt 1 to n0:11210 | " + name, "answered | " + name,
                "done | " + name};
    }

    kv_scene scene;
    std::shared_ptr<proof::operation_lines> seen = std::make_shared<proof::operation_lines>();
};

TEST_F(couchbase_observer, operation_is_reported_with_its_attempt)
{
    open();
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    EXPECT_EQ(taken(), good("upsert"));
    EXPECT_EQ(seen->durations().back(), 2ms);
    EXPECT_TRUE(std::regex_match(seen->last_connection(), std::regex{"[0-9A-F]{16}/[0-9A-F]{16}"}))
        << seen->last_connection();
    EXPECT_TRUE(std::regex_match(seen->last_request(), std::regex{"0x[0-9a-f]+"}))
        << seen->last_request();
    EXPECT_FALSE(seen->last_local().empty());
}

TEST_F(couchbase_observer, every_attempt_is_reported_with_the_reason_of_its_retry)
{
    open();
    scene.fault(0, kv_opcode::upsert, proof::status_fault(kv_status::locked), activation::times(2));
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    EXPECT_EQ(taken(),
              (lines{"began | upsert", "attempt 1 to n0:11210 | upsert", "KV_LOCKED | upsert",
                     "attempt 2 to n0:11210 | upsert", "KV_LOCKED | upsert",
                     "attempt 3 to n0:11210 | upsert", "answered | upsert", "done | upsert"}));
}

TEST_F(couchbase_observer, failures_are_reported_with_their_error)
{
    open();
    EXPECT_EQ(scene.get("none")->code(), errc::document_not_found);
    EXPECT_EQ(taken(), (lines{"began | get", "attempt 1 to n0:11210 | get", "refused | get",
                              "failed: document not found | get"}));
    scene.fault(0, kv_opcode::upsert, proof::cut_fault(), activation::times(1));
    EXPECT_EQ(scene.upsert("a", "{}")->code(), errc::request_canceled);
    EXPECT_EQ(taken(), (lines{"began | upsert", "attempt 1 to n0:11210 | upsert",
                              "SOCKET_CLOSED_WHILE_IN_FLIGHT | upsert",
                              "failed: the request was cancelled | upsert"}));
    scene.fault(0, kv_opcode::get, proof::silent_fault(), activation::times(1));
    scene.get("a", {.timeout = 100ms});
    EXPECT_EQ(taken(), (lines{"began | get", "attempt 1 to n0:11210 | get", "lost | get",
                              "failed: timed out, and nothing was changed | get"}));
}

TEST_F(couchbase_observer, operation_that_was_never_sent_has_no_attempt)
{
    open();
    scene.host_of(0).crash();
    scene.simulation.run_for(5s);
    seen->take();
    EXPECT_FALSE(scene.get("a", {.timeout = 100ms})->good());
    EXPECT_EQ(taken(), (lines{"began | get", "failed: timed out, and nothing was changed | get"}));
}

TEST_F(couchbase_observer, reply_to_a_request_that_was_given_up_is_reported)
{
    open();
    lab::couchbase::kv_fault late;
    late.reply_delay = 300ms;
    scene.fault(0, kv_opcode::get, late, activation::times(1));
    EXPECT_FALSE(scene.get("warm1", {.timeout = 100ms})->good());
    taken();
    scene.simulation.run_for(1s);
    EXPECT_EQ(taken(), (lines{"orphan: get timed_out"}));
}

TEST_F(couchbase_observer, each_copy_that_is_read_is_an_operation)
{
    open();
    const auto all = scene.run(scene.documents().get_all_replicas("warm1", {}, use_awaitable));
    ASSERT_TRUE(all->good()) << all->explain();
    EXPECT_EQ(taken(), good("get_replica"));
}

/// Each form of a call in which an operation can end.
TEST_F(couchbase_observer, every_completion_form_is_reported_alike)
{
    open();
    const auto documents = scene.documents();
    bool called = false;
    documents.get("warm1", {}, [&](const auto&) { called = true; });
    ASSERT_TRUE(scene.finish([&] { return called; }));
    EXPECT_EQ(taken(), good("get")) << "a callback";

    ASSERT_TRUE(scene.run(documents.get("warm1", {}, use_awaitable))->good());
    EXPECT_EQ(taken(), good("get")) << "use_awaitable";

    auto future = documents.get("warm1", {}, asio::use_future);
    ASSERT_TRUE(scene.finish([&] { return future.wait_for(0s) == std::future_status::ready; }));
    EXPECT_EQ(taken(), good("get")) << "a future";

    bool thrown = false;
    asio::co_spawn(scene.app.world().executor(), documents.get("none"),
                   [&](const std::exception_ptr& why, const auto&) { thrown = why != nullptr; });
    ASSERT_TRUE(scene.finish([&] { return thrown; }));
    EXPECT_EQ(taken(), (lines{"began | get", "attempt 1 to n0:11210 | get", "refused | get",
                              "failed: document not found | get"}))
        << "an exception";

    asio::cancellation_signal stop;
    bool ended = false;
    scene.fault(0, kv_opcode::get, proof::silent_fault(), activation::times(1));
    documents.get("warm1", {},
                  asio::bind_cancellation_slot(stop.slot(), [&](const auto&) { ended = true; }));
    scene.simulation.run_for(10ms);
    stop.emit(asio::cancellation_type::terminal);
    ASSERT_TRUE(scene.finish([&] { return ended; }));
    EXPECT_EQ(taken(), (lines{"began | get", "attempt 1 to n0:11210 | get", "lost | get",
                              "failed: the request was cancelled | get"}))
        << "a cancellation";
}

TEST_F(couchbase_observer, parent_of_a_request_is_kept_until_its_last_event)
{
    open();
    auto span = std::make_shared<const int>(7);
    const std::weak_ptr<const int> watched = span;
    trace_parent parent = span;
    const auto running = scene.start(
        scene.documents().get("warm1", {.parent = &parent}, use_awaitable));
    span.reset();
    parent.reset();
    EXPECT_FALSE(watched.expired()) << "it was copied by the call";
    ASSERT_TRUE(scene.finish([&] { return running->done(); }));
    taken();
    EXPECT_EQ(seen->parents().back(), watched.lock());
}

TEST_F(couchbase_observer, operation_that_is_destroyed_with_its_coroutine_is_reported_to_end)
{
    open();
    scene.fault(0, kv_opcode::get, proof::silent_fault(), activation::always());
    {
        auto unstarted = scene.documents().get("warm1", {}, use_awaitable);
    }
    EXPECT_EQ(taken(), (lines{"began | get", "failed: Operation canceled | get"}));
}

/// Observers whose executor does not run are as slow as observers can be.
TEST_F(couchbase_observer, blocked_observers_stop_no_operation_and_take_limited_memory)
{
    asio::io_context blocked;
    couchbase::cluster_options options;
    options.observers_on = blocked.get_executor();
    options.observer_queue = 100;
    open(std::move(options));
    for (int n = 0; n != 500; ++n) {
        const auto one = scene.get("warm1");
        ASSERT_TRUE(one->good()) << one->explain();
        ASSERT_EQ(one->took(), 2ms);
    }
    EXPECT_EQ(seen->ended(), 0u);
    blocked.run();
    EXPECT_GE(seen->ended(), 25u);
    EXPECT_EQ(seen->ended() + seen->dropped(), 532u) << "what is not reported is counted";
    // And from now on there is room again.
    ASSERT_TRUE(scene.get("warm1")->good());
    blocked.restart();
    blocked.run();
    EXPECT_EQ(seen->ended() + seen->dropped(), 533u);
    EXPECT_EQ(seen->take().back(), "done | get");
}

TEST_F(couchbase_observer, close_delivers_the_last_events)
{
    open();
    scene.fault(0, kv_opcode::get, proof::silent_fault(), activation::always());
    const auto open_one = scene.start(scene.documents().get("warm1", {}, use_awaitable));
    scene.simulation.run_for(10ms);
    bool closed = false;
    asio::co_spawn(scene.app.world().executor(), scene.client->close(),
                   [&](const std::exception_ptr&) { closed = true; });
    ASSERT_TRUE(scene.finish([&] { return closed && open_one->done(); }));
    EXPECT_EQ(seen->take().back(), "failed: the cluster is closed | get");
    const auto late = scene.get("warm1");
    EXPECT_EQ(late->code(), errc::closed);
    EXPECT_EQ(taken(), lines{}) << "nothing is reported of a closed client";
}

}  // namespace
}  // namespace holdfast::couchbase_observer_test
