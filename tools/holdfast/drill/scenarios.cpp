#include "tools/holdfast/drill/scenarios.hpp"

#include <algorithm>
#include <array>
#include <thread>

namespace holdfast::drill {

using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

/// Time that passes, unless the drill is interrupted.
class stopwatch {
public:
    explicit stopwatch(const scenario_context& in) : in_{in}, end_{clock::now() + in.length} {}

    /// False: there is no such time left before the end.
    bool wait(std::chrono::milliseconds length) const
    {
        const auto until = clock::now() + length;
        if (until > end_)
            return false;
        sleep_until(until);
        return !*in_.interrupted;
    }
    /// The same, but not beyond the end.
    void pass(std::chrono::milliseconds length) const
    {
        sleep_until(std::min(clock::now() + length, end_));
    }
    void wait_for_the_end() const { sleep_until(end_); }

private:
    void sleep_until(clock::time_point until) const
    {
        while (clock::now() < until && !*in_.interrupted)
            std::this_thread::sleep_for(std::min<clock::duration>(until - clock::now(), 50ms));
    }

    const scenario_context& in_;
    clock::time_point end_;
};

/// So long, or that part of the scenario if it is a short one.
std::chrono::milliseconds at_most(const scenario_context& in, std::chrono::milliseconds usual,
                                  int part)
{
    return std::min(usual, in.length / part);
}

result<std::uint64_t> run_steady(const scenario_context& in)
{
    stopwatch{in}.wait_for_the_end();
    return 0;
}

result<std::uint64_t> run_step_down(const scenario_context& in)
{
    const stopwatch time{in};
    std::uint64_t done = 0;
    while (time.wait(at_most(in, 1200ms, 3))) {
        done += in.servers->step_down(1s).has_value() ? 1 : 0;
        const auto leads = in.servers->await_leader();
        if (!leads)
            return leads.error();
    }
    time.wait_for_the_end();
    return done;
}

/// What happens to the primary, how it ends, and when: after this time, or that part of the
/// scenario if it is a short one.
struct outage {
    result<void> (target::*begin)(std::size_t member);
    result<void> (target::*end)(std::size_t member);
    std::chrono::milliseconds lasts;
    int part;
};

result<std::uint64_t> run_outages(const scenario_context& in, const outage& each)
{
    const stopwatch time{in};
    std::uint64_t done = 0;
    while (time.wait(at_most(in, 800ms, 4))) {
        const auto leads = in.servers->await_leader();
        if (!leads)
            return leads.error();
        if (!(in.servers->*each.begin)(*leads))
            continue;
        ++done;
        time.pass(at_most(in, each.lasts, each.part));
        if (const auto back = (in.servers->*each.end)(*leads); !back)
            return back.error();
        time.pass(700ms);
    }
    time.wait_for_the_end();
    return done;
}

result<std::uint64_t> run_crash(const scenario_context& in)
{
    return run_outages(in, {&target::crash, &target::restart, 2000ms, 3});
}

/// The pause is what it shows: about the time that an election takes, two to three seconds, not
/// that of the freeze.
result<std::uint64_t> run_freeze(const scenario_context& in)
{
    return run_outages(in, {&target::freeze, &target::thaw, 5000ms, 2});
}

/// The request that lifts the limit may be refused itself for a while.
result<void> lift_limit(const scenario_context& in)
{
    for (int n = 1;; ++n) {
        auto lifted = in.servers->limit_requests(0);
        if (lifted || n == 5)
            return lifted;
        std::this_thread::sleep_for(200ms);
    }
}

result<std::uint64_t> run_overload(const scenario_context& in)
{
    const stopwatch time{in};
    // A third of what they do now.
    const auto measured = at_most(in, 1000ms, 4);
    const std::uint64_t before = in.clients->progress().operations;
    time.pass(measured);
    const std::uint64_t usual = (in.clients->progress().operations - before) * 1000 /
                                static_cast<std::uint64_t>(measured.count());
    const auto rate = static_cast<std::int32_t>(std::max<std::uint64_t>(usual / 3, 10));
    const std::uint64_t refused = in.clients->refusals();
    if (!in.servers->limit_requests(rate))
        return 0;
    time.pass(in.length * 3 / 4 - measured);
    if (const auto lifted = lift_limit(in); !lifted)
        return lifted.error();
    time.wait_for_the_end();
    return in.clients->refusals() > refused ? 1 : 0;
}

/// Half of the members that are lost hand over before; each is replaced.
result<std::uint64_t> run_failover(const scenario_context& in)
{
    const stopwatch time{in};
    std::uint64_t done = 0;
    while (time.wait(at_most(in, 800ms, 4))) {
        const auto member = in.servers->await_leader();
        if (!member)
            return member.error();
        const bool hard = done % 2 == 0;
        const auto given_up = hard ? in.servers->fail_over(*member)
                                   : in.servers->fail_over_gracefully(*member);
        if (!given_up)
            continue;
        ++done;
        time.pass(at_most(in, 500ms, 8));
        if (const auto replaced = in.servers->replace_lost(); !replaced)
            return replaced.error();
    }
    time.wait_for_the_end();
    return done;
}

result<std::uint64_t> run_rebalance(const scenario_context& in)
{
    const stopwatch time{in};
    std::uint64_t done = 0;
    while (time.wait(at_most(in, 500ms, 4))) {
        if (const auto joined = in.servers->rebalance_in(); !joined)
            return joined.error();
        ++done;
        const auto member = in.servers->await_leader();
        if (!member)
            return member.error();
        if (const auto left = in.servers->rebalance_out(*member); !left)
            return left.error();
        ++done;
    }
    time.wait_for_the_end();
    return done;
}

constexpr std::array<scenario, 5> mongo_scenarios{
    scenario{"steady", "nothing happens", std::nullopt, run_steady},
    scenario{"stepdown", "the primary hands over, again and again", fault::step_down,
             run_step_down},
    scenario{"crash", "the primary crashes, and comes back", fault::crash, run_crash},
    scenario{"freeze", "the primary answers nothing for a while", fault::freeze, run_freeze},
    scenario{"overload", "the primary refuses two requests of three", fault::overload,
             run_overload},
};

constexpr std::array<scenario, 5> couchbase_scenarios{
    scenario{"steady", "nothing happens", std::nullopt, run_steady},
    scenario{"failover", "nodes are failed over, hard or gracefully, and replaced", fault::failover,
             run_failover},
    scenario{"rebalance", "nodes join and leave, and vbuckets move", fault::rebalance,
             run_rebalance},
    scenario{"crash", "a node crashes, and comes back", fault::crash, run_crash},
    scenario{"overload", "nodes refuse two requests of three", fault::overload, run_overload},
};

}  // namespace

std::span<const scenario> scenarios_of(deployment_kind kind) noexcept
{
    if (kind == deployment_kind::couchbase)
        return couchbase_scenarios;
    return mongo_scenarios;
}

const scenario* find_scenario(std::string_view name, deployment_kind kind) noexcept
{
    const auto among = scenarios_of(kind);
    const auto found = std::ranges::find(among, name, &scenario::name);
    return found == among.end() ? nullptr : &*found;
}

}  // namespace holdfast::drill
