#pragma once
#include "tools/holdfast/drill/target.hpp"
#include "tools/holdfast/drill/workload.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::drill {

/// What a scenario works on: clients that write, and perhaps servers that it may break.
struct scenario_context {
    workload* clients = nullptr;
    target* servers = nullptr;  // null: a deployment that must not be broken
    std::atomic<bool>* interrupted = nullptr;  // the drill is to end early
    std::chrono::milliseconds length{8000};
};

enum class deployment_kind : std::uint8_t { mongo, couchbase };

struct scenario {
    std::string_view name;
    std::string_view what;  // for people: what happens in it
    std::optional<fault> needs;  // without such a fault it has shown nothing
    /// Takes its time, and returns how many faults there really were. All that it broke works again
    /// when it returns; an error says what does not.
    result<std::uint64_t> (*run)(const scenario_context& in);
};

std::span<const scenario> scenarios_of(deployment_kind kind) noexcept;
/// Null if there is none of that name.
const scenario* find_scenario(std::string_view name,
                              deployment_kind kind = deployment_kind::mongo) noexcept;

}  // namespace holdfast::drill
