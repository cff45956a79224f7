// The reports on slow requests and late replies, from the operation to the line in the log.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/observer_support.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/json.hpp>

#include <chrono>
#include <regex>

namespace holdfast::couchbase_threshold_log_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using lab::activation;
using proof::kv_scene;

lab::couchbase::kv_fault slow_reply(std::chrono::milliseconds by)
{
    lab::couchbase::kv_fault made;
    made.reply_delay = by;
    return made;
}

/// The same report with texts in the place of what a run draws: ids, ports, the server's own time.
std::string without_draws(std::string json)
{
    json = std::regex_replace(json, std::regex{"[0-9A-F]{16}/[0-9A-F]{16}"}, "CLIENT/CONNECTION");
    json = std::regex_replace(json, std::regex{R"("operation_id":"0x[0-9a-f]+")"},
                              R"("operation_id":"OPAQUE")");
    json = std::regex_replace(json, std::regex{R"("last_local_socket":"[0-9.]+:[0-9]+")"},
                              R"("last_local_socket":"LOCAL")");
    return std::regex_replace(json, std::regex{R"(server_duration_us":[0-9]+)"},
                              R"(server_duration_us":N)");
}

class couchbase_threshold_log : public ::testing::Test {
protected:
    void open(couchbase::log_thresholds thresholds = {})
    {
        couchbase::cluster_options options;
        options.log = log;
        options.thresholds = thresholds;
        scene.connect(options);
        scene.warm_up();
    }

    kv_scene scene;
    std::shared_ptr<proof::request_reports> log = std::make_shared<proof::request_reports>();
};

TEST_F(couchbase_threshold_log, slow_operation_is_in_the_log_when_the_interval_ends)
{
    open();
    scene.fault(0, kv_opcode::upsert, slow_reply(600ms), activation::times(1));
    const auto slow = scene.upsert("a", "{}");
    ASSERT_TRUE(slow->good()) << slow->explain();
    EXPECT_EQ(slow->took(), 602ms);
    ASSERT_TRUE(scene.get("a")->good());
    scene.simulation.run_for(9'900ms);
    EXPECT_TRUE(log->all().empty());
    scene.simulation.run_for(100ms);
    const auto lines = log->all();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].component, "threshold");
    EXPECT_EQ(lines[0].level, severity::warning);
    EXPECT_EQ(lines[0].message, "requests took longer than their threshold");
    EXPECT_EQ(without_draws(lines[0].json),
              R"({"kv":{"total_count":1,"top_requests":[{"total_duration_us":602000,)"
              R"("encode_duration_us":0,"last_dispatch_duration_us":602000,)"
              R"("total_dispatch_duration_us":602000,"last_server_duration_us":N,)"
              R"("total_server_duration_us":N,"operation_name":"upsert",)"
              R"("last_local_id":"CLIENT/CONNECTION","operation_id":"OPAQUE",)"
              R"("last_local_socket":"LOCAL","last_remote_socket":"n0:11210",)"
              R"("timeout_ms":2500}]}})");
    scene.simulation.run_for(60s);
    EXPECT_EQ(log->all().size(), 1u) << "nothing more was slow";
}

TEST_F(couchbase_threshold_log, retries_of_an_operation_count_together)
{
    open();
    scene.fault(0, kv_opcode::upsert, proof::status_fault(kv_status::temporary_failure),
                activation::times(9));
    const auto slow = scene.upsert("a", "{}");
    ASSERT_TRUE(slow->good()) << slow->explain();
    EXPECT_EQ(slow->took(), 511ms + 10 * 2ms) << "1 + 2 + ... + 256 ms, and ten round trips";
    scene.simulation.run_for(10s);
    const auto lines = log->all();
    ASSERT_EQ(lines.size(), 1u);
    const auto report = boost::json::parse(lines[0].json);
    const auto& one = report.at("kv").at("top_requests").at(0);
    EXPECT_EQ(one.at("total_duration_us").as_int64(), 531'000);
    EXPECT_EQ(one.at("last_dispatch_duration_us").as_int64(), 2'000);
    EXPECT_EQ(one.at("total_dispatch_duration_us").as_int64(), 20'000);
}

TEST_F(couchbase_threshold_log, threshold_interval_and_sample_are_options)
{
    couchbase::log_thresholds thresholds;
    thresholds.key_value = 1ms;
    thresholds.interval = 2s;
    thresholds.sample = 3;
    open(thresholds);
    scene.simulation.run_for(2s);
    ASSERT_EQ(log->all().size(), 1u);
    const auto report = boost::json::parse(log->all()[0].json);
    EXPECT_EQ(report.at("kv").at("total_count").as_int64(), 32) << "the operations of the warm-up";
    EXPECT_EQ(report.at("kv").at("top_requests").as_array().size(), 3u);
}

TEST_F(couchbase_threshold_log, close_reports_what_there_is)
{
    open();
    scene.fault(0, kv_opcode::get, slow_reply(600ms), activation::times(1));
    ASSERT_EQ(scene.get("none")->code(), errc::document_not_found);
    bool closed = false;
    boost::asio::co_spawn(scene.app.world().executor(), scene.client->close(),
                          [&](const std::exception_ptr&) { closed = true; });
    ASSERT_TRUE(scene.finish([&] { return closed; }));
    ASSERT_EQ(log->all().size(), 1u);
    EXPECT_EQ(log->all()[0].component, "threshold") << "failures are as slow as successes";
}

TEST_F(couchbase_threshold_log, nothing_is_written_after_a_client_was_destroyed)
{
    open();
    scene.fault(0, kv_opcode::upsert, slow_reply(600ms), activation::times(1));
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    scene.client.reset();
    scene.simulation.run_for(60s);
    EXPECT_TRUE(log->all().empty());
}

TEST_F(couchbase_threshold_log, thresholds_can_be_switched_off)
{
    couchbase::log_thresholds off;
    off.enabled = false;
    off.orphans = false;
    open(off);
    scene.fault(0, kv_opcode::upsert, slow_reply(600ms), activation::times(2));
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    EXPECT_FALSE(scene.upsert("a", "{}", {.timeout = 100ms})->good());
    scene.simulation.run_for(60s);
    EXPECT_TRUE(log->all().empty());
}

TEST_F(couchbase_threshold_log, reply_after_the_timeout_is_reported_as_an_orphan)
{
    open();
    scene.fault(0, kv_opcode::get, slow_reply(300ms), activation::times(1));
    EXPECT_EQ(scene.get("warm1", {.timeout = 100ms})->code(), errc::unambiguous_timeout);
    scene.simulation.run_for(11s);
    const auto lines = log->all();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].component, "orphan");
    EXPECT_EQ(lines[0].level, severity::warning);
    EXPECT_EQ(lines[0].message, "replies came after their requests were given up");
    EXPECT_EQ(without_draws(lines[0].json),
              R"({"kv":{"total_count":1,"top_requests":[{"total_duration_us":302000,)"
              R"("last_dispatch_duration_us":302000,"last_server_duration_us":N,)"
              R"("total_server_duration_us":N,"operation_name":"get",)"
              R"("last_local_id":"CLIENT/CONNECTION","operation_id":"OPAQUE",)"
              R"("last_local_socket":"LOCAL","last_remote_socket":"n0:11210",)"
              R"("timeout_ms":100,"reason":"timed_out"}]}})");
}

TEST_F(couchbase_threshold_log, reply_after_a_cancellation_is_reported_as_an_orphan)
{
    open();
    scene.fault(0, kv_opcode::get, slow_reply(300ms), activation::times(2));
    for (int n = 0; n != 2; ++n) {
        boost::asio::cancellation_signal stop;
        bool ended = false;
        scene.documents().get(
            "warm1", {},
            boost::asio::bind_cancellation_slot(stop.slot(), [&](const auto&) { ended = true; }));
        scene.simulation.run_for(10ms);
        stop.emit(boost::asio::cancellation_type::terminal);
        ASSERT_TRUE(scene.finish([&] { return ended; }));
    }
    scene.simulation.run_for(11s);
    ASSERT_EQ(log->all().size(), 1u);
    const auto report = boost::json::parse(log->all()[0].json);
    EXPECT_EQ(report.at("kv").at("total_count").as_int64(), 2);
    EXPECT_EQ(report.at("kv").at("top_requests").at(0).at("reason").as_string(), "cancelled");
}

TEST_F(couchbase_threshold_log, reply_that_never_comes_is_no_orphan)
{
    open();
    scene.fault(0, kv_opcode::get, proof::silent_fault(), activation::times(1));
    EXPECT_EQ(scene.get("warm1", {.timeout = 100ms})->code(), errc::unambiguous_timeout);
    scene.simulation.run_for(60s);
    EXPECT_TRUE(log->all().empty());
}

TEST_F(couchbase_threshold_log, impossible_values_are_refused)
{
    const auto refused = [&](const couchbase::cluster_options& with) {
        auto made = couchbase::access::in_world({std::shared_ptr<void>{}, &scene.app.world()},
                                                scene.uri(), with);
        return made ? "accepted" : made.error().message();
    };
    couchbase::cluster_options options;
    options.thresholds.interval = 0ms;
    EXPECT_EQ(refused(options), "thresholds.interval: it must be 1 ms or longer");
    options.thresholds.interval = 1ms;
    options.thresholds.sample = 1'001;
    EXPECT_EQ(refused(options), "thresholds.sample: it must be a number from 1 to 1,000");
    options.thresholds.sample = 1'000;
    options.observer_queue = 0;
    EXPECT_EQ(refused(options), "observer_queue: it must be 1 or more");
}

}  // namespace
}  // namespace holdfast::couchbase_threshold_log_test
