// Races of the Couchbase client that go through the moments one by one, and those of its circuit
// breaker.
#include "client/races/couchbase_race_scene.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::proof {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using std::chrono::milliseconds;

namespace {

constexpr kv_opcode raced_opcodes[] = {kv_opcode::upsert, kv_opcode::get};

/// A client that has not connected yet, and two operations. Seeds are of four kinds.
struct fresh_start {
    enum class kind : std::uint8_t { cancel, cancel_when_refused, deadline, close };

    explicit fresh_start(std::uint64_t seed)
        : race{seed / 4, {.nodes = 2, .replicas = 0}}, is{static_cast<kind>(seed % 4)}
    {
        if (is == kind::cancel_when_refused) {
            lab::couchbase::kv_fault refusal;
            refusal.error_code = static_cast<int>(kv_status::not_my_vbucket);
            for (const kv_opcode opcode : raced_opcodes)
                race.scene.fault_everywhere(opcode, refusal, lab::activation::times(2));
        }
        race.connect();
    }
    void begin(milliseconds timeout)
    {
        race.begin(true, timeout);
        race.begin(false, timeout);
    }

    couchbase_race race;
    kind is;
};

/// When that step comes, as a time that can be asked for; nothing if it is over before.
std::optional<milliseconds> time_of_step(std::uint64_t seed, std::uint64_t step)
{
    fresh_start first{seed};
    const time_point began = first.race.scene.simulation.now();
    first.begin(2500ms);
    const bool is_there = first.race.run_events(step);
    const auto when = std::chrono::ceil<milliseconds>(first.race.scene.simulation.now() - began);
    return is_there ? std::optional{std::max(when, milliseconds{1})} : std::nullopt;
}

/// The node refuses all requests for a while, and is slow with some of those before.
class tried_node {
public:
    static constexpr duration sleep_window = 40ms;
    static constexpr duration jitter = 3ms;  // of links
    static constexpr duration opening = 60ms;  // the breaker is open by then

    explicit tried_node(couchbase_race& in) : in_{in}
    {
        lab::couchbase::kv_fault_plan::entry entry;
        entry.effect.reply_delay = 40ms + milliseconds{in.chance.below(80)};
        entry.chooses = is_raced;
        entry.when = lab::activation::with_probability(0.2);
        // By its name it is asked when the request has been counted as carried out.
        in.scene.node(0).faults.set("zzz slow", std::move(entry));
    }

    void refuse_for(duration length)
    {
        in_.scene.node(0).faults.remove("zzz slow");
        since_ = in_.scene.simulation.now();
        lab::couchbase::kv_fault_plan::entry entry;
        entry.effect.error_code = static_cast<int>(kv_status::temporary_failure);
        entry.chooses = [this](const lab::couchbase::kv_target& one) {
            if (is_raced(one))
                arrivals_.push_back(in_.scene.simulation.now());
            return is_raced(one);
        };
        entry.when = lab::activation::always();
        in_.scene.node(0).faults.set("refuse", std::move(entry));
        in_.scene.simulation.at_time(since_ + length,
                                     [this] { in_.scene.node(0).faults.remove("refuse"); });
    }

    /// While it is open one request comes for each sleep window, whatever else comes back.
    void check(race_report& report) const
    {
        std::optional<time_point> last;
        for (const time_point one : arrivals_) {
            if (one < since_ + opening)
                continue;
            if (last && one - *last < sleep_window - jitter)
                report.complaints += "a request went through an open circuit, " +
                                     std::to_string((one - *last) / 1us) +
                                     " us after the last trial\n";
            last = one;
        }
        report.raced = last.has_value();
    }

private:
    static bool is_raced(const lab::couchbase::kv_target& one)
    {
        return std::ranges::find(raced_opcodes, one.opcode) != std::end(raced_opcodes);
    }

    couchbase_race& in_;
    time_point since_{};
    std::vector<time_point> arrivals_;
};

}  // namespace

race_report couchbase_end_at_every_step(std::uint64_t seed)
{
    const std::uint64_t step = 1 + seed / 4 * 2;
    race_report report;
    fresh_start one{seed};
    couchbase_race& in = one.race;
    if (one.is == fresh_start::kind::deadline) {
        const auto when = time_of_step(seed, step);
        one.begin(when.value_or(2500ms));
        report.raced = when.has_value();
    } else {
        one.begin(2500ms);
        (void)in.run_events(step);
        report.raced = std::ranges::any_of(
            in.operations, [](const raced_operation& each) { return each.completions == 0; });
        for (raced_operation& each : in.operations) {
            if (one.is != fresh_start::kind::close)
                in.cancel(each);
        }
        if (one.is == fresh_start::kind::close)
            in.close();
    }
    in.conclude(report);
    return report;
}

race_report couchbase_breaker_and_success(std::uint64_t seed)
{
    couchbase_race in{seed, {.nodes = 1}};
    couchbase::cluster_options options;
    couchbase::breaker_options breaker;
    breaker.volume = 5;
    breaker.sleep_window = std::chrono::duration_cast<milliseconds>(tried_node::sleep_window);
    breaker.rolling_window = 20ms;
    options.circuit_breaker = breaker;
    in.connect({}, std::move(options));
    in.scene.warm_up();
    tried_node node{in};
    const auto work = [&in](duration length) {
        const time_point until = in.scene.simulation.now() + length;
        while (in.scene.simulation.now() < until) {
            in.begin(in.chance.roll(0.5), milliseconds{200 + in.chance.below(200)});
            in.scene.simulation.run_for(in.chance.up_to(1ms));
        }
    };
    work(20ms);
    const duration refused = 150ms + in.chance.up_to(80ms);
    node.refuse_for(refused);
    work(refused + 100ms);
    race_report report;
    node.check(report);
    const raced_operation& last = in.begin(true, 1000ms);
    const time_point began = in.scene.simulation.now();
    in.conclude(report);
    if (!last.good() || last.ended - began > 150ms)
        report.complaints += "the breaker has stayed open although the node was well again\n";
    return report;
}

}  // namespace holdfast::proof
