#include "client/couchbase/kv_scene.hpp"
#include "core/couchbase/route/vbucket.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace holdfast::couchbase_connection_test {
namespace {

using namespace std::chrono_literals;
using namespace shell::couchbase;
using core::couchbase::bootstrap_problem;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using holdfast::couchbase::errc;
using lab::activation;
using lab::couchbase::kv_fault;
using proof::kv_scene;

/// What became of one request.
struct outcome {
    std::optional<kv_status> status = {};
    std::optional<error_code> failed = {};
    std::string value = {};
    time_point at{};
    bool done() const { return status || failed; }
};

core::couchbase::request_frame get_of(std::string_view key)
{
    core::couchbase::request_frame frame;
    frame.opcode = kv_opcode::get;
    frame.key = key;
    frame.collection = 0;
    frame.vbucket = core::couchbase::vbucket_of(key, 1024);
    return frame;
}

runtime::awaitable<void> get_into(kv_scene* scene, std::shared_ptr<kv_connection> over,
                                  std::string key, duration limit, outcome* into)
{
    auto got = co_await ask(over, get_of(key), scene->simulation.now() + limit);
    into->at = scene->simulation.now();
    if (!got) {
        into->failed = got.error().code();
        co_return;
    }
    into->status = got->frame().status();
    into->value = core::couchbase::as_text(got->frame().value());
}

class kv_connection_in_lab : public ::testing::Test {
protected:
    establish_outcome connect(const std::string& password = "lovelace",
                              const std::string& bucket = "travel")
    {
        connect_target to;
        to.server = endpoint{"n0:11210"};
        to.bucket = bucket;
        return *scene.wait_for(establish(scene.app.world(), scene.config(password), std::move(to)));
    }
    std::shared_ptr<kv_connection> open()
    {
        auto made = connect();
        EXPECT_TRUE(std::holds_alternative<established>(made));
        return std::get<established>(made).connection;
    }
    establish_failure failure(establish_outcome from)
    {
        EXPECT_TRUE(std::holds_alternative<establish_failure>(from));
        return std::get<establish_failure>(std::move(from));
    }
    /// Begins a get on the executor that the reader runs on.
    outcome& get(const std::shared_ptr<kv_connection>& over, std::string key, duration limit = 2s)
    {
        outcome& into = outcomes.emplace_back();
        boost::asio::co_spawn(scene.app.world().executor(),
                              get_into(&scene, over, std::move(key), limit, &into),
                              boost::asio::detached);
        return into;
    }
    bool all_done()
    {
        return std::ranges::all_of(outcomes, [](const outcome& one) { return one.done(); });
    }

    kv_scene scene;
    std::deque<outcome> outcomes;
};

TEST_F(kv_connection_in_lab, bootstrap_agrees_on_features_and_brings_the_bucket_configuration)
{
    const time_point began = scene.simulation.now();
    auto made = connect();
    ASSERT_TRUE(std::holds_alternative<established>(made));
    const established& is = std::get<established>(made);
    EXPECT_TRUE(is.logged_in);
    EXPECT_NE(is.config.find("vBucketServerMap"), std::string::npos);
    EXPECT_NE(is.connection->error_map(), nullptr);
    EXPECT_TRUE(is.connection->features().has(core::couchbase::kv_feature::collections));
    EXPECT_LE(scene.simulation.now() - began, 12ms);
}

TEST_F(kv_connection_in_lab, wrong_password_is_an_authentication_failure)
{
    const establish_failure failed = failure(connect("wrong"));
    EXPECT_EQ(failed.problem, bootstrap_problem::authentication_failed);
    EXPECT_EQ(failed.why.code(), errc::authentication_failure);
    EXPECT_EQ(failed.why.context("server"), "n0:11210");
}

TEST_F(kv_connection_in_lab, missing_bucket_is_reported_by_its_name)
{
    const establish_failure failed = failure(connect("lovelace", "nowhere"));
    EXPECT_EQ(failed.problem, bootstrap_problem::bucket_no_access);
    EXPECT_NE(failed.why.message().find("nowhere"), std::string::npos);
}

TEST_F(kv_connection_in_lab, server_without_proof_is_refused_and_gets_no_further_request)
{
    kv_fault bare;
    bare.error_code = 0;
    scene.fault(0, kv_opcode::sasl_step, bare, activation::always());
    scene.count_requests(kv_opcode::select_bucket);
    const establish_failure failed = failure(connect());
    EXPECT_EQ(failed.problem, bootstrap_problem::untrusted_server);
    EXPECT_EQ(scene.counted(kv_opcode::select_bucket), 0);
}

TEST_F(kv_connection_in_lab, server_that_closes_during_the_bootstrap_is_named_with_the_tls_hint)
{
    kv_fault cut;
    cut.close_connection = true;
    scene.fault(0, kv_opcode::hello, cut, activation::always());
    const establish_failure failed = failure(connect());
    EXPECT_FALSE(failed.problem);
    EXPECT_NE(failed.why.message().find("couchbases://"), std::string::npos);
    EXPECT_EQ(failed.why.context("phase"), "bootstrap");
}

TEST_F(kv_connection_in_lab, host_that_refuses_is_a_failure_to_connect)
{
    scene.host_of(0).crash();
    const establish_failure failed = failure(connect());
    EXPECT_EQ(failed.why.code(), runtime::errc::connect_failed);
    EXPECT_FALSE(failed.by_tls);
}

TEST_F(kv_connection_in_lab, requests_share_one_flush_in_the_reader_turn)
{
    const auto over = open();
    const auto flushes_before = over->statistics().flushes;
    // One coroutine per key, each with two gets in a row: the second ones begin in one turn.
    const auto twice = [](kv_scene* in, std::shared_ptr<kv_connection> by,
                          int* done) -> runtime::awaitable<void> {
        for (int i = 0; i < 2; ++i) {
            auto got = co_await ask(by, get_of("k"), in->simulation.now() + 1s);
            *done += got ? 1 : 0;
        }
    };
    int done = 0;
    for (int i = 0; i < 10; ++i)
        boost::asio::co_spawn(scene.app.world().executor(), twice(&scene, over, &done),
                              boost::asio::detached);
    ASSERT_TRUE(scene.finish([&] { return done == 20; }));
    EXPECT_EQ(over->statistics().requests.completed, 20u);
    EXPECT_LE(over->statistics().flushes - flushes_before, 20u) << "ten first ones, few later";
}

TEST_F(kv_connection_in_lab, late_reply_is_an_orphan_and_disturbs_no_other_request)
{
    const auto over = open();
    kv_fault slow;
    slow.delay = 50ms;
    scene.fault(0, kv_opcode::get, slow, activation::times(1));
    const time_point began = scene.simulation.now();
    const outcome& late = get(over, "a", 10ms);
    ASSERT_TRUE(scene.finish([&] { return late.done(); }));
    EXPECT_EQ(late.failed, make_error_code(errc::unambiguous_timeout));
    EXPECT_EQ(late.at - began, 10ms);
    EXPECT_EQ(over->statistics().abandoned, 1u);
    const outcome& next = get(over, "b");
    ASSERT_TRUE(scene.finish([&] { return next.done(); }));
    EXPECT_EQ(next.status, kv_status::not_found);
    EXPECT_EQ(over->statistics().requests.orphans, 1u);
    EXPECT_EQ(over->statistics().abandoned, 0u);
}

TEST_F(kv_connection_in_lab, duplicate_reply_is_ignored)
{
    const auto over = open();
    kv_fault twice;
    twice.replies = 3;
    scene.fault(0, kv_opcode::get, twice, activation::times(1));
    const outcome& one = get(over, "a");
    ASSERT_TRUE(scene.finish([&] { return one.done(); }));
    const outcome& next = get(over, "b");
    ASSERT_TRUE(scene.finish([&] { return next.done(); }));
    EXPECT_EQ(next.status, kv_status::not_found);
    EXPECT_EQ(over->statistics().requests.foreign, 2u);
}

TEST_F(kv_connection_in_lab, cut_ends_all_requests_in_flight_at_once)
{
    const auto over = open();
    kv_fault silent;
    silent.silent = true;
    scene.fault(0, kv_opcode::get, silent, activation::always());
    for (int i = 0; i < 100; ++i)
        get(over, "k" + std::to_string(i));
    scene.simulation.run_for(20ms);
    EXPECT_EQ(over->statistics().waiting, 100u);
    const time_point cut = scene.simulation.now();
    scene.simulation.reset_connections(scene.app, scene.host_of(0));
    ASSERT_TRUE(scene.finish([&] { return all_done(); }));
    EXPECT_LE(scene.simulation.now() - cut, 2ms);
    for (const outcome& one : outcomes)
        EXPECT_TRUE(one.failed);
    EXPECT_TRUE(over->is_closed());
    EXPECT_EQ(over->statistics().waiting, 0u);
}

TEST_F(kv_connection_in_lab, server_that_stops_answering_is_closed_for_being_stuck)
{
    const auto over = open();
    kv_fault silent;
    silent.silent = true;
    scene.fault(0, kv_opcode::get, silent, activation::always());
    const time_point began = scene.simulation.now();
    get(over, "a", 100ms);
    ASSERT_TRUE(scene.finish([&] { return over->is_closed(); }));
    EXPECT_EQ(scene.simulation.now() - began, 10s + 100ms);
    EXPECT_NE(over->end_reason()->message().find("stopped answering"), std::string::npos);
}

TEST_F(kv_connection_in_lab, full_table_makes_requests_wait_for_a_slot)
{
    const auto over = open();
    kv_fault slow;
    slow.delay = 5ms;
    scene.fault(0, kv_opcode::get, slow, activation::times(1));
    for (int i = 0; i < 1024; ++i)
        get(over, "k" + std::to_string(i));
    scene.simulation.run_for(1ms);
    EXPECT_EQ(over->statistics().waiting, 1024u);
    std::optional<runtime::wait_end> end;
    const auto wait = [](std::shared_ptr<kv_connection> by, time_point until,
                         std::optional<runtime::wait_end>* into) -> runtime::awaitable<void> {
        const auto got = co_await by->wait_for_slot(until);
        *into = got;
    };
    scene.app.start(wait(over, scene.simulation.now() + 1s, &end));
    ASSERT_TRUE(scene.finish([&] { return end.has_value(); }));
    EXPECT_EQ(end, runtime::wait_end::notified);
    ASSERT_TRUE(scene.finish([&] { return all_done(); }));
}

TEST_F(kv_connection_in_lab, request_that_cannot_be_written_leaves_the_connection_as_it_was)
{
    const auto over = open();
    kv_waiter waiter;
    auto frame = get_of(std::string(300, 'k'));
    frame.infos.durability = core::couchbase::kv_durability::majority;
    const std::string key(300, 'k');
    frame.key = key;
    const auto refused = over->enqueue(frame, {}, waiter);
    EXPECT_EQ(refused.is, kv_connection::enqueue_result::invalid);
    ASSERT_TRUE(refused.problem);
    EXPECT_EQ(over->statistics().waiting, 0u);
    const outcome& one = get(over, "a");
    ASSERT_TRUE(scene.finish([&] { return one.done(); }));
    EXPECT_EQ(one.status, kv_status::not_found);
}

TEST_F(kv_connection_in_lab, request_taken_back_before_the_flush_is_not_sent)
{
    const auto over = open();
    scene.count_requests(kv_opcode::get);
    {
        kv_waiter waiter;
        auto frame = get_of("a");
        const auto added = over->enqueue(frame, {}, waiter);
        ASSERT_EQ(added.is, kv_connection::enqueue_result::added);
        EXPECT_EQ(over->let_go(added.opaque), dispatch_phase::not_sent);
        waiter.withdraw();
    }
    over->flush();
    scene.simulation.run_for(10ms);
    EXPECT_EQ(scene.counted(kv_opcode::get), 0);
    EXPECT_EQ(over->statistics().waiting, 0u);
}

}  // namespace
}  // namespace holdfast::couchbase_connection_test
