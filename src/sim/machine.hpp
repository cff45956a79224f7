#pragma once
#include "sim/incarnation.hpp"
#include "sim/simulation.hpp"
#include "sim/universe.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::sim {

class machine final : public host {
public:
    machine(universe& in, std::size_t index, std::string name);

    std::size_t index() const noexcept { return index_; }
    bool has_power() const noexcept { return has_power_; }
    std::size_t receive_buffer() const noexcept { return receive_buffer_; }
    duration wall_offset() const noexcept { return wall_offset_; }
    /// Null after a crash.
    incarnation* process() const noexcept { return running_ ? processes_.back().get() : nullptr; }

    // For the scheduler: nothing is ever ready on a frozen machine.
    bool run_one();
    time_point next_alarm() const noexcept;
    void ring_first();
    void stop_all();
    void add_to(leftovers& left) const noexcept;

    const std::string& name() const noexcept override { return name_; }
    const std::string& address() const noexcept override { return address_; }
    runtime::world& world() override { return *processes_.back(); }
    void start(runtime::awaitable<void> what) override;
    void crash(bool silent) override;
    void restart(const std::function<void(host&)>& boot) override;
    bool running() const noexcept override { return running_; }
    void freeze() override;
    void thaw() override;
    void jump_wall_clock(std::chrono::milliseconds by) override;
    void set_receive_buffer(std::size_t bytes) override;

private:
    void trace_change(traced what, std::uint64_t number, const char* text);

    universe& all_;
    std::size_t index_;
    std::string name_;
    std::string address_;
    std::vector<std::unique_ptr<incarnation>> processes_;  // the last one runs, if any does
    bool running_ = true;
    bool has_power_ = true;
    bool frozen_ = false;
    std::size_t receive_buffer_ = 256 * 1024;
    duration wall_offset_{};
};

}  // namespace holdfast::sim
