// Every completion token, and cancellation by each: in the simulator, so that "at once" is exact.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>
#include <string>
#include <tuple>

namespace holdfast::couchbase_completion_tokens_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::errc;
using couchbase::raw_json;
using proof::kv_scene;
using proof::use_awaitable;
namespace cb = couchbase;

/// Two nodes that answer nothing any more once they are silenced.
class couchbase_completion_tokens : public ::testing::Test {
protected:
    couchbase_completion_tokens()
    {
        scene.connect();
        scene.warm_up();
    }
    void silence()
    {
        lab::couchbase::kv_fault silent;
        silent.silent = true;
        for (std::size_t n = 0; n != 2; ++n) {
            lab::couchbase::kv_fault_plan::entry entry;
            entry.effect = silent;
            entry.when = lab::activation::always();
            scene.node(n).faults.set("silent", std::move(entry));
        }
    }
    /// The request is on its way; then it is cancelled, and ends at once.
    void cancel_in_flight(boost::asio::cancellation_signal& stop, const std::function<bool()>& done)
    {
        scene.simulation.run_for(10ms);
        EXPECT_FALSE(done());
        const time_point now = scene.simulation.now();
        stop.emit(boost::asio::cancellation_type::terminal);
        ASSERT_TRUE(scene.finish(done));
        EXPECT_EQ(scene.simulation.now(), now);
    }

    kv_scene scene{{.nodes = 2}};
};

/// Calls `visit` with the name of each operation, whether it is on the list of idempotent ones, and
/// a function that starts it for a token.
template <class Visit>
void for_each_operation(const cb::collection& in, Visit visit)
{
    static const raw_json content{R"({"n":1})"};
    static const cb::lookup paths{cb::get("n")};
    static const cb::changes edit{cb::upsert("n", 2)};
    visit("get", true, [&](auto t) { return in.get("a", {}, std::move(t)); });
    visit("get with expiry", true,
          [&](auto t) { return in.get("a", {.with_expiry = true}, std::move(t)); });
    visit("get_if", true, [&](auto t) { return in.get_if("a", {}, std::move(t)); });
    visit("exists", false, [&](auto t) { return in.exists("a", {}, std::move(t)); });
    visit("upsert", false, [&](auto t) { return in.upsert("a", content, {}, std::move(t)); });
    visit("insert", false, [&](auto t) { return in.insert("a", content, {}, std::move(t)); });
    visit("replace", false, [&](auto t) { return in.replace("a", content, {}, std::move(t)); });
    visit("remove", false, [&](auto t) { return in.remove("a", {}, std::move(t)); });
    visit("touch", false,
          [&](auto t) { return in.touch("a", cb::expiry::in(1h), {}, std::move(t)); });
    visit("get_and_touch", false,
          [&](auto t) { return in.get_and_touch("a", cb::expiry::in(1h), {}, std::move(t)); });
    visit("get_and_lock", false,
          [&](auto t) { return in.get_and_lock("a", 1s, {}, std::move(t)); });
    visit("unlock", false, [&](auto t) { return in.unlock("a", {7}, {}, std::move(t)); });
    visit("append", false, [&](auto t) { return in.append("a", "x", {}, std::move(t)); });
    visit("prepend", false, [&](auto t) { return in.prepend("a", "x", {}, std::move(t)); });
    visit("increment", false, [&](auto t) { return in.increment("n", {}, std::move(t)); });
    visit("decrement", false, [&](auto t) { return in.decrement("n", {}, std::move(t)); });
    visit("lookup_in", true, [&](auto t) { return in.lookup_in("a", paths, {}, std::move(t)); });
    visit("mutate_in", false, [&](auto t) { return in.mutate_in("a", edit, {}, std::move(t)); });
    visit("get_any_replica", true,
          [&](auto t) { return in.get_any_replica("a", {}, std::move(t)); });
    visit("get_all_replicas", true,
          [&](auto t) { return in.get_all_replicas("a", {}, std::move(t)); });
    visit("lookup_in_any_replica", true,
          [&](auto t) { return in.lookup_in_any_replica("a", paths, {}, std::move(t)); });
    visit("lookup_in_all_replicas", true,
          [&](auto t) { return in.lookup_in_all_replicas("a", paths, {}, std::move(t)); });
}

TEST_F(couchbase_completion_tokens, every_operation_in_flight_ends_at_once_when_it_is_cancelled)
{
    silence();
    for_each_operation(scene.documents(), [&](const char* name, bool idempotent, auto start) {
        SCOPED_TRACE(name);
        boost::asio::cancellation_signal stop;
        std::optional<error> seen;
        bool good = false;
        start(boost::asio::bind_cancellation_slot(stop.slot(), [&](const auto& got) {
            good = got.has_value();
            if (!good)
                seen = got.error();
        }));
        cancel_in_flight(stop, [&] { return good || seen; });
        ASSERT_TRUE(seen);
        EXPECT_EQ(seen->code(), errc::request_canceled) << seen->explain();
        EXPECT_EQ(seen->context("may_have_been_applied") != "true", idempotent) << seen->explain();
    });
    scene.clear_faults();
    EXPECT_TRUE(scene.get("warm1")->good()) << "the connections are in use";
}

TEST_F(couchbase_completion_tokens, every_operation_takes_a_callback_that_runs_once)
{
    ASSERT_TRUE(scene.upsert("a", R"({"n":1})")->good());
    for_each_operation(scene.documents(), [&](const char* name, bool, auto start) {
        SCOPED_TRACE(name);
        int calls = 0;
        start([&](const auto&) { ++calls; });
        EXPECT_EQ(calls, 0) << "not before the call has returned";
        ASSERT_TRUE(scene.finish([&] { return calls != 0; }));
        scene.simulation.run_for(100ms);
        EXPECT_EQ(calls, 1);
    });
}

/// One that reads whole documents, one that reads parts, one that writes: calls meet tokens in
/// these three ways.
template <class Visit>
void for_each_kind(const cb::collection& in, Visit visit)
{
    static const raw_json content{R"({"n":1})"};
    static const cb::lookup paths{cb::get("n")};
    visit("get", [in](auto t) { return in.get("warm1", {}, std::move(t)); });
    visit("lookup_in", [in](auto t) { return in.lookup_in("warm1", paths, {}, std::move(t)); });
    visit("upsert", [in](auto t) { return in.upsert("warm1", content, {}, std::move(t)); });
}

template <class Future>
bool is_ready(const Future& one)
{
    return one.wait_for(0s) == std::future_status::ready;
}

TEST_F(couchbase_completion_tokens, futures_give_results_and_can_be_cancelled)
{
    for_each_kind(scene.documents(), [&](const char* name, auto start) {
        SCOPED_TRACE(name);
        scene.clear_faults();
        auto good = start(boost::asio::use_future);
        ASSERT_TRUE(scene.finish([&] { return is_ready(good); }));
        EXPECT_TRUE(good.get());
        silence();
        boost::asio::cancellation_signal stop;
        auto ended = start(
            boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::use_future));
        cancel_in_flight(stop, [&] { return is_ready(ended); });
        EXPECT_EQ(ended.get().error().code(), errc::request_canceled);
    });
}

/// Starts with a token that gives something to be awaited, and keeps the code of the result.
template <class Start>
asio::awaitable<void> await_code(Start start, std::optional<error_code>* code)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    auto got = co_await start();
    *code = got ? error_code{} : got.error().code();
}

TEST_F(couchbase_completion_tokens, awaited_tokens_give_results_and_can_be_cancelled)
{
    for_each_kind(scene.documents(), [&](const char* name, auto start) {
        const auto with = [&](const char* token, auto begin) {
            SCOPED_TRACE(std::string{name} + " with " + token);
            scene.clear_faults();
            std::optional<error_code> code;
            boost::asio::co_spawn(scene.app.world().executor(), await_code(begin, &code),
                                  boost::asio::detached);
            ASSERT_TRUE(scene.finish([&] { return code.has_value(); }));
            EXPECT_EQ(*code, error_code{});
            silence();
            code.reset();
            boost::asio::cancellation_signal stop;
            boost::asio::co_spawn(
                scene.app.world().executor(), await_code(begin, &code),
                boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::detached));
            cancel_in_flight(stop, [&] { return code.has_value(); });
            EXPECT_EQ(*code, errc::request_canceled);
        };
        with("use_awaitable", [start] { return start(use_awaitable); });
        with("deferred", [start] { return start(boost::asio::deferred); });
    });
}

template <class Start>
asio::awaitable<void> await_tuple(Start start, std::optional<error_code>* code)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    auto got = co_await start();
    const auto& outcome = std::get<0>(got);
    *code = outcome ? error_code{} : outcome.error().code();
}

TEST_F(couchbase_completion_tokens, tuples_give_results_and_can_be_cancelled)
{
    for_each_kind(scene.documents(), [&](const char* name, auto start) {
        SCOPED_TRACE(name);
        scene.clear_faults();
        const auto begin = [start] { return start(boost::asio::as_tuple(use_awaitable)); };
        std::optional<error_code> code;
        boost::asio::co_spawn(scene.app.world().executor(), await_tuple(begin, &code),
                              boost::asio::detached);
        ASSERT_TRUE(scene.finish([&] { return code.has_value(); }));
        EXPECT_EQ(*code, error_code{});
        silence();
        code.reset();
        boost::asio::cancellation_signal stop;
        boost::asio::co_spawn(
            scene.app.world().executor(), await_tuple(begin, &code),
            boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::detached));
        cancel_in_flight(stop, [&] { return code.has_value(); });
        EXPECT_EQ(*code, errc::request_canceled);
    });
}

template <class Start>
asio::awaitable<void> await_thrown(Start start, std::optional<error_code>* code)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    try {
        co_await start();
        *code = error_code{};
    } catch (const failure& thrown) {
        *code = thrown.error().code();
    }
}

TEST_F(couchbase_completion_tokens, throwing_forms_throw_when_they_are_cancelled)
{
    for_each_kind(scene.documents(), [&](const char* name, auto start) {
        SCOPED_TRACE(name);
        scene.clear_faults();
        const auto begin = [start] { return start(throw_on_error{}); };
        std::optional<error_code> code;
        boost::asio::co_spawn(scene.app.world().executor(), await_thrown(begin, &code),
                              boost::asio::detached);
        ASSERT_TRUE(scene.finish([&] { return code.has_value(); }));
        EXPECT_EQ(*code, error_code{});
        silence();
        code.reset();
        boost::asio::cancellation_signal stop;
        boost::asio::co_spawn(
            scene.app.world().executor(), await_thrown(begin, &code),
            boost::asio::bind_cancellation_slot(stop.slot(), boost::asio::detached));
        cancel_in_flight(stop, [&] { return code.has_value(); });
        EXPECT_EQ(*code, errc::request_canceled);
    });
}

TEST_F(couchbase_completion_tokens, waiting_for_readiness_and_pings_can_be_cancelled)
{
    silence();
    const auto cancelled = [&](auto start) {
        boost::asio::cancellation_signal stop;
        std::optional<error_code> code;
        start(boost::asio::bind_cancellation_slot(
            stop.slot(), [&](const auto& got) { code = got ? error_code{} : got.error().code(); }));
        cancel_in_flight(stop, [&] { return code.has_value(); });
        EXPECT_EQ(code, errc::request_canceled);
    };
    cancelled([&](auto token) { scene.client->ping({}, std::move(token)); });
    scene.host_of(1).crash();
    scene.simulation.run_for(5s);
    cancelled([&](auto token) { (*scene.client)["travel"].ready({}, std::move(token)); });
}

TEST_F(couchbase_completion_tokens, ping_ends_in_time_and_has_an_outcome_for_each_node)
{
    lab::couchbase::kv_fault silent;
    silent.silent = true;
    scene.fault(1, kv_opcode::noop, silent, lab::activation::always());
    const auto pinged = scene.run(scene.client->ping({.timeout = 300ms}, use_awaitable));
    ASSERT_TRUE(pinged->good()) << pinged->explain();
    EXPECT_EQ(pinged->took(), 300ms);
    const couchbase::ping_report& report = **pinged->outcome;
    EXPECT_FALSE(report.all_answered());
    for (const auto& one : report.key_value) {
        if (one.server.value() == "n0:11210")
            EXPECT_EQ(one.latency, 2ms) << one.error;
        else
            EXPECT_FALSE(one.error.empty());
        EXPECT_EQ(one.latency.has_value(), one.error.empty());
    }
}

}  // namespace
}  // namespace holdfast::couchbase_completion_tokens_test
