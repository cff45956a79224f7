// The strategy that fails on terminal errors differs from best effort in nothing else: over seeds
// and faults of all other kinds, the network sees the same bytes at the same times.
#include "client/couchbase/operation_table.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <set>

namespace holdfast::couchbase_terminal_strategy_difference_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::retry_reason;
using lab::activation;
using proof::kv_scene;
using proof::observing_strategy;
using proof::status_fault;

constexpr std::uint64_t seeds = 200;

/// One history: what the network saw, what the operations came to, and what the strategy was asked.
struct history {
    std::uint64_t traffic = 0;
    std::vector<std::string> outcomes = {};
    std::set<retry_reason> reasons = {};
};

std::uint64_t draw(kv_scene& in, std::uint64_t below)
{
    return in.simulation.random() % below;
}

void add_faults(kv_scene& to, const std::vector<proof::table_row>& operations)
{
    constexpr kv_status statuses[] = {
        kv_status::not_my_vbucket,
        kv_status::unknown_collection,
        kv_status::config_only,
        kv_status::locked,
        kv_status::temporary_failure,
        kv_status::sync_write_in_progress,
        kv_status::auth_stale,
        kv_status::sync_write_re_commit_in_progress,
        kv_status{0x7ff0},
        kv_status{0x7abc},
        kv_status::not_found,
        kv_status::busy,
    };
    for (int n = 0; n != 12; ++n) {
        const kv_opcode opcode = operations[draw(to, operations.size())].opcode;
        const std::uint64_t kind = draw(to, 10);
        lab::couchbase::kv_fault what = kind == 0 ? proof::cut_fault()
                                        : kind == 1
                                            ? proof::silent_fault()
                                            : status_fault(statuses[draw(to, std::size(statuses))]);
        to.fault(draw(to, 2), opcode, std::move(what),
                 activation::times(1 + static_cast<std::int64_t>(draw(to, 5))));
    }
}

/// What the nodes do besides, while operations run.
void add_trouble(kv_scene& to, std::uint64_t seed)
{
    const auto later = [&](auto what) {
        const auto when = to.simulation.now() + std::chrono::milliseconds{draw(to, 400)};
        to.simulation.at_time(when, std::move(what));
    };
    later([&to] { to.simulation.reset_connections(to.app, to.host_of(0)); });
    switch (seed % 4) {
    case 0:
        return later([&to] { (void)to.cluster->fail_over(1); });
    case 1:
        later([&to] { (void)to.cluster->close_port(1); });
        return later([&to] { (void)to.cluster->open_port_again(1); });
    case 2:
        // Clients that go by external addresses find no key-value service there.
        return later([&to] {
            to.cluster->set_alternate_address(
                1, lab::couchbase::alternate_address{"n1", {{"mgmt", std::uint16_t{8091}}}});
        });
    default:
        return;
    }
}

history run(std::uint64_t seed, couchbase::retry_strategy_ptr strategy)
{
    const auto observed = std::make_shared<observing_strategy>(std::move(strategy));
    kv_scene scene{{.nodes = 2, .seed = seed, .vbuckets = 64}};
    for (std::size_t n = 0; n != 2; ++n)
        scene.node(n).error_map =
            R"({"version":2,"revision":1,"errors":{"7ff0":{"name":"N","desc":"d","attrs":)"
            R"(["retry-later"]}}})";
    couchbase::cluster_options options;
    options.strategy = observed;
    couchbase::breaker_options breaker;
    breaker.volume = 6;
    breaker.sleep_window = 50ms;
    options.circuit_breaker = breaker;
    scene.connect(options,
                  seed % 4 == 2 ? "?network=external&kv_timeout=700ms" : "?kv_timeout=700ms");
    for (const char* const id : {"a", "n"})
        (void)scene.upsert(id, "1");
    const auto operations = proof::all_operations();
    add_faults(scene, operations);
    add_trouble(scene, seed);
    std::vector<proof::kv_run<bool>> all;
    for (int n = 0; n != 16; ++n) {
        all.push_back(
            scene.start(operations[draw(scene, operations.size())].start(scene.documents())));
        scene.simulation.run_for(std::chrono::milliseconds{draw(scene, 40)});
    }
    EXPECT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
    history made;
    made.traffic = scene.simulation.trace_hash();
    for (const auto& one : all)
        made.outcomes.push_back(one->explain());
    for (const auto& one : observed->asked)
        made.reasons.insert(one.reason);
    return made;
}

TEST(couchbase_terminal_strategy, differs_from_best_effort_in_terminal_errors_alone)
{
    VERIFIES_BY_TRAFFIC("CR-044");
    std::set<retry_reason> reasons;
    std::set<std::uint64_t> different;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        const history terminal = run(
            seed, std::make_shared<couchbase::fast_fail_on_terminal_error_retry_strategy>());
        const history patient = run(seed,
                                    std::make_shared<couchbase::best_effort_retry_strategy>());
        EXPECT_EQ(terminal.traffic, patient.traffic);
        EXPECT_EQ(terminal.outcomes, patient.outcomes);
        reasons.insert(terminal.reasons.begin(), terminal.reasons.end());
        different.insert(terminal.traffic);
    }
    EXPECT_EQ(different.size(), seeds) << "each seed is another history";
    using enum retry_reason;
    EXPECT_EQ(reasons, (std::set{socket_not_available, service_not_available, node_not_available,
                                 kv_error_map_retry_indicated, kv_locked, kv_temporary_failure,
                                 kv_sync_write_in_progress, kv_sync_write_re_commit_in_progress,
                                 service_response_code_indicated, socket_closed_while_in_flight,
                                 circuit_breaker_open}))
        << "all of key-value that a strategy is asked about, but for the terminal ones";
}

}  // namespace
}  // namespace holdfast::couchbase_terminal_strategy_difference_test
