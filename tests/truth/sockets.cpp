#include "truth/sockets.hpp"

#include "holdfast/lab/mongo.hpp"
#include "tools/holdfast/drill/judge.hpp"
#include "tools/holdfast/drill/report.hpp"
#include "tools/holdfast/drill/stage.hpp"

#include <chrono>
#include <cstdio>
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
};

/// Breaks the set until that time; in the end it is whole.
broken break_until(lab::mongo_cluster& set, clock::time_point end, std::mt19937_64& chance)
{
    const auto pause = [&](std::uint64_t most_ms) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100 + chance() % most_ms});
    };
    broken count;
    while (clock::now() < end) {
        pause(1500);
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
        (void)set.restart(victim).has_value();
    }
    return count;
}

int report(const drill::verdict& found, const broken& count, std::uint64_t retries)
{
    drill::drill_report told;
    told.scenes = {"storm"};
    told.retries = {retries};
    told.found = found;
    std::fputs(drill::draw(told).c_str(), stdout);
    std::printf("faults: %d stepdowns, %d crashes\n", count.step_downs, count.crashes);
    const bool enough = count.step_downs > 0 && count.crashes > 0 && found.total.acknowledged > 0;
    return enough && found.holds() && found.in_time() ? 0 : 1;
}

}  // namespace

int run_on_sockets(const sockets_options& options)
{
    lab::mongo_options how;
    how.members = options.members;
    how.remembers_retryable_writes = !options.forgetful;
    auto set = lab::mongo_cluster::start(std::move(how));
    if (!set) {
        std::fprintf(stderr, "truth: %s\n", set.error().message().c_str());
        return 2;
    }
    drill::stage_options work;
    work.uri = set->uri();
    work.clients = options.clients;
    work.seed = options.seed;
    work.timeout = 10s;
    auto clients = drill::stage::open(std::move(work));
    if (!clients) {
        std::fprintf(stderr, "truth: %s\n", clients.error().message().c_str());
        return 2;
    }
    drill::stage& on = **clients;
    if (const auto prepared = on.prepare(); !prepared) {
        std::fprintf(stderr, "truth: %s\n", prepared.error().explain().c_str());
        return 1;
    }
    std::mt19937_64 chance{options.seed};
    on.begin();
    const broken count = break_until(*set, clock::now() + std::chrono::seconds{options.seconds},
                                     chance);
    (void)on.finish(30s);  // who has not ended is counted as unfinished
    const auto found = on.read_back(20s);
    if (!found) {
        std::fprintf(stderr, "truth: nothing can be read: %s\n", found.error().explain().c_str());
        return 1;
    }
    return report(drill::judge(on.history(), *found), count, on.retries());
}

}  // namespace holdfast::truth
