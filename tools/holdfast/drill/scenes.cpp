#include "tools/holdfast/drill/scenes.hpp"

#include <algorithm>
#include <array>
#include <thread>

namespace holdfast::drill {

using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

/// Time that passes, unless somebody wants to go home.
class stopwatch {
public:
    explicit stopwatch(const theatre& in) : in_{in}, end_{clock::now() + in.length} {}

    /// False: there is no such time left before the end.
    bool wait(std::chrono::milliseconds how_long) const
    {
        const auto until = clock::now() + how_long;
        if (until > end_)
            return false;
        sleep_until(until);
        return !*in_.interrupted;
    }
    /// The same, but not beyond the end.
    void pass(std::chrono::milliseconds how_long) const
    {
        sleep_until(std::min(clock::now() + how_long, end_));
    }
    void wait_for_the_end() const { sleep_until(end_); }

private:
    void sleep_until(clock::time_point until) const
    {
        while (clock::now() < until && !*in_.interrupted)
            std::this_thread::sleep_for(std::min<clock::duration>(until - clock::now(), 50ms));
    }

    const theatre& in_;
    clock::time_point end_;
};

void play_steady(const theatre& in)
{
    stopwatch{in}.wait_for_the_end();
}

void play_step_down(const theatre& in)
{
    const stopwatch time{in};
    while (time.wait(1200ms)) {
        (void)in.servers->step_down(1s).has_value();
        (void)in.servers->wait_for_primary().has_value();
    }
    time.wait_for_the_end();
}

void play_crash(const theatre& in)
{
    const stopwatch time{in};
    while (time.wait(800ms)) {
        const auto leads = in.servers->wait_for_primary();
        if (!leads)
            break;
        (void)in.servers->crash(*leads).has_value();
        time.pass(2000ms);
        (void)in.servers->restart(*leads).has_value();
        time.pass(700ms);
    }
    time.wait_for_the_end();
}

void play_overload(const theatre& in)
{
    const stopwatch time{in};
    // A third of what they do now.
    const std::uint64_t before = in.clients->progress().operations;
    time.pass(1000ms);
    const std::uint64_t usual = in.clients->progress().operations - before;
    const auto rate = static_cast<std::int32_t>(std::max<std::uint64_t>(usual / 3, 10));
    const bool limited = in.clients->limit_requests(rate).has_value();
    time.pass(in.length * 3 / 4 - 1000ms);
    if (limited)
        (void)in.clients->limit_requests(0).has_value();
    time.wait_for_the_end();
}

constexpr std::array<scene, 4> scenes{
    scene{"steady", "nothing happens", false, play_steady},
    scene{"stepdown", "the primary hands over, again and again", true, play_step_down},
    scene{"crash", "the primary crashes, and comes back", true, play_crash},
    scene{"overload", "the primary refuses two requests of three", true, play_overload},
};

}  // namespace

std::span<const scene> all_scenes() noexcept
{
    return scenes;
}

const scene* find_scene(std::string_view name) noexcept
{
    const auto found = std::ranges::find(scenes, name, &scene::name);
    return found == scenes.end() ? nullptr : &*found;
}

}  // namespace holdfast::drill
