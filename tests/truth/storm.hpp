#pragma once
#include "tools/holdfast/drill/judge.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// A storm in the simulator: a set, clients that write, and faults drawn by a seed.
namespace holdfast::truth {

enum class fault : std::uint8_t {
    crash,       // of a member, which comes back with its disk
    step_down,   // of the primary
    partition,   // a member alone, for members or for all, or a client without one member
    freeze,      // of a member
    delay,       // slow links that lose and break
    clock_jump,  // of a wall clock
    overload,    // servers that refuse most requests
};
inline constexpr std::size_t fault_kinds = 7;
std::string_view name_of(fault kind) noexcept;

using fault_counts = std::array<std::uint64_t, fault_kinds>;

/// What may be wrong on purpose, to see that it is reported.
enum class defect : std::uint8_t {
    none,
    forgetful,  // servers without a table of retried writes: a retry is carried out again
    early,      // writes are acknowledged before they are replicated
    renumber,   // the client gives a retry another transaction number (with HOLDFAST_PLANTED)
};

struct storm_report {
    std::string complaints = {};  // empty: all is well
    drill::verdict found = {};
    fault_counts faults = {};  // that have happened, not only been ordered
    std::uint64_t retries = 0;
    std::uint64_t history = 0;  // the simulation's hash: one seed is one history
    std::string script = {};  // for people: what was drawn, and when it happened
};

storm_report run_storm(std::uint64_t seed, defect with = defect::none);

}  // namespace holdfast::truth
