#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// What a client may hold after an hour: no more than after five minutes.
namespace holdfast::truth {

/// What a process held at the end of a minute, before the next fault.
struct endurance_sample {
    std::uint64_t resident = 0;  // bytes
    std::size_t descriptors = 0;
};

struct endurance_limits {
    std::size_t settled = 5;  // the minute whose sample the later ones are compared with
    std::uint64_t growth = 2U << 20U;  // bytes
};

/// What was broken, one line each. Samples that end before there is anything to compare are a
/// complaint, too.
std::string check_endurance(std::span<const endurance_sample> by_minute,
                            const endurance_limits& limits = {});

/// Of this process, now.
endurance_sample sample_of_this_process();

}  // namespace holdfast::truth
