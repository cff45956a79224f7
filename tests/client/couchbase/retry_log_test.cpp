// What the log and listeners get to know of retries, and in which order things happen.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_retry_log_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::retry_reason;
using lab::activation;
using proof::kv_scene;
using proof::status_fault;
using proof::use_awaitable;

/// Keeps the messages about retries, as "text; name=value; ...", and when they were written.
class retry_log final : public log_sink {
public:
    explicit retry_log(const sim::simulation& clock) : clock_{clock} {}

    bool wants(log_component component, severity) const noexcept override
    {
        return component == couchbase::log_components::retry;
    }
    void write(const log_record& record) noexcept override
    {
        std::string line{record.message};
        for (const log_field& one : record.fields) {
            line.append("; ").append(one.name).append("=");
            if (const auto* const text = std::get_if<std::string_view>(&one.value))
                line.append(*text);
            else if (const auto* const number = std::get_if<std::int64_t>(&one.value))
                line.append(std::to_string(*number));
        }
        lines.push_back(std::move(line));
        times.push_back(clock_.now());
    }
    std::vector<std::string> lines;
    std::vector<time_point> times;

private:
    const sim::simulation& clock_;
};

class retry_events final : public couchbase::event_listener {
public:
    void on(const couchbase::request_retried& what) override { all.push_back(what); }
    std::vector<couchbase::request_retried> all;
};

class couchbase_retry_log : public ::testing::Test {
protected:
    void open(couchbase::retry_strategy_ptr strategy = {})
    {
        couchbase::cluster_options options;
        options.strategy = std::move(strategy);
        options.log = log;
        options.listeners = {events};
        scene.connect(options);
        scene.warm_up();
        EXPECT_TRUE(log->lines.empty()) << "nothing was retried";
    }
    void refuse(kv_status status, std::int64_t times)
    {
        scene.fault(0, kv_opcode::upsert, status_fault(status), activation::times(times));
    }

    kv_scene scene;
    std::shared_ptr<retry_log> log = std::make_shared<retry_log>(scene.simulation);
    std::shared_ptr<retry_events> events = std::make_shared<retry_events>();
};

TEST_F(couchbase_retry_log, scheduled_retry_is_logged_with_its_reason_node_and_wait)
{
    VERIFIES_BY_TRAFFIC("CR-064");
    VERIFIES_BY_TRAFFIC("CR-066");
    open(std::make_shared<couchbase::best_effort_retry_strategy>(
        [](std::uint32_t attempts) -> duration { return attempts == 0 ? 7ms : 30ms; }));
    refuse(kv_status::temporary_failure, 2);
    scene.count_requests(kv_opcode::upsert);
    const time_point began = scene.simulation.now();
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    ASSERT_EQ(log->lines.size(), 2u);
    EXPECT_EQ(log->lines[0],
              "retry scheduled; operation=upsert; reason=KV_TEMPORARY_FAILURE; server=n0:11210; "
              "retryAttempts=1; waitMS=7; decision=retried by the strategy, after 7 ms");
    EXPECT_EQ(log->lines[1],
              "retry scheduled; operation=upsert; reason=KV_TEMPORARY_FAILURE; server=n0:11210; "
              "retryAttempts=2; waitMS=30; decision=retried by the strategy, after 30 ms");
    // It is counted and logged when it is scheduled, not when the request is sent.
    EXPECT_EQ(log->times[0] - began, 2ms);
    EXPECT_EQ(log->times[1] - began, 2ms + 7ms + 2ms);
    ASSERT_EQ(events->all.size(), 2u);
    EXPECT_EQ(events->all[1].server.value(), "n0:11210");
    EXPECT_EQ(events->all[1].wait, 30ms);
    EXPECT_TRUE(events->all[1].scheduled);
}

TEST_F(couchbase_retry_log, retry_without_a_strategy_is_logged_likewise)
{
    VERIFIES_BY_TRAFFIC("CR-063");
    VERIFIES_BY_TRAFFIC("CR-066");
    const auto strategy = std::make_shared<proof::refusing_strategy>();
    open(strategy);
    refuse(kv_status::not_my_vbucket, 2);
    ASSERT_TRUE(scene.upsert("a", "{}")->good());
    ASSERT_EQ(log->lines.size(), 2u);
    EXPECT_EQ(log->lines[1],
              "retry scheduled; operation=upsert; reason=KV_NOT_MY_VBUCKET; server=n0:11210; "
              "retryAttempts=2; waitMS=10; decision=always retried, after 10 ms");
    EXPECT_EQ(strategy->asked, 0);
}

TEST_F(couchbase_retry_log, wait_is_logged_as_it_is_capped)
{
    VERIFIES_BY_TRAFFIC("CR-064");
    VERIFIES_BY_TRAFFIC("CR-068");
    VERIFIES_BY_TRAFFIC("CR-069");
    // The third attempt fails 2 s into 2.5 s, and a second is to be waited.
    open(std::make_shared<couchbase::best_effort_retry_strategy>(
        [](std::uint32_t attempts) -> duration {
            return attempts == 0 ? 996ms : 998ms + 2ms * (attempts / 2);
        }));
    refuse(kv_status::temporary_failure, 100);
    scene.count_requests(kv_opcode::upsert);
    std::uint64_t written = 0;
    scene.simulation.at_time(scene.simulation.now() + 2001ms,
                             [&] { written = scene.written_to(0); });
    const auto late = scene.upsert("a", "{}", {.timeout = 2500ms});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 2500ms);
    ASSERT_EQ(log->lines.size(), 3u);
    EXPECT_EQ(log->lines[2],
              "retry scheduled; operation=upsert; reason=KV_TEMPORARY_FAILURE; server=n0:11210; "
              "retryAttempts=3; waitMS=500; decision=retried by the strategy; but only 500 ms are "
              "left, so it times out");
    EXPECT_EQ(late->error().history().back().waited, 500ms);
    scene.simulation.run_for(2s);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 3);
    EXPECT_NE(written, 0u);
    EXPECT_EQ(scene.written_to(0), written) << "no byte has left since the last attempt";
}

TEST_F(couchbase_retry_log, refused_retry_is_logged_and_nothing_is_scheduled)
{
    VERIFIES_BY_TRAFFIC("CR-065");
    VERIFIES_BY_TRAFFIC("CR-066");
    open(std::make_shared<proof::refusing_strategy>());
    refuse(kv_status::locked, 100);
    scene.count_requests(kv_opcode::upsert);
    const auto refused = scene.upsert("a", "{}");
    EXPECT_EQ(refused->code(), errc::document_locked) << refused->explain();
    EXPECT_EQ(refused->took(), 2ms);
    ASSERT_EQ(log->lines.size(), 1u);
    EXPECT_EQ(log->lines[0],
              "request not retried; operation=upsert; reason=KV_LOCKED; server=n0:11210; "
              "retryAttempts=0; waitMS=0; decision=not retried: the strategy refused");
    EXPECT_EQ(log->times[0], refused->ended);
    ASSERT_EQ(events->all.size(), 1u);
    EXPECT_FALSE(events->all[0].scheduled);
    EXPECT_EQ(events->all[0].server.value(), "n0:11210");
    scene.simulation.run_for(5s);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 1);
}

TEST_F(couchbase_retry_log, change_lost_in_flight_is_logged_as_not_retried)
{
    VERIFIES_BY_TRAFFIC("CR-065");
    VERIFIES_BY_TRAFFIC("CR-066");
    open();
    scene.fault(0, kv_opcode::upsert, proof::cut_fault(), activation::times(1));
    EXPECT_EQ(scene.upsert("a", "{}")->code(), errc::request_canceled);
    ASSERT_EQ(log->lines.size(), 1u);
    EXPECT_EQ(log->lines[0],
              "request not retried; operation=upsert; reason=SOCKET_CLOSED_WHILE_IN_FLIGHT; "
              "server=n0:11210; retryAttempts=0; waitMS=0; decision=not retried: it is not "
              "idempotent and may have been applied");
}

TEST_F(couchbase_retry_log, answer_that_is_final_is_no_matter_of_retries)
{
    open();
    EXPECT_EQ(scene.get("none")->code(), errc::document_not_found);
    EXPECT_TRUE(log->lines.empty());
}

}  // namespace
}  // namespace holdfast::couchbase_retry_log_test
