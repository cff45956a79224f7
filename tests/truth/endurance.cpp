#include "truth/endurance.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::truth {

namespace {

std::string kilobytes(std::uint64_t bytes)
{
    return std::to_string(bytes / 1024) + " kB";
}

}  // namespace

std::string check_endurance(std::span<const endurance_sample> by_minute,
                            const endurance_limits& limits)
{
    if (by_minute.size() <= limits.settled)
        return "only " + std::to_string(by_minute.size()) + " minutes: those after minute " +
               std::to_string(limits.settled) + " are compared with it\n";
    std::string made;
    const endurance_sample& settled = by_minute[limits.settled - 1];
    const auto later = by_minute.subspan(limits.settled);
    const auto minute_of = [&](auto at) {
        return std::to_string(limits.settled + 1 +
                              static_cast<std::size_t>(std::distance(later.begin(), at)));
    };
    const auto largest = std::ranges::max_element(later, {}, &endurance_sample::resident);
    if (largest->resident > settled.resident + limits.growth)
        made += "resident memory has grown by " + kilobytes(largest->resident - settled.resident) +
                " after minute " + std::to_string(limits.settled) + ", to " +
                kilobytes(largest->resident) + " in minute " + minute_of(largest) + '\n';
    const auto most = std::ranges::max_element(later, {}, &endurance_sample::descriptors);
    if (most->descriptors > settled.descriptors)
        made += "descriptors leak: " + std::to_string(settled.descriptors) + " in minute " +
                std::to_string(limits.settled) + ", " + std::to_string(most->descriptors) +
                " in minute " + minute_of(most) + '\n';
    return made;
}

endurance_sample sample_of_this_process()
{
    endurance_sample made;
    std::uint64_t pages = 0;
    std::ifstream statm{"/proc/self/statm"};
    statm >> pages >> pages;  // all of it, and what is resident
    made.resident = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    statm.close();
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    // The iterator has one itself.
    made.descriptors = static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
    return made;
}

}  // namespace holdfast::truth
