#pragma once
#include <cstddef>
#include <cstdint>

namespace holdfast::truth {

struct endure_options {
    std::size_t minutes = 60;
    std::uint32_t minute_ms = 60'000;  // shorter ones for tests of this program
    std::size_t in_flight = 64;
    std::uint32_t pause_ms = 50;  // all operations begin at once, and so long after the last ones
    std::uint64_t seed = 1;
    bool leaks = false;  // the planted defect: a descriptor and a megabyte, each minute
};

/// One client on sockets, for a long time, with a failover each minute. Prints what the process
/// holds. 0 if that stayed the same, and no operation was answered wrongly or late.
int run_couchbase_endurance(const endure_options& options);

}  // namespace holdfast::truth
