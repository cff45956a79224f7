// What a strategy can see of a request, and what the library's own strategies make of it.
#include "client/couchbase/operation_table.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_retry_requests_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::best_effort_retry_strategy;
using couchbase::errc;
using couchbase::fast_fail_on_terminal_error_retry_strategy;
using couchbase::retry_reason;
using lab::activation;
using proof::kv_scene;
using proof::observing_strategy;
using proof::status_fault;
using proof::use_awaitable;

using reason_list = std::vector<retry_reason>;

reason_list listed(const couchbase::retry_reason_set& all)
{
    return {all.begin(), all.end()};
}

class couchbase_retry_requests : public ::testing::Test {
protected:
    std::shared_ptr<observing_strategy> open()
    {
        auto strategy = std::make_shared<observing_strategy>();
        couchbase::cluster_options options;
        options.strategy = strategy;
        scene.connect(options);
        scene.warm_up();
        return strategy;
    }
    void refuse_once(kv_opcode opcode, kv_status status)
    {
        scene.fault(0, opcode, status_fault(status), activation::times(1));
    }
    kv_scene scene;
};

TEST_F(couchbase_retry_requests, every_operation_shows_its_strategy_whether_it_is_idempotent)
{
    VERIFIES_BY_TRAFFIC("CR-010");
    for (const proof::table_row& row : proof::all_operations()) {
        SCOPED_TRACE(row.name);
        const auto strategy = std::make_shared<observing_strategy>();
        couchbase::cluster_options options;
        options.strategy = strategy;
        proof::table_scene table{options};
        table.fault(0, row.opcode, status_fault(kv_status::temporary_failure),
                    activation::times(1));
        (void)table.run(row.start(table.documents()));
        ASSERT_EQ(strategy->asked.size(), 1u);
        EXPECT_EQ(strategy->asked[0].idempotent, row.is_idempotent);
        EXPECT_FALSE(strategy->asked[0].operation.empty());
    }
}

TEST_F(couchbase_retry_requests, strategy_sees_each_earlier_reason_once)
{
    VERIFIES_BY_TRAFFIC("CR-013");
    const auto strategy = open();
    constexpr kv_status answers[] = {kv_status::temporary_failure, kv_status::locked,
                                     kv_status::temporary_failure, kv_status::not_my_vbucket,
                                     kv_status::sync_write_in_progress};
    for (const kv_status one : answers)
        refuse_once(kv_opcode::upsert, one);
    const auto stored = scene.upsert("a", "{}");
    ASSERT_TRUE(stored->good()) << stored->explain();
    using enum retry_reason;
    ASSERT_EQ(strategy->asked.size(), 4u) << "not for the vbucket";
    EXPECT_EQ(listed(strategy->asked[0].earlier), reason_list{});
    EXPECT_EQ(listed(strategy->asked[1].earlier), reason_list{kv_temporary_failure});
    EXPECT_EQ(listed(strategy->asked[2].earlier), (reason_list{kv_temporary_failure, kv_locked}));
    EXPECT_EQ(listed(strategy->asked[3].earlier),
              (reason_list{kv_temporary_failure, kv_locked, kv_not_my_vbucket}))
        << "the second temporary failure is not there twice";
}

TEST_F(couchbase_retry_requests, attempts_are_counted_on_the_path_of_the_strategy_and_beside_it)
{
    VERIFIES_BY_TRAFFIC("CR-014");
    const auto strategy = open();
    for (const kv_status one :
         {kv_status::temporary_failure, kv_status::not_my_vbucket, kv_status::locked,
          kv_status::not_my_vbucket, kv_status::temporary_failure})
        refuse_once(kv_opcode::get, one);
    scene.count_requests(kv_opcode::get);
    const auto none = scene.get("none");
    EXPECT_EQ(none->code(), errc::document_not_found) << none->explain();
    EXPECT_EQ(scene.counted(kv_opcode::get), 6);
    EXPECT_EQ(none->error().context("retry_attempts"), "5") << "requests sent, but for the first";
    ASSERT_EQ(strategy->asked.size(), 3u);
    EXPECT_EQ(strategy->asked[0].attempts, 0u);
    EXPECT_EQ(strategy->asked[1].attempts, 2u);
    EXPECT_EQ(strategy->asked[2].attempts, 4u);
    // 1, then 10 for the second attempt's vbucket, 4, 100 for the fourth's, and 16.
    EXPECT_EQ(none->took(), 6 * 2ms + 1ms + 10ms + 4ms + 100ms + 16ms);
}

TEST_F(couchbase_retry_requests, best_effort_of_the_application_makes_a_retry)
{
    VERIFIES_BY_TRAFFIC("CR-018");
    couchbase::cluster_options options;
    options.strategy = std::make_shared<best_effort_retry_strategy>(
        [](std::uint32_t) -> duration { return 7ms; });
    scene.connect(options);
    scene.warm_up();
    refuse_once(kv_opcode::upsert, kv_status::temporary_failure);
    scene.count_requests(kv_opcode::upsert);
    const auto globally = scene.upsert("a", "{}");
    EXPECT_TRUE(globally->good()) << globally->explain();
    EXPECT_EQ(globally->took(), 2ms + 7ms + 2ms);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 2);

    refuse_once(kv_opcode::upsert, kv_status::temporary_failure);
    const couchbase::retry_strategy_ptr usual = std::make_shared<best_effort_retry_strategy>();
    const auto by_request = scene.upsert("a", "{}", {.strategy = &usual});
    EXPECT_TRUE(by_request->good()) << by_request->explain();
    EXPECT_EQ(by_request->took(), 2ms + 1ms + 2ms);
}

TEST_F(couchbase_retry_requests, best_effort_retries_what_is_idempotent_or_was_not_carried_out)
{
    VERIFIES_BY_TRAFFIC("CR-021");
    struct row {
        kv_opcode opcode;  // get is idempotent, upsert is not
        bool is_cut;       // a reason that allows only idempotent retries
        bool is_retried;
    };
    constexpr row table[] = {
        {kv_opcode::get, false, true},
        {kv_opcode::get, true, true},
        {kv_opcode::upsert, false, true},
        {kv_opcode::upsert, true, false},
    };
    for (const row& one : table) {
        SCOPED_TRACE(std::string{one.is_cut ? "cut " : "busy "} +
                     std::to_string(static_cast<int>(one.opcode)));
        kv_scene fresh;
        couchbase::cluster_options options;
        options.strategy = std::make_shared<best_effort_retry_strategy>();
        fresh.connect(options);
        fresh.warm_up();
        fresh.fault(0, one.opcode,
                    one.is_cut ? proof::cut_fault() : status_fault(kv_status::temporary_failure),
                    activation::times(1));
        fresh.count_requests(one.opcode);
        const bool good = one.opcode == kv_opcode::get ? fresh.get("warm1")->good()
                                                       : fresh.upsert("a", "{}")->good();
        fresh.simulation.run_for(3s);
        EXPECT_EQ(good, one.is_retried);
        EXPECT_EQ(fresh.counted(one.opcode), one.is_retried ? 2 : 1);
    }
}

TEST_F(couchbase_retry_requests, terminal_error_strategy_is_chosen_for_a_cluster_or_a_request)
{
    VERIFIES_BY_TRAFFIC("CR-027");
    const couchbase::retry_strategy_ptr terminal =
        std::make_shared<fast_fail_on_terminal_error_retry_strategy>();
    const couchbase::retry_strategy_ptr patient = std::make_shared<best_effort_retry_strategy>();
    struct row {
        couchbase::retry_strategy_ptr of_cluster;
        const couchbase::retry_strategy_ptr* of_request;
        bool fails_at_once;
    };
    const row table[] = {
        {terminal, nullptr, true},
        {terminal, &patient, false},
        {patient, nullptr, false},
        {patient, &terminal, true},
    };
    for (const row& one : table) {
        kv_scene fresh;
        couchbase::cluster_options options;
        options.strategy = one.of_cluster;
        fresh.connect(options);
        fresh.warm_up();
        const auto lost = (*fresh.client)["travel"].collection("lost");
        const auto got = fresh.run(
            lost.get("a", {.timeout = 1s, .strategy = one.of_request}, use_awaitable));
        EXPECT_EQ(got->code(),
                  one.fails_at_once ? errc::collection_not_found : errc::unambiguous_timeout)
            << got->explain();
        if (one.fails_at_once)
            EXPECT_LT(got->took(), 50ms);
        else
            EXPECT_EQ(got->took(), 1s);
    }
}

/// Requests and their times, of one client: what the network has seen is folded into one number.
std::uint64_t traffic_of(couchbase::retry_strategy_ptr strategy)
{
    kv_scene scene;
    couchbase::cluster_options options;
    options.strategy = std::move(strategy);
    scene.connect(options);
    scene.warm_up();
    scene.fault(0, kv_opcode::get, status_fault(kv_status::temporary_failure),
                activation::times(5));
    (void)scene.get("warm1");
    const auto lost = (*scene.client)["travel"].collection("lost");
    (void)scene.run(lost.get("a", {.timeout = 1s}, use_awaitable));
    const auto nowhere = (*scene.client)["nowhere"].default_collection();
    (void)scene.run(nowhere.get("a", {.timeout = 1s}, use_awaitable));
    scene.simulation.run_for(1s);
    return scene.simulation.trace_hash();
}

TEST_F(couchbase_retry_requests, cluster_without_a_strategy_has_the_terminal_error_strategy)
{
    VERIFIES_BY_TRAFFIC("CR-028");
    const auto by_default = traffic_of({});
    EXPECT_EQ(by_default,
              traffic_of(std::make_shared<fast_fail_on_terminal_error_retry_strategy>()));
    EXPECT_NE(by_default, traffic_of(std::make_shared<best_effort_retry_strategy>()));

    // The request itself says so to those who are asked about it.
    scene.connect();
    scene.warm_up();
    const auto lost = (*scene.client)["travel"].collection("lost");
    const auto got = scene.run(lost.get("a", {}, use_awaitable));
    EXPECT_EQ(got->code(), errc::collection_not_found) << got->explain();
    EXPECT_EQ(got->error().history().back().decision, "not retried: the strategy chose to fail");
    const auto strategy = couchbase::default_retry_strategy();
    EXPECT_NE(dynamic_cast<const fast_fail_on_terminal_error_retry_strategy*>(strategy.get()),
              nullptr);
}

}  // namespace
}  // namespace holdfast::couchbase_retry_requests_test
