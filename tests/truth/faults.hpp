#pragma once
#include "lab/mongo/deployment/deployment.hpp"
#include "sim/simulation.hpp"
#include "truth/fault_rules.hpp"
#include "truth/storm.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::truth {

/// The machines of a storm.
struct storm_hosts {
    explicit storm_hosts(std::uint64_t seed) : net{seed} {}
    storm_hosts(const storm_hosts&) = delete;
    storm_hosts& operator=(const storm_hosts&) = delete;
    ~storm_hosts();

    std::uint64_t below(std::uint64_t limit) { return net.random() % limit; }
    duration between(std::int64_t from_ms, std::int64_t to_ms)
    {
        const auto width = static_cast<std::uint64_t>(to_ms - from_ms + 1);
        return std::chrono::milliseconds{from_ms + static_cast<std::int64_t>(below(width))};
    }

    sim::simulation net;
    std::vector<sim::host*> members = {};
    std::vector<sim::host*> clients = {};
    sim::host* control = nullptr;  // orders stepdowns, and reads what is there in the end
    std::unique_ptr<lab::mongo::deployment> set = {};
};

/// Draws faults and lets them happen, one after the other or several at a time, each for a while.
class fault_script {
public:
    fault_script(storm_hosts& in, std::size_t count);
    fault_script(const fault_script&) = delete;
    fault_script& operator=(const fault_script&) = delete;

    void begin();
    /// All have happened, and are over.
    bool over() const noexcept { return left_ == 0 && lasting_ == 0; }

    const fault_counts& counts() const noexcept { return counts_; }
    const std::string& text() const noexcept { return text_; }

private:
    void plan_next();
    /// One that has really happened.
    void count(fault kind);
    /// True if it has happened. Some are ordered, and count by themselves when they have.
    bool happen(fault kind);
    bool crash();
    bool step_down();
    runtime::awaitable<void> order_step_down(std::int64_t seconds);
    bool partition();
    bool freeze();
    bool delay();
    bool clock_jump();
    bool overload();
    std::uint64_t refusals() const;

    /// A member that is well: the primary in two of three cases. None: -1.
    int victim();
    void cut(const sim::host& one, const sim::host& other);
    void mend(const sim::host& one, const sim::host& other);
    void slow(const sim::host& one, const sim::host& other, const sim::link& link_state);
    /// Undoes a fault after a while.
    void afterwards(duration length, std::function<void()> undo);
    void record(const std::string& what);

    storm_hosts& in_;
    std::size_t left_;
    std::size_t lasting_ = 0;
    time_point began_{};
    std::vector<bool> ill_;  // members that have crashed or stand still
    refusing_time overload_;
    fault_counts counts_{};
    std::string text_;
};

}  // namespace holdfast::truth
