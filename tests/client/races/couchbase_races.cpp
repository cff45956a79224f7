#include "client/races/couchbase_races.hpp"

#include "client/races/couchbase_race_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <algorithm>

namespace holdfast::proof {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using std::chrono::milliseconds;

namespace {

/// Refuses some of the writes and reads at all nodes.
void refuse_some(couchbase_race& in, kv_status with, double probability)
{
    lab::couchbase::kv_fault refusal;
    refusal.error_code = static_cast<int>(with);
    for (const kv_opcode opcode : {kv_opcode::upsert, kv_opcode::get})
        in.scene.fault_everywhere(opcode, refusal, lab::activation::with_probability(probability));
}

runtime::awaitable<void> move_all(lab::couchbase::cluster& of, std::vector<std::size_t> out)
{
    (void)co_await of.rebalance(std::move(out));
}

}  // namespace

race_report couchbase_cancellations(std::uint64_t seed)
{
    couchbase_race in{seed, {.nodes = 2, .replicas = 1}};
    in.connect();
    in.scene.warm_up();
    refuse_some(in, in.chance.roll(0.5) ? kv_status::not_my_vbucket : kv_status::temporary_failure,
                0.3);
    const bool closes = in.chance.roll(0.5);
    for (int n = 0; n != 24; ++n) {
        const auto timeout = milliseconds{1 + in.chance.below(12)};
        raced_operation& one = in.begin(in.chance.roll(0.5), timeout);
        in.scene.simulation.at_time(in.scene.simulation.now() + in.chance.up_to(6ms),
                                    [&in, &one] { in.cancel(one); });
        if (in.chance.roll(0.3))
            in.scene.simulation.run_for(in.chance.up_to(1ms));
    }
    if (closes)
        in.scene.simulation.at_time(in.scene.simulation.now() + in.chance.up_to(5ms),
                                    [&in] { in.close(); });
    race_report report;
    in.conclude(report);
    report.raced = std::ranges::any_of(
        in.operations, [](const raced_operation& one) { return one.stopped.has_value(); });
    return report;
}

race_report couchbase_close_in_flight(std::uint64_t seed)
{
    couchbase_race in{seed, {.nodes = 2, .replicas = 0}};
    in.connect();
    in.scene.warm_up();
    if (in.chance.roll(0.5))
        in.scene.host_of(in.chance.below(2)).freeze();
    for (int n = 0; n != 1000; ++n)
        in.begin(n % 2 == 0, 2500ms);
    in.scene.simulation.run_for(in.chance.up_to(3ms));
    race_report report;
    report.raced = std::ranges::any_of(
        in.operations, [](const raced_operation& one) { return one.completions == 0; });
    in.close();
    in.conclude(report);
    for (const raced_operation& one : in.operations) {
        // What was sent is cancelled with its connection; the rest finds the cluster closed.
        const bool expected = !one.failed ||
                              one.failed->code() == make_error_code(couchbase::errc::closed) ||
                              one.failed->code() ==
                                  make_error_code(couchbase::errc::request_canceled) ||
                              one.failed->code() ==
                                  make_error_code(couchbase::errc::document_not_found);
        if (!expected)
            report.complaints += one.key + " ended otherwise: " + one.failed->explain() + '\n';
    }
    return report;
}

race_report couchbase_news_in_bootstrap(std::uint64_t seed)
{
    couchbase_race in{seed, {.nodes = 3, .replicas = 1}};
    in.connect();
    for (int n = 0; n != 16; ++n)
        in.begin(n % 2 == 0, 5000ms);
    const duration when = in.chance.up_to(15ms);
    const std::size_t kind = in.chance.below(3);
    bool was_open = false;
    in.scene.simulation.at_time(in.scene.simulation.now() + when, [&in, kind, &was_open] {
        was_open = in.watcher->opened >= 4;
        if (kind == 0)
            in.scene.cluster->publish();
        else if (kind == 1)
            (void)in.scene.cluster->fail_over(2).has_value();
        else
            in.scene.host_of(0).start(move_all(*in.scene.cluster, {2}));
    });
    race_report report;
    in.conclude(report);
    report.raced = !was_open;
    for (const raced_operation& one : in.operations) {
        const bool good = one.good() || (one.failed && !one.writes &&
                                         one.failed->code() ==
                                             make_error_code(couchbase::errc::document_not_found));
        if (!good)
            report.complaints += one.key + " failed: " + one.failed->explain() + '\n';
    }
    return report;
}

race_report couchbase_two_configurations(std::uint64_t seed)
{
    couchbase_race in{seed, {.nodes = 3, .replicas = 1}};
    in.connect();
    in.scene.warm_up();
    for (std::size_t n = 0; n != 3; ++n) {
        lab::couchbase::push_policy push;
        push.then_older = in.chance.roll(0.5);
        push.brief = in.chance.roll(0.3);
        push.copies = 1 + static_cast<int>(in.chance.below(3));
        in.scene.node(n).push = push;
        in.scene.cluster->set_configuration_lag(n, milliseconds{in.chance.below(5)});
    }
    for (int n = 0; n != 6; ++n) {
        in.scene.cluster->publish();
        in.begin(n % 2 == 0, 2500ms);
        in.scene.simulation.run_for(in.chance.up_to(3ms));
    }
    race_report report;
    report.raced = true;
    in.scene.simulation.run_for(100ms);
    const std::int64_t newest = in.scene.cluster->view().revision.rev;
    if (in.watcher->last["travel"] != newest)
        report.complaints += "revision " + std::to_string(in.watcher->last["travel"]) +
                             " is in use, and the newest is " + std::to_string(newest) + '\n';
    in.conclude(report);
    return report;
}

race_report couchbase_flush_and_cut(std::uint64_t seed)
{
    couchbase_race in{seed, {.nodes = 2, .replicas = 0}};
    in.connect();
    in.scene.warm_up();
    in.scene.host_of(0).set_receive_buffer(512 + in.chance.below(4096));
    race_report report;
    for (int round = 0; round != 4; ++round) {
        for (int n = 0; n != 60; ++n)
            in.begin(true, 2500ms);
        in.scene.simulation.run_for(in.chance.up_to(2ms));
        const auto in_flight = std::ranges::count(in.operations, 0, &raced_operation::completions);
        report.raced = report.raced || in_flight != 0;
        in.scene.simulation.reset_connections(in.scene.app, in.scene.host_of(0));
        in.scene.simulation.run_for(in.chance.up_to(20ms));
    }
    in.conclude(report);
    for (const raced_operation& one : in.operations) {
        const bool expected = one.good() || one.failed->code() ==
                                                make_error_code(couchbase::errc::request_canceled);
        if (!expected)
            report.complaints += one.key + " ended otherwise: " + one.failed->explain() + '\n';
    }
    return report;
}

race_report couchbase_unproven_server(std::uint64_t seed)
{
    couchbase_race in{seed, {.nodes = 1}};
    lab::couchbase::kv_fault forged;
    forged.value = "v=" + std::string(in.chance.roll(0.5) ? "AAAAAAAAAAAAAAAAAAAAAAAAAAA=" : "");
    in.scene.fault_everywhere(kv_opcode::sasl_step, forged, lab::activation::always());
    for (const kv_opcode opcode : {kv_opcode::select_bucket, kv_opcode::get, kv_opcode::upsert})
        in.scene.count_requests(opcode);
    in.connect();
    for (int n = 0; n != 4; ++n) {
        in.begin(n % 2 == 0, 2500ms);
        in.scene.simulation.run_for(in.chance.up_to(5ms));
    }
    race_report report;
    report.raced = true;
    in.conclude(report);
    if (in.watcher->opened != 0)
        report.complaints += "a connection to a server without proof was opened\n";
    for (const kv_opcode opcode : {kv_opcode::get, kv_opcode::upsert}) {
        if (in.scene.counted(opcode) != 0)
            report.complaints += "a server without proof got a request\n";
    }
    for (const raced_operation& one : in.operations) {
        if (!one.failed ||
            one.failed->code() != make_error_code(couchbase::errc::authentication_failure))
            report.complaints += one.key + " did not fail for the missing proof\n";
    }
    return report;
}

race_report couchbase_new_collection(std::uint64_t seed)
{
    couchbase_race in{seed, {.nodes = 2, .replicas = 0}};
    in.connect();
    in.scene.warm_up();
    in.scene.cluster->create_collection("travel", "_default", "orders");
    const auto orders = (*in.scene.client)["travel"].collection("orders");
    const couchbase::raw_json content{"{}"};
    race_report report;
    report.raced = true;
    for (int round = 0; round != 3; ++round) {
        std::vector<kv_run<couchbase::mutation_result>> all;
        for (int n = 0; n != 6; ++n) {
            all.push_back(in.scene.start(orders.upsert("o" + std::to_string(n), content,
                                                       {.timeout = 1000ms}, use_awaitable)));
            in.scene.simulation.run_for(in.chance.up_to(1ms));
            if (n == 3) {
                in.scene.cluster->drop_collection("travel", "_default", "orders");
                in.scene.cluster->create_collection("travel", "_default", "orders");
            }
        }
        const auto done = [](const auto& one) { return one->done(); };
        (void)in.scene.finish([&] { return std::ranges::all_of(all, done); });
        for (const auto& one : all) {
            if (!one->good())
                report.complaints += "an operation on a collection that was made again failed: " +
                                     one->explain() + '\n';
        }
    }
    in.conclude(report);
    return report;
}

const std::vector<race>& couchbase_races()
{
    static const std::vector<race> all{
        {"couchbase_cancellations", couchbase_cancellations},
        {"couchbase_end_at_every_step", couchbase_end_at_every_step},
        {"couchbase_breaker_and_success", couchbase_breaker_and_success},
        {"couchbase_close_in_flight", couchbase_close_in_flight},
        {"couchbase_news_in_bootstrap", couchbase_news_in_bootstrap},
        {"couchbase_two_configurations", couchbase_two_configurations},
        {"couchbase_flush_and_cut", couchbase_flush_and_cut},
        {"couchbase_unproven_server", couchbase_unproven_server},
        {"couchbase_new_collection", couchbase_new_collection},
    };
    return all;
}

}  // namespace holdfast::proof
