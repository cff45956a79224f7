#include "truth/fault_script.hpp"

#include "truth/backend.hpp"

#include <utility>

namespace holdfast::truth {

void storm_hosts::crash_all()
{
    for (sim::host* const one : members) {
        if (one->running())
            one->crash();
    }
    for (sim::host* const one : clients)
        one->crash();
    if (control)
        control->crash();
}

fault_script::fault_script(storm_hosts& in, std::size_t kinds, std::size_t count)
    : in_{in}, kinds_{kinds}, left_{count}
{
}

void fault_script::begin()
{
    began_ = in_.net.now();
    plan_next();
}

void fault_script::plan_next()
{
    in_.net.at_time(in_.net.now() + in_.between(100, 1200), [this] {
        if (left_ == 0)
            return;
        const std::size_t kind = in_.below(kinds_);
        if (happen(kind))
            count(kind);
        if (left_ > 0)
            plan_next();
    });
}

void fault_script::count(std::size_t kind)
{
    ++counts_[kind];
    left_ -= left_ > 0 ? 1 : 0;
    ended_ = in_.net.now();
}

void fault_script::afterwards(duration length, std::function<void()> undo)
{
    begins_to_last();
    in_.net.at_time(in_.net.now() + length, [this, undo = std::move(undo)] {
        undo();
        has_ended();
    });
}

void fault_script::has_ended()
{
    --lasting_;
    ended_ = in_.net.now();
}

void fault_script::record(const std::string& what)
{
    const auto when = std::chrono::duration_cast<std::chrono::milliseconds>(in_.net.now() - began_);
    text_ += "  " + std::to_string(when.count()) + " ms: " + what + '\n';
}

void fault_script::slow(const sim::host& one, const sim::host& other, const sim::link& link_state)
{
    const auto change = [&](const sim::host& from, const sim::host& to) {
        sim::link changed = link_state;
        changed.cut = in_.net.link_between(from, to).cut;
        in_.net.set_link_one_way(from, to, changed);
    };
    change(one, other);
    change(other, one);
}

}  // namespace holdfast::truth
