#pragma once
#include "tools/holdfast/drill/judge.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::drill {

enum class extent : std::uint8_t { in_full, in_part, not_at_all };

struct scenario_report {
    std::string name = {};
    std::uint64_t retries = 0;  // commands sent again, and writes done again
    std::uint64_t faults = 0;  // that have really happened
    bool needs_faults = false;
    extent ran = extent::in_full;
    std::string trouble = {};  // what was broken, and could not be mended
};

/// What a drill has come to, for people and for programs.
struct drill_report {
    std::vector<scenario_report> scenarios = {};  // by number
    verdict found = {};
    double seconds = 0;
    bool all_came_back = true;  // the clients, in the end
};

/// Whether not all scenarios were run to their end.
bool was_interrupted(const drill_report& report) noexcept;
/// What else is wrong but that something was lost or applied twice; empty if there is nothing.
std::string shortcomings(const drill_report& report);
/// Nothing is wrong with what was run.
bool passed(const drill_report& report);

/// The table, the reasons of what failed, the first complaints, and the verdict in a sentence.
std::string draw(const drill_report& report);

/// {holds, verdict, seconds, interrupted, scenarios: [{name, ran, faults, operations, ...}],
/// total: {...}, complaints: [...]}.
std::string to_json(const drill_report& report);

}  // namespace holdfast::drill
