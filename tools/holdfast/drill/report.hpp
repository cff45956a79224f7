#pragma once
#include "tools/holdfast/drill/judge.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::drill {

/// What a drill has come to, for people and for programs.
struct drill_report {
    std::vector<std::string> scenes = {};  // names, by number
    std::vector<std::uint64_t> retries = {};  // commands sent again, by scene
    verdict found = {};
    double seconds = 0;
};

/// The table, the reasons of what failed, the first complaints, and the verdict in a sentence.
std::string draw(const drill_report& report);

/// {verdict, seconds, scenes: [{name, operations, ...}], total: {...}, complaints: [...]}.
std::string to_json(const drill_report& report);

}  // namespace holdfast::drill
