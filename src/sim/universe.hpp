#pragma once
#include "sim/dns.hpp"
#include "sim/network.hpp"
#include "sim/random.hpp"
#include "sim/timeline.hpp"
#include "sim/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>

namespace holdfast::sim {

/// What all machines of a simulation have in common.
struct universe {
    explicit universe(std::uint64_t from)
        : seed{from}, history{time}, wires{from, time, history}, scripts{from, chance_of_scripts}
    {
    }

    std::uint64_t seed;
    timeline time;
    trace history;
    network wires;
    name_tables names;
    random_source scripts;
    std::size_t tasks = 0;                   // started and not ended
    std::exception_ptr escaped = nullptr;  // from one of them
};

}  // namespace holdfast::sim
