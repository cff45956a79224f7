#pragma once
#include "tools/holdfast/drill/judge.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// A storm in the simulator: servers, clients that write, and faults drawn by a seed.
namespace holdfast::truth {

enum class protocol : std::uint8_t { mongo, couchbase };

/// How often each kind of fault has happened, by its number in fault_names().
inline constexpr std::size_t most_fault_kinds = 16;
using fault_counts = std::array<std::uint64_t, most_fault_kinds>;
std::span<const std::string_view> fault_names(protocol of) noexcept;

/// What may be wrong on purpose, to see that it is reported.
enum class defect : std::uint8_t {
    none,
    // Of MongoDB.
    forgetful,  // servers without a table of retried writes: a retry is carried out again
    early,      // writes are acknowledged before they are replicated
    renumber,   // the client gives a retry another transaction number (with HOLDFAST_PLANTED)
    // Of the Couchbase client, all with HOLDFAST_PLANTED.
    reused_opaque,      // after a timeout
    old_configuration,  // is taken
    repeated_write,     // after a connection was cut
    missed_deadline,    // is not looked at after a wait
    kept_collection,    // although servers do not know its id any more
    kept_slot,          // after the reply
    unproven_login,     // to a server that has not proved that it knows the password
    long_wait,          // before an attempt is made again
};

struct storm_options {
    protocol of = protocol::mongo;
    defect with = defect::none;
    bool with_trace = false;  // of all that happens in the network, in the script
};

struct storm_report {
    std::string complaints = {};  // empty: all is well
    drill::verdict found = {};
    fault_counts faults = {};  // that have happened, not only been ordered
    std::uint64_t retries = 0;
    std::uint64_t history = 0;  // the simulation's hash: one seed is one history
    std::string script = {};  // for people: what was drawn, and when it happened
};

storm_report run_storm(std::uint64_t seed, const storm_options& options = {});

}  // namespace holdfast::truth
