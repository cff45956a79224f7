#include "truth/sockets.hpp"

#include "holdfast/lab/mongo.hpp"
#include "tools/holdfast/drill/judge.hpp"
#include "tools/holdfast/drill/mongo/connector.hpp"
#include "tools/holdfast/drill/report.hpp"
#include "tools/holdfast/drill/workload.hpp"

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

/// How often each happened.
struct broken {
    int step_downs = 0;
    int crashes = 0;
    bool for_ever = false;  // a member did not come back
};

/// A line every five seconds.
class progress_lines {
public:
    explicit progress_lines(drill::workload& of) : of_{of}, next_{began_ + 5s} {}

    void show(const broken& count)
    {
        if (clock::now() < next_)
            return;
        next_ += 5s;
        std::printf("%lld s: %llu acknowledged, %d stepdowns, %d crashes\n",
                    static_cast<long long>((clock::now() - began_) / 1s),
                    static_cast<unsigned long long>(of_.progress().acknowledged), count.step_downs,
                    count.crashes);
        std::fflush(stdout);
    }

private:
    drill::workload& of_;
    clock::time_point began_ = clock::now();
    clock::time_point next_;
};

/// Breaks the set until that time; in the end it is whole.
broken break_until(lab::mongo_cluster& set, clock::time_point end, std::mt19937_64& chance,
                   drill::workload& clients)
{
    progress_lines lines{clients};
    const auto pause = [&](std::uint64_t most_ms) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100 + chance() % most_ms});
    };
    broken count;
    while (clock::now() < end) {
        pause(1500);
        lines.show(count);
        const auto leads = set.wait_for_primary();
        if (!leads)
            continue;
        if (chance() % 2 == 0) {
            count.step_downs += set.step_down(1s).has_value() ? 1 : 0;
            continue;
        }
        const std::size_t victim = chance() % 3 != 0 ? *leads : chance() % set.members();
        if (!set.crash(victim))
            continue;
        ++count.crashes;
        pause(2500);
        if (!set.restart(victim)) {
            count.for_ever = true;
            break;
        }
    }
    return count;
}

int report(drill::drill_report received, const broken& count)
{
    drill::scenario_report& storm = received.scenarios.front();
    storm.name = "storm";
    storm.needs_faults = true;
    storm.faults = static_cast<std::uint64_t>(count.step_downs + count.crashes);
    if (count.for_ever)
        storm.trouble = "a member did not come back";
    else if (count.step_downs == 0 || count.crashes == 0)
        storm.trouble = "a kind of fault has never happened";
    std::fputs(drill::draw(received).c_str(), stdout);
    std::printf("faults: %d stepdowns, %d crashes\n", count.step_downs, count.crashes);
    return drill::passed(received) ? 0 : 1;
}

}  // namespace

int run_mongo_on_sockets(const sockets_options& options)
{
    lab::mongo_options deployment;
    deployment.members = options.members;
    deployment.remembers_retryable_writes = !options.forgetful;
    auto set = lab::mongo_cluster::start(std::move(deployment));
    if (!set) {
        std::fprintf(stderr, "truth: %s\n", set.error().message().c_str());
        return 2;
    }
    constexpr auto timeout = 10s;
    drill::mongo_connector_options connecting;
    connecting.uri = set->uri();
    connecting.client.timeout = timeout;
    drill::workload_options work;
    work.clients = options.clients;
    work.seed = options.seed;
    work.bound = timeout + 1s;
    auto clients = drill::workload::open(
        std::make_unique<drill::mongo_connector>(std::move(connecting)), work);
    if (!clients) {
        std::fprintf(stderr, "truth: %s\n", clients.error().message().c_str());
        return 2;
    }
    drill::workload& on = **clients;
    if (const auto prepared = on.prepare(); !prepared) {
        std::fprintf(stderr, "truth: %s\n", prepared.error().explain().c_str());
        return 1;
    }
    std::mt19937_64 chance{options.seed};
    on.begin();
    const broken count = break_until(*set, clock::now() + std::chrono::seconds{options.seconds},
                                     chance, on);
    drill::drill_report received;
    received.all_came_back = on.finish(30s);
    const auto found = on.read_back(20s);
    if (!found) {
        std::fprintf(stderr, "truth: nothing can be read: %s\n", found.error().explain().c_str());
        return 1;
    }
    received.scenarios.resize(1);
    received.scenarios.front().retries = on.retries();
    received.found = drill::judge(on.history(), *found);
    return report(std::move(received), count);
}

}  // namespace holdfast::truth
