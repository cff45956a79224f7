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

result<std::uint64_t> run_crash(const scenario_context& in)
{
    const stopwatch time{in};
    std::uint64_t done = 0;
    while (time.wait(at_most(in, 800ms, 4))) {
        const auto leads = in.servers->await_leader();
        if (!leads)
            return leads.error();
        if (!in.servers->crash(*leads))
            continue;
        ++done;
        time.pass(at_most(in, 2000ms, 3));
        if (const auto back = in.servers->restart(*leads); !back)
            return back.error();
        time.pass(700ms);
    }
    time.wait_for_the_end();
    return done;
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

constexpr std::array<scenario, 4> scenarios{
    scenario{"steady", "nothing happens", std::nullopt, run_steady},
    scenario{"stepdown", "the primary hands over, again and again", fault::step_down,
             run_step_down},
    scenario{"crash", "the primary crashes, and comes back", fault::crash, run_crash},
    scenario{"overload", "the primary refuses two requests of three", fault::overload,
             run_overload},
};

}  // namespace

std::span<const scenario> all_scenarios() noexcept
{
    return scenarios;
}

const scenario* find_scenario(std::string_view name) noexcept
{
    const auto found = std::ranges::find(scenarios, name, &scenario::name);
    return found == scenarios.end() ? nullptr : &*found;
}

}  // namespace holdfast::drill
