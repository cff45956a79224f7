#include "truth/couchbase/faults.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::truth {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;

namespace {

constexpr bool is_data(kv_opcode opcode) noexcept
{
    return opcode == kv_opcode::get || opcode == kv_opcode::upsert || opcode == kv_opcode::insert ||
           opcode == kv_opcode::replace || opcode == kv_opcode::increment;
}

}  // namespace

std::span<const std::string_view> couchbase_fault_names() noexcept
{
    static constexpr std::array<std::string_view, 14> names{
        "hard failover", "graceful failover", "rebalance in", "rebalance out",
        "crash",         "partition",         "freeze",       "delay",
        "cut",           "refusals",          "lost config",  "manifest",
        "no proof",      "new certificate"};
    return names;
}

lab::couchbase::node_place storm_place(sim::host& on)
{
    lab::couchbase::node_place made;
    made.world = &on.world();
    made.bind = made.host = on.name();
    made.port = storm_port;
    made.tls_port = storm_tls_port;
    return made;
}

couchbase_faults::couchbase_faults(storm_hosts& in, lab::couchbase::cluster& servers,
                                   std::size_t replicas, bool with_tls, couchbase_deeds& deeds,
                                   std::size_t count)
    : fault_script{in, couchbase_fault_names().size(), count},
      servers_{servers},
      replicas_{replicas},
      with_tls_{with_tls},
      deeds_{deeds}
{
}

bool couchbase_faults::happen(std::size_t kind)
{
    switch (static_cast<couchbase_fault>(kind)) {
    case couchbase_fault::hard_failover:
        return hard_failover();
    case couchbase_fault::graceful_failover:
        return graceful_failover();
    case couchbase_fault::rebalance_in:
        return rebalance_in();
    case couchbase_fault::rebalance_out:
        return rebalance_out();
    case couchbase_fault::crash:
        return crash();
    case couchbase_fault::partition:
        return partition();
    case couchbase_fault::freeze:
        return freeze();
    case couchbase_fault::delay:
        return delay();
    case couchbase_fault::cut:
        return cut();
    case couchbase_fault::refusals:
        return refusals();
    case couchbase_fault::lost_configuration:
        return lost_configuration();
    case couchbase_fault::manifest:
        return manifest();
    case couchbase_fault::no_proof:
        return no_proof();
    case couchbase_fault::new_certificate:
        break;
    }
    return new_certificate();
}

std::vector<std::size_t> couchbase_faults::members() const
{
    std::vector<std::size_t> made;
    for (std::size_t n = 0; n < servers_.nodes(); ++n) {
        if (servers_.is_member(n))
            made.push_back(n);
    }
    return made;
}

bool couchbase_faults::is_well(std::size_t node) const
{
    return !ill_.contains(node) && servers_.is_running(node);
}

bool couchbase_faults::all_run() const
{
    return std::ranges::all_of(members(), [this](std::size_t n) { return is_well(n); });
}

int couchbase_faults::victim()
{
    const std::vector<std::size_t> among = members();
    const std::size_t drawn = among[in_.below(among.size())];
    return is_well(drawn) ? static_cast<int>(drawn) : -1;
}

/// Whatever has been done to it, the node runs and gets to know what there is to know.
void couchbase_faults::bring_back(std::size_t node)
{
    sim::host& on = *in_.members[node];
    if (!on.running())
        on.restart(
            [&](sim::host& again) { (void)servers_.restart(node, &again.world()).has_value(); });
    on.thaw();
    servers_.hold_configuration(node, false);
    ill_.erase(node);
}

bool couchbase_faults::crash()
{
    const int drawn = victim();
    if (drawn < 0 || losing_)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    const bool silent = in_.below(3) == 0;
    record("n" + std::to_string(n) + " crashes" + (silent ? " silently" : ""));
    ill_.insert(n);
    in_.members[n]->crash(silent);
    servers_.lost(n);
    afterwards(in_.between(50, 2500), [this, n, silent, loss = disturb(n)] {
        record("n" + std::to_string(n) + " comes back");
        bring_back(n);
        // A client that has heard nothing of the crash does so when it sends again what was lost.
        in_.net.at_time(in_.net.now() + (silent ? 2s : 0s), [this, loss] { calm(loss); });
    });
    return true;
}

bool couchbase_faults::partition()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    const sim::host& alone = *in_.members[n];
    std::vector<const sim::host*> others;
    const std::uint64_t kind = in_.below(3);
    if (kind < 2) {
        for (const sim::host* const one : in_.members) {
            if (one != &alone)
                others.push_back(one);
        }
    }
    if (kind == 1)
        others.insert(others.end(), in_.clients.begin(), in_.clients.end());
    if (kind == 2)
        others.push_back(in_.clients[in_.below(in_.clients.size())]);
    record(alone.name() + " is cut off from " + std::to_string(others.size()) + " hosts");
    const bool one_way = in_.below(4) == 0;
    for (const sim::host* const other : others) {
        if (one_way)
            in_.net.partition_one_way(alone, *other);
        else
            in_.net.partition(alone, *other);
    }
    afterwards(in_.between(200, 3000), [this, &alone, others, loss = disturb(n)] {
        record(alone.name() + " is reached again");
        for (const sim::host* const other : others)
            in_.net.heal(alone, *other);
        calm(loss);
    });
    return true;
}

bool couchbase_faults::freeze()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    record("n" + std::to_string(n) + " stands still");
    ill_.insert(n);
    in_.members[n]->freeze();
    afterwards(in_.between(100, 3000), [this, n, loss = disturb(n)] {
        record("n" + std::to_string(n) + " goes on");
        in_.members[n]->thaw();
        ill_.erase(n);
        calm(loss);
    });
    return true;
}

bool couchbase_faults::delay()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    const sim::host& one = *in_.members[n];
    sim::link bad;
    bad.latency_max = in_.between(5, 300);
    bad.loss = in_.net.chance() * 0.1;
    bad.reset = in_.net.chance() * 0.02;
    record(one.name() + " has slow links");
    const auto all = [this, &one](const sim::link& link_state) {
        for (const sim::host* const other : in_.members) {
            if (other != &one)
                slow(one, *other, link_state);
        }
        for (const sim::host* const other : in_.clients)
            slow(one, *other, link_state);
    };
    all(bad);
    afterwards(in_.between(200, 3000), [this, all, &one, loss = disturb(n)] {
        record(one.name() + " has good links again");
        all(sim::link{});
        calm(loss);
    });
    return true;
}

void couchbase_faults::reset_clients_of(std::size_t node)
{
    for (const sim::host* const one : in_.clients)
        in_.net.reset_connections(*one, *in_.members[node]);
    in_.net.reset_connections(*in_.control, *in_.members[node]);
}

bool couchbase_faults::cut()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    const std::uint64_t kind = in_.below(3);
    record("connections of n" + std::to_string(n) + " break");
    if (kind == 0) {
        reset_clients_of(n);
        return true;
    }
    lab::couchbase::kv_fault_plan::entry entry;
    if (kind == 1)
        entry.effect.close_connection = true;
    else
        entry.effect.cut_reply_at = in_.below(30);
    entry.chooses = [](const lab::couchbase::kv_target& one) { return is_data(one.opcode); };
    entry.when = lab::activation::with_probability(0.02);
    const std::string name = "cut " + std::to_string(++faults_);
    servers_.at(n).faults.set(name, std::move(entry));
    afterwards(in_.between(200, 2000), [this, n, name, loss = disturb(n)] {
        servers_.at(n).faults.set(name, {});
        calm(loss);
        record("connections of n" + std::to_string(n) + " stay");
    });
    return true;
}

bool couchbase_faults::refusals()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    constexpr std::array<kv_status, 3> statuses{kv_status::temporary_failure, kv_status::locked,
                                                kv_status::not_my_vbucket};
    const kv_status status = statuses[in_.below(statuses.size())];
    lab::couchbase::kv_fault_plan::entry entry;
    entry.effect.error_code = static_cast<int>(status);
    entry.chooses = [this, status](const lab::couchbase::kv_target& one) {
        const bool fits = is_data(one.opcode) &&
                          (status != kv_status::locked || one.opcode != kv_opcode::get);
        deeds_.refusals += fits && status == kv_status::not_my_vbucket ? 1 : 0;
        return fits;
    };
    entry.when = lab::activation::with_probability(0.3 + in_.net.chance() * 0.6);
    const std::string name = "refuse " + std::to_string(++faults_);
    record("n" + std::to_string(n) + " refuses with " + std::to_string(static_cast<int>(status)));
    servers_.at(n).faults.set(name, std::move(entry));
    afterwards(in_.between(200, 2000), [this, n, name, loss = disturb(n)] {
        servers_.at(n).faults.set(name, {});
        calm(loss);
        record("n" + std::to_string(n) + " does not refuse any more");
    });
    return true;
}

bool couchbase_faults::lost_configuration()
{
    using lab::couchbase::refusal_body;
    const std::uint64_t kind = in_.below(6);
    constexpr std::array<refusal_body, 4> bodies{refusal_body::empty, refusal_body::stale,
                                                 refusal_body::garbage, refusal_body::full};
    const refusal_body body = bodies[in_.below(bodies.size())];
    const auto lag = std::chrono::milliseconds{in_.below(400)};
    record("news of configurations: kind " + std::to_string(kind));
    for (const std::size_t n : members()) {
        lab::couchbase::push_policy push;
        push.enabled = kind != 0;
        push.brief = kind == 1;
        push.copies = kind == 2 ? 3 : 1;
        push.older_only = kind == 3;
        push.then_older = kind == 4;
        servers_.at(n).push = push;
        servers_.at(n).refusals = body;
        servers_.set_configuration_lag(n, kind == 5 ? lag : 0ms);
    }
    // Without a new one there would be nothing to lose.
    servers_.publish();
    afterwards(in_.between(500, 3000), [this, loss = disturb(service_record::every_node)] {
        calm(loss);
        record("news of configurations come as usual");
        for (std::size_t n = 0; n < servers_.nodes(); ++n) {
            servers_.at(n).push = {};
            servers_.at(n).refusals = refusal_body::full;
            servers_.set_configuration_lag(n, 0ms);
        }
        servers_.publish();
    });
    return true;
}

bool couchbase_faults::manifest()
{
    const int drawn = victim();
    const bool holds = drawn >= 0 && in_.below(2) == 0;
    record(std::string{"the collection is dropped and made again"} +
           (holds ? ", and n" + std::to_string(drawn) + " does not know" : ""));
    const auto n = static_cast<std::size_t>(drawn);
    if (holds)
        servers_.hold_manifest(n, true);
    (void)servers_.drop_collection(storm_bucket, "_default", storm_collection);
    afterwards(in_.between(0, 300), [this, n, holds] {
        (void)servers_.create_collection(storm_bucket, "_default", storm_collection);
        if (holds)
            servers_.hold_manifest(n, false);
    });
    return true;
}

}  // namespace holdfast::truth
