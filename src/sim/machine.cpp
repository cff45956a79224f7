#include "sim/machine.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::sim {

machine::machine(universe& in, std::size_t index, std::string name)
    : all_{in},
      index_{index},
      name_{std::move(name)},
      address_{"10.0." + std::to_string(index / 250) + '.' + std::to_string(index % 250 + 1)}
{
    processes_.push_back(std::make_unique<incarnation>(all_, *this, 0));
}

bool machine::run_one()
{
    return running_ && !frozen_ && processes_.back()->run_one();
}

time_point machine::next_alarm() const noexcept
{
    return running_ && !frozen_ ? processes_.back()->next_alarm() : runtime::never;
}

void machine::ring_first()
{
    all_.history.add(traced::rung, index_, {}, [&] { return name_ + " alarm"; });
    processes_.back()->ring_first();
}

void machine::stop_all()
{
    for (const auto& one : processes_)
        one->stop();
}

void machine::add_to(leftovers& left) const noexcept
{
    for (const auto& one : processes_) {
        left.listeners += one->listeners();
        left.alarms += one->alarms_set();
    }
}

void machine::start(runtime::awaitable<void> what)
{
    if (!running_)
        throw std::logic_error{"nothing can be started on " + name_ + ": restart it first"};
    processes_.back()->start(std::move(what));
}

void machine::crash(bool silent)
{
    if (!running_)
        return;
    trace_change(traced::crashed, silent, silent ? " loses power" : " crashes");
    running_ = false;
    frozen_ = false;
    has_power_ = !silent;
    all_.wires.lose(*processes_.back(), !silent);  // first, so that no stream sends a FIN
    processes_.back()->stop();
}

void machine::restart(const std::function<void(host&)>& boot)
{
    if (running_)
        throw std::logic_error{name_ + " cannot be restarted: it has not crashed"};
    trace_change(traced::restarted, processes_.size(), " restarts");
    processes_.push_back(std::make_unique<incarnation>(all_, *this, processes_.size()));
    running_ = true;
    if (!std::exchange(has_power_, true))
        all_.wires.recover_all_to(*this);
    if (boot)
        boot(*this);
}

void machine::freeze()
{
    if (!running_)
        return;
    trace_change(traced::frozen, 0, " freezes");
    frozen_ = true;
}

void machine::thaw()
{
    trace_change(traced::thawed, 0, " thaws");
    frozen_ = false;
}

void machine::jump_wall_clock(std::chrono::milliseconds by)
{
    trace_change(traced::jumped, static_cast<std::uint64_t>(by.count()), " wall clock jumps");
    wall_offset_ += by;
}

void machine::set_receive_buffer(std::size_t bytes)
{
    receive_buffer_ = std::max<std::size_t>(bytes, 1);
    all_.wires.receive_buffer_changed(*this);
}

void machine::trace_change(traced what, std::uint64_t number, const char* text)
{
    all_.history.add(what, index_, {number}, [&] { return name_ + text; });
}

}  // namespace holdfast::sim
