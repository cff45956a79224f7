#pragma once
#include "holdfast/lab/mongo.hpp"
#include "tools/holdfast/drill/workload.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::drill {

/// Where a scene is played: clients, and perhaps servers that it may break.
struct scenario_context {
    stage* clients = nullptr;
    lab::mongo_cluster* servers = nullptr;  // null: somebody else's
    std::atomic<bool>* interrupted = nullptr;  // somebody wants to go home
    std::chrono::milliseconds length{8000};
};

struct scene {
    std::string_view name;
    std::string_view what;  // for people: what happens in it
    bool needs_servers;  // to break them: without a fault it has shown nothing
    /// Takes its time, and returns how many faults there really were. All that it broke works again
    /// when it returns; an error says what does not.
    result<std::uint64_t> (*play)(const scenario_context& in);
};

std::span<const scene> all_scenes() noexcept;
/// Null if there is none of that name.
const scene* find_scene(std::string_view name) noexcept;

}  // namespace holdfast::drill
