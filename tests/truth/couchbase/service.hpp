#pragma once
#include "tools/holdfast/drill/history.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// No operation waits for long while the node that has its vbucket could serve it.
namespace holdfast::truth {

/// When which node had which vbucket, and when something was done to it.
class service_record {
public:
    static constexpr std::size_t every_node = SIZE_MAX;

    /// Something is wrong with a node from now on. Returns the number to say its end with.
    std::size_t disturb(time_point when, std::size_t node);
    void calm(std::size_t disturbance, time_point when);
    /// The nodes of the copies of all vbuckets from now on, the active one first; -1: none.
    void note_map(time_point when, const std::vector<std::vector<int>>& rows);

    std::size_t vbuckets() const noexcept { return routes_.size(); }

    /// The longest time between the two in which one and the same node was active for the vbucket,
    /// and nothing was wrong with it.
    duration longest_service(std::uint16_t vbucket, time_point from, time_point to) const;

private:
    struct disturbance {
        time_point from{};
        time_point to = time_point::max();
        std::size_t node = every_node;
    };
    struct route {
        time_point since{};
        int node = -1;
    };

    duration longest_calm(time_point from, time_point to, int node) const;

    std::vector<disturbance> disturbances_;
    std::vector<std::vector<route>> routes_;  // by vbucket
};

/// Operations that took longer than `longest`, and could have been served all that time. Durable
/// writes wait for other nodes, and loops of several operations, such as compare-and-swap, for
/// other clients: they are not looked at.
std::string check_waiting(std::span<const drill::operation> history, const service_record& by,
                          duration longest);

}  // namespace holdfast::truth
