#include "sim/simulation.hpp"

#include "sim/machine.hpp"
#include "sim/universe.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::sim {

/// The scheduler. What is ready runs first: a machine runs all it has, then the next one does, in
/// the order in which they were added, and round again until none has anything. Then time goes on
/// to whatever comes next; of things at one time, first scripts and network as they were planned,
/// then alarms, machine by machine.
struct simulation::parts {
    explicit parts(std::uint64_t seed) : all{seed} {}

    bool run_ready()
    {
        for (std::size_t tried = 0; tried < machines.size(); ++tried) {
            if (turn >= machines.size())
                turn = 0;
            if (machines[turn]->run_one())
                return true;
            ++turn;
        }
        return false;
    }

    bool go_on(time_point limit)
    {
        time_point next = all.time.next();
        machine* whose_alarm = nullptr;
        for (const auto& one : machines) {
            if (one->next_alarm() < next) {
                next = one->next_alarm();
                whose_alarm = one.get();
            }
        }
        if (next == runtime::never || next > limit)
            return false;
        if (next > all.time.now())
            at_this_time = 0;
        all.time.advance_to(next);
        if (whose_alarm != nullptr) {
            whose_alarm->ring_first();
            return true;
        }
        const occurrence what = all.time.take_next();
        if (what.kind == occurrence_kind::script)
            what.script();
        else
            all.wires.happen(what);
        return true;
    }

    /// One function or one occurrence; false if there is none up to `limit`.
    bool step(time_point limit)
    {
        const bool did = run_ready() || go_on(limit);
        events += did;
        if (all.escaped)
            std::rethrow_exception(std::exchange(all.escaped, nullptr));
        if (did && ++at_this_time > stuck)
            throw std::runtime_error{"the simulation is stuck: time does not go on"};
        return did;
    }

    static constexpr std::uint64_t stuck = 100'000'000;

    universe all;
    std::vector<std::unique_ptr<machine>> machines;
    std::size_t turn = 0;
    std::uint64_t events = 0;
    std::uint64_t at_this_time = 0;
};

namespace {

const machine& as_machine(const host& which)
{
    return static_cast<const machine&>(which);  // there are no others
}

}  // namespace

simulation::simulation(std::uint64_t seed) : parts_{std::make_unique<parts>(seed)} {}

simulation::~simulation()
{
    for (const auto& one : parts_->machines)  // all, before the first of them goes
        one->stop_all();
}

host& simulation::add_host(std::string name)
{
    const std::size_t index = parts_->machines.size();
    parts_->machines.push_back(std::make_unique<machine>(parts_->all, index, std::move(name)));
    machine& added = *parts_->machines.back();
    parts_->all.wires.add(added);
    set_addresses(added.name(), {added.address()});
    return added;
}

host& simulation::at(std::string_view name)
{
    for (const auto& one : parts_->machines) {
        if (one->name() == name)
            return *one;
    }
    throw std::out_of_range{"the simulation has no host " + std::string{name}};
}

time_point simulation::now() const noexcept
{
    return parts_->all.time.now();
}

void simulation::run()
{
    while (parts_->step(runtime::never)) {}
}

void simulation::run_until(time_point when)
{
    while (parts_->step(when)) {}
    parts_->all.time.advance_to(when);
}

bool simulation::run_while_not(const std::function<bool()>& done)
{
    bool is_done = done();
    while (!is_done && parts_->step(runtime::never))
        is_done = done();
    return is_done;
}

void simulation::at_time(time_point when, std::function<void()> what)
{
    parts_->all.time.plan(when, {.script = std::move(what)});
}

void simulation::set_link(const host& one, const host& other, const link& both_ways)
{
    set_link_one_way(one, other, both_ways);
    set_link_one_way(other, one, both_ways);
}

void simulation::set_link_one_way(const host& from, const host& to, const link& link_state)
{
    network& wires = parts_->all.wires;
    wires.between(as_machine(from), as_machine(to)) = link_state;
    if (!link_state.cut)
        wires.recover(as_machine(from), as_machine(to));
}

void simulation::set_all_links(const link& link_state)
{
    parts_->all.wires.set_all(link_state);
}

link simulation::link_between(const host& from, const host& to) const
{
    return parts_->all.wires.between(as_machine(from), as_machine(to));
}

void simulation::partition(const host& one, const host& other)
{
    partition_one_way(one, other);
    partition_one_way(other, one);
}

void simulation::partition_one_way(const host& from, const host& to)
{
    parts_->all.wires.set_cut(as_machine(from), as_machine(to), true);
}

void simulation::heal(const host& one, const host& other)
{
    parts_->all.wires.set_cut(as_machine(one), as_machine(other), false);
    parts_->all.wires.set_cut(as_machine(other), as_machine(one), false);
}

void simulation::heal_all()
{
    parts_->all.wires.heal_all();
}

void simulation::reset_connections(const host& one, const host& other)
{
    parts_->all.wires.reset_between(as_machine(one), as_machine(other));
}

void simulation::set_addresses(std::string name, std::vector<std::string> addresses)
{
    set_records(parts_->all.names.addresses, name, std::move(addresses));
}

void simulation::set_srv(std::string name, std::vector<runtime::srv_record> records)
{
    set_records(parts_->all.names.services, name, std::move(records));
}

void simulation::set_txt(std::string name, std::vector<std::string> records)
{
    set_records(parts_->all.names.texts, name, std::move(records));
}

void simulation::set_dns_latency(duration latency)
{
    parts_->all.names.latency = latency;
}

void simulation::set_dns_failing(bool failing)
{
    parts_->all.names.failing = failing;
}

std::uint64_t simulation::trace_hash() const noexcept
{
    return parts_->all.history.hash();
}

void simulation::note(std::string_view what)
{
    parts_->all.history.add(traced::note, 0, {content_hash(what)},
                            [&] { return std::string{what}; });
}

void simulation::keep_trace(bool on)
{
    parts_->all.history.keep(on);
}

const std::vector<std::string>& simulation::trace() const noexcept
{
    return parts_->all.history.lines();
}

std::uint64_t simulation::events() const noexcept
{
    return parts_->events;
}

leftovers simulation::left() const noexcept
{
    leftovers left{.streams = parts_->all.wires.open_ends(), .tasks = parts_->all.tasks};
    for (const auto& one : parts_->machines)
        one->add_to(left);
    return left;
}

std::uint64_t simulation::random()
{
    return parts_->all.scripts.next();
}

double simulation::chance()
{
    return parts_->all.scripts.chance();
}

}  // namespace holdfast::sim
