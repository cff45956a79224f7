#pragma once
#include "truth/storm.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace holdfast::sim {
class host;
struct link;
}  // namespace holdfast::sim

namespace holdfast::truth {

struct storm_hosts;

/// Draws faults and lets them happen, one after the other or several at a time, each for a while.
class fault_script {
public:
    fault_script(storm_hosts& in, std::size_t kinds, std::size_t count);
    fault_script(const fault_script&) = delete;
    fault_script& operator=(const fault_script&) = delete;
    virtual ~fault_script() = default;

    void begin();
    /// All have happened, and are over.
    bool over() const noexcept { return left_ == 0 && lasting_ == 0; }
    /// When the last one was over.
    time_point ended() const noexcept { return ended_; }

    const fault_counts& counts() const noexcept { return counts_; }
    const std::string& text() const noexcept { return text_; }

protected:
    /// True if it has happened. Some are ordered, and count by themselves when they have.
    virtual bool happen(std::size_t kind) = 0;

    /// One that has really happened.
    void count(std::size_t kind);
    /// Undoes a fault after a while.
    void afterwards(duration length, std::function<void()> undo);
    /// For what ends by itself.
    void begins_to_last() noexcept { ++lasting_; }
    void has_ended();
    void record(const std::string& what);
    /// Changes only the speed of links, both ways, and its kin: one that is cut stays so.
    void slow(const sim::host& one, const sim::host& other, const sim::link& link_state);

    storm_hosts& in_;

private:
    void plan_next();

    std::size_t kinds_;
    std::size_t left_;
    std::size_t lasting_ = 0;
    time_point began_{};
    time_point ended_{};
    fault_counts counts_{};
    std::string text_;
};

}  // namespace holdfast::truth
