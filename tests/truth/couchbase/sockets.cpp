#include "truth/sockets.hpp"

#include "tools/holdfast/drill/couchbase/connector.hpp"
#include "tools/holdfast/drill/couchbase/lab_target.hpp"
#include "tools/holdfast/drill/judge.hpp"
#include "tools/holdfast/drill/report.hpp"
#include "tools/holdfast/drill/workload.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>
#include <utility>

namespace holdfast::truth {

using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;
using target = drill::couchbase_lab_target;

/// How often each happened.
struct node_faults {
    int failovers = 0;
    int rebalances = 0;
    int crashes = 0;
    std::string trouble = {};  // what could not be mended
    /// The longest time by which a pause of this thread was too long: so late the machine makes
    /// operations, too.
    clock::duration held_up{};
};

class storm_on_sockets {
public:
    storm_on_sockets(target& servers, std::uint64_t seed) : servers_{servers}, chance_{seed} {}

    /// In the end the cluster is whole.
    node_faults run(clock::time_point end)
    {
        while (clock::now() < end && count_.trouble.empty()) {
            pause(1000);
            const auto member = servers_.await_leader();
            if (!member)
                continue;
            switch (chance_() % 4) {
            case 0:
                fail_over(*member, chance_() % 2 == 0);
                break;
            case 1:
                move();
                break;
            default:
                crash(*member);
            }
        }
        return count_;
    }

private:
    void pause(std::uint64_t most_ms)
    {
        const auto end = clock::now() + std::chrono::milliseconds{100 + chance_() % most_ms};
        std::this_thread::sleep_until(end);
        count_.held_up = std::max(count_.held_up, clock::now() - end);
    }
    void check(const result<void>& done)
    {
        if (!done && count_.trouble.empty())
            count_.trouble = done.error().message();
    }
    void fail_over(std::size_t member, bool hard)
    {
        check(hard ? servers_.fail_over(member) : servers_.fail_over_gracefully(member));
        ++count_.failovers;
        pause(500);
        check(servers_.replace_lost());
    }
    void move()
    {
        check(servers_.rebalance_in());
        const auto member = servers_.await_leader();
        if (member)
            check(servers_.rebalance_out(*member));
        ++count_.rebalances;
    }
    void crash(std::size_t member)
    {
        if (!servers_.crash(member))
            return;
        ++count_.crashes;
        pause(1500);
        check(servers_.restart(member));
    }

    target& servers_;
    std::mt19937_64 chance_;
    node_faults count_;
};

int report_storm(drill::drill_report received, const node_faults& count)
{
    drill::scenario_report& storm = received.scenarios.front();
    storm.name = "storm";
    storm.needs_faults = true;
    storm.faults = static_cast<std::uint64_t>(count.failovers + count.rebalances + count.crashes);
    storm.trouble = count.trouble;
    std::fputs(drill::draw(received).c_str(), stdout);
    std::printf("faults: %d failovers, %d rebalances, %d crashes\n", count.failovers,
                count.rebalances, count.crashes);
    std::printf("this process had to wait up to %lld ms for a processor\n",
                static_cast<long long>(count.held_up / 1ms));
    std::printf("%llu writes without durability were lost by failovers\n",
                static_cast<unsigned long long>(received.found.total.forgotten));
    return drill::passed(received) ? 0 : 1;
}

}  // namespace

int run_couchbase_on_sockets(const sockets_options& options)
{
    auto servers = target::start({.nodes = options.members});
    if (!servers) {
        std::fprintf(stderr, "truth: %s\n", servers.error().message().c_str());
        return 2;
    }
    drill::couchbase_connector_options connecting;
    connecting.uri = (*servers)->uri();
    connecting.user = target::user;
    connecting.password = target::password;
    connecting.client.timeout = 5s;
    drill::workload_options work;
    work.clients = options.clients;
    work.seed = options.seed;
    work.mix = drill::couchbase_mix;
    work.bound = 6s;
    auto clients = drill::workload::open(
        std::make_unique<drill::couchbase_connector>(std::move(connecting)), work);
    if (!clients) {
        std::fprintf(stderr, "truth: %s\n", clients.error().message().c_str());
        return 2;
    }
    drill::workload& on = **clients;
    if (const auto prepared = on.prepare(); !prepared) {
        std::fprintf(stderr, "truth: %s\n", prepared.error().explain().c_str());
        return 1;
    }
    on.begin();
    storm_on_sockets storm{**servers, options.seed};
    const node_faults count = storm.run(clock::now() + std::chrono::seconds{options.seconds});
    drill::drill_report received;
    received.all_came_back = on.finish(30s);
    auto found = on.read_back(20s);
    if (!found) {
        std::fprintf(stderr, "truth: nothing can be read: %s\n", found.error().explain().c_str());
        return 1;
    }
    found->replicas_promoted = (*servers)->replicas_promoted();
    received.scenarios.resize(1);
    received.scenarios.front().retries = on.retries();
    received.found = drill::judge(on.history(), *found);
    return report_storm(std::move(received), count);
}

}  // namespace holdfast::truth
