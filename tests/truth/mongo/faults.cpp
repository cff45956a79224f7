#include "truth/mongo/faults.hpp"

#include <array>
#include <functional>
#include <utility>

namespace holdfast::truth {

using namespace std::chrono_literals;

std::span<const std::string_view> mongo_fault_names() noexcept
{
    static constexpr std::array<std::string_view, 7> names{
        "crash", "stepdown", "partition", "freeze", "delay", "clock jump", "overload"};
    return names;
}

mongo_faults::mongo_faults(storm_hosts& in, lab::mongo::deployment& set, std::size_t count)
    : fault_script{in, mongo_fault_names().size(), count}, set_{set}, ill_(in.members.size(), false)
{
}

bool mongo_faults::happen(std::size_t kind)
{
    switch (static_cast<mongo_fault>(kind)) {
    case mongo_fault::crash:
        return crash();
    case mongo_fault::step_down:
        return step_down();
    case mongo_fault::partition:
        return partition();
    case mongo_fault::freeze:
        return freeze();
    case mongo_fault::delay:
        return delay();
    case mongo_fault::clock_jump:
        return clock_jump();
    case mongo_fault::overload:
        break;
    }
    return overload();
}

int mongo_faults::victim()
{
    const auto leads = set_.primary();
    if (leads && !ill_[*leads] && in_.below(3) != 0)
        return static_cast<int>(*leads);
    const std::size_t drawn = in_.below(in_.members.size());
    return ill_[drawn] ? -1 : static_cast<int>(drawn);
}

bool mongo_faults::crash()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    const bool silent = in_.below(3) == 0;
    record("member " + std::to_string(n) + " crashes" + (silent ? " silently" : ""));
    ill_[n] = true;
    in_.members[n]->crash(silent);
    set_.lost(n);
    afterwards(in_.between(50, 2500), [this, n] {
        record("member " + std::to_string(n) + " comes back");
        in_.members[n]->restart(
            [&](sim::host& on) { (void)set_.restart(n, on.world()).has_value(); });
        ill_[n] = false;
    });
    return true;
}

bool mongo_faults::step_down()
{
    const auto leads = set_.primary();
    if (!leads)
        return false;
    record("member " + std::to_string(*leads) + " steps down");
    begins_to_last();
    in_.control->start(order_step_down(1 + static_cast<std::int64_t>(in_.below(3))));
    return false;
}

runtime::awaitable<void> mongo_faults::order_step_down(std::int64_t seconds)
{
    const auto done = co_await set_.step_down(in_.control->world(), seconds);
    has_ended();
    if (done)
        count(static_cast<std::size_t>(mongo_fault::step_down));
    else  // the primary may be gone before it hears of it
        record("no stepdown: " + done.error().message());
}

void mongo_faults::cut(const sim::host& one, const sim::host& other)
{
    in_.net.partition(one, other);
}

void mongo_faults::mend(const sim::host& one, const sim::host& other)
{
    in_.net.heal(one, other);
}

bool mongo_faults::partition()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const sim::host& alone = *in_.members[static_cast<std::size_t>(drawn)];
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
            cut(alone, *other);
    }
    afterwards(in_.between(200, 3000), [this, &alone, others] {
        record(alone.name() + " is reached again");
        for (const sim::host* const other : others)
            mend(alone, *other);
    });
    return true;
}

bool mongo_faults::freeze()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const auto n = static_cast<std::size_t>(drawn);
    record("member " + std::to_string(n) + " stands still");
    ill_[n] = true;
    in_.members[n]->freeze();
    afterwards(in_.between(100, 3000), [this, n] {
        record("member " + std::to_string(n) + " goes on");
        in_.members[n]->thaw();
        ill_[n] = false;
    });
    return true;
}

bool mongo_faults::delay()
{
    const int drawn = victim();
    if (drawn < 0)
        return false;
    const sim::host& one = *in_.members[static_cast<std::size_t>(drawn)];
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
    afterwards(in_.between(200, 3000), [this, all, &one] {
        record(one.name() + " has good links again");
        all(sim::link{});
    });
    return true;
}

bool mongo_faults::clock_jump()
{
    const bool server = in_.below(2) == 0;
    const std::vector<sim::host*> among = running(server ? in_.members : in_.clients);
    if (among.empty())
        return false;
    sim::host& one = *among[in_.below(among.size())];
    const auto by = std::chrono::duration_cast<std::chrono::milliseconds>(
        in_.between(-3'600'000, 3'600'000));
    record("the clock of " + one.name() + " jumps by " + std::to_string(by.count()) + " ms");
    one.jump_wall_clock(by);
    return true;
}

bool mongo_faults::overload()
{
    if (!overload_.begin(refusals()))
        return false;  // another fault will be drawn for it
    const auto rate = static_cast<double>(5 + in_.below(40));
    record("all members take " + std::to_string(static_cast<int>(rate)) + " requests a second");
    const auto limit = [this](bool on, double per_second) {
        for (std::size_t n = 0; n < in_.members.size(); ++n) {
            auto* const process = set_.process(n);
            if (!process)
                continue;
            process->server().requests.set_rate(per_second, 0.2, in_.net.now());
            process->server().requests.enable(on);
        }
    };
    limit(true, rate);
    afterwards(in_.between(300, 2500), [this, limit] {
        const std::uint64_t refused = overload_.end(refusals());
        record("members take all requests again, and have refused " + std::to_string(refused));
        limit(false, 1e9);
        if (refused > 0)
            count(static_cast<std::size_t>(mongo_fault::overload));
    });
    return false;
}

/// By the members that are up.
std::uint64_t mongo_faults::refusals() const
{
    std::uint64_t all = 0;
    for (std::size_t n = 0; n < in_.members.size(); ++n)
        all += set_.process(n) ? set_.process(n)->server().requests.refused() : 0;
    return all;
}

}  // namespace holdfast::truth
