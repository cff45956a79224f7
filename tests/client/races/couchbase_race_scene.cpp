#include "client/races/couchbase_race_scene.hpp"

#include "api/couchbase/cluster_impl.hpp"
#include "core/couchbase/route/vbucket.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <charconv>

namespace holdfast::proof {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;

namespace {

/// Few, since every seed makes a cluster of its own, and some move them all.
constexpr std::uint32_t race_vbuckets = 64;

runtime::awaitable<void> close_cluster(couchbase::cluster which, bool* closed)
{
    co_await which.close();
    *closed = true;
}

kv_scene_options seeded(kv_scene_options what, std::uint64_t seed)
{
    what.seed = seed;
    what.vbuckets = race_vbuckets;
    return what;
}

}  // namespace

void revision_watcher::on(const couchbase::config_changed& e)
{
    std::int64_t revision = 0;
    std::from_chars(e.revision.data(), e.revision.data() + e.revision.size(), revision);
    std::int64_t& known = last[e.bucket];
    if (revision <= known)
        complaints += "a configuration went back from revision " + std::to_string(known) + " to " +
                      e.revision + '\n';
    known = revision;
}

couchbase_race::couchbase_race(std::uint64_t seed, kv_scene_options what)
    : scene{seeded(std::move(what), seed)}, chance{scene.simulation}
{
    sim::link uneven;
    uneven.latency_min = 100us;
    uneven.latency_max = 2ms;
    scene.simulation.set_all_links(uneven);
    count_writes();
}

/// By a fault that hits none. It is asked after all others, so that it sees what is carried out.
void couchbase_race::count_writes()
{
    for (std::size_t n = 0; n != scene.cluster->nodes(); ++n) {
        lab::couchbase::kv_fault_plan::entry entry;
        entry.chooses = [this, n](const lab::couchbase::kv_target& one) {
            const std::uint16_t vbucket = core::couchbase::vbucket_of(one.document, race_vbuckets);
            auto& copies = scene.node(n).buckets.at("travel");
            if (one.opcode == kv_opcode::upsert && copies.find_active(vbucket) != nullptr)
                ++carried_out_[std::string{one.document}];
            return false;
        };
        entry.when = lab::activation::always();
        scene.node(n).faults.set("zz count", std::move(entry));
    }
}

void couchbase_race::connect(const std::string& more, couchbase::cluster_options options)
{
    options.listeners.push_back(watcher);
    scene.connect(std::move(options), more);
}

raced_operation& couchbase_race::begin(bool writes, std::chrono::milliseconds timeout)
{
    raced_operation& one = operations.emplace_back();
    ++left_;
    one.key = "k" + std::to_string(operations.size());
    one.writes = writes;
    one.deadline = scene.simulation.now() + timeout;
    const auto done = [this, &one](auto outcome) {
        left_ -= one.completions++ == 0 ? 1 : 0;
        one.ended = scene.simulation.now();
        if (!outcome)
            one.failed = std::move(outcome).error();
    };
    const couchbase::raw_json content{R"({"k":")" + one.key + "\"}"};
    if (writes)
        scene.documents().upsert(one.key, content, {.timeout = timeout},
                                 boost::asio::bind_cancellation_slot(one.stop.slot(), done));
    else
        scene.documents().get(one.key, {.timeout = timeout},
                              boost::asio::bind_cancellation_slot(one.stop.slot(), done));
    return one;
}

void couchbase_race::cancel(raced_operation& one)
{
    if (one.completions != 0)
        return;
    one.stopped = scene.simulation.now();
    one.stop.emit(boost::asio::cancellation_type::terminal);
}

void couchbase_race::close()
{
    if (closed_at)
        return;
    closed_at = scene.simulation.now();
    scene.app.start(close_cluster(*scene.client, &closed_));
}

bool couchbase_race::run_events(std::uint64_t count)
{
    const std::uint64_t until = scene.simulation.events() + count;
    return scene.simulation.run_while_not([&] { return scene.simulation.events() >= until; });
}

void couchbase_race::check_effects(race_report& report)
{
    for (const raced_operation& one : operations) {
        if (!one.writes)
            continue;
        const auto seen = carried_out_.find(one.key);
        const int times = seen == carried_out_.end() ? 0 : seen->second;
        if (times > 1)
            report.complaints += one.key + " was written " + std::to_string(times) + " times\n";
        if (times > 0 && !one.may_be_applied())
            report.complaints += one.key + " was written although it was reported as failed: " +
                                 (one.failed ? one.failed->explain() : "") + '\n';
        if (times == 0 && one.good())
            report.complaints += one.key + " was acknowledged, and never written\n";
    }
}

void couchbase_race::check_slots(race_report& report)
{
    for (const auto& bucket : couchbase::access::impl_of(*scene.client)->nodes().buckets()) {
        for (const auto& link : bucket->links()) {
            const auto connection = link->current();
            const std::size_t used = connection ? connection->statistics().waiting +
                                                      connection->statistics().abandoned
                                                : 0;
            if (used != 0)
                report.complaints += std::to_string(used) +
                                     " slots are in use after all operations have ended\n";
        }
    }
}

void couchbase_race::conclude(race_report& report)
{
    if (!scene.finish([&] { return left_ == 0; }))
        report.complaints += std::to_string(left_) + " operations did not end\n";
    scene.simulation.run_for(3s);
    check_slots(report);
    close();
    if (!scene.finish([&] { return closed_; }))
        report.complaints += "the cluster could not be closed\n";
    scene.simulation.run_for(100ms);
    for (const raced_operation& one : operations) {
        if (one.completions != 1)
            report.complaints += one.key + " completed " + std::to_string(one.completions) +
                                 " times\n";
        if (one.ended > one.deadline)
            report.complaints += one.key + " ended after its deadline\n";
        if (one.stopped && one.ended > *one.stopped)
            report.complaints += one.key + " did not end when it was cancelled\n";
        if (closed_at && one.ended > *closed_at)
            report.complaints += one.key + " did not end when the cluster was closed\n";
    }
    check_effects(report);
    report.complaints += watcher->complaints;
}

}  // namespace holdfast::proof
