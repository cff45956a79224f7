#pragma once
#include "core/mongo/sdam/topology_description.hpp"
#include "core/mongo/settings/read_preference.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::core::mongo {

enum class operation_kind : std::uint8_t { write, read };

/// A user's own choice among suitable servers. Called with each selection; what it returns must be
/// some of what it was given.
using server_selector = std::function<std::vector<server_ptr>(std::span<const server_ptr>)>;

struct selection_settings {
    duration local_threshold = std::chrono::milliseconds{15};
    duration heartbeat_frequency = std::chrono::seconds{10};
    server_selector selector = {};
};

/// What an operation asks for.
struct selection_request {
    operation_kind kind = operation_kind::write;
    read_preference preference = {};               // of a read
    std::span<const endpoint> deprioritised = {};  // used only if nothing else is suitable
    bool writes_output = false;  // a read that ends in $out or $merge: see kind_in()
    const endpoint* only = nullptr;  // the server that has a cursor, whatever else it may be now
};

/// What kind of operation it is to the servers of a topology: before 5.0 (wire version 13) only a
/// primary takes a pipeline that writes.
operation_kind kind_in(const topology_description& t, operation_kind kind,
                       bool writes_output) noexcept;

/// Whether the preference is valid: maxStalenessSeconds with mode primary, or below what heartbeats
/// can measure (at least 90 s), is an error.
result<void> check_preference(const read_preference& preference, const topology_description& t,
                              duration heartbeat_frequency);

/// All servers that may run the operation, without regard to how far away they are. Deprioritised
/// servers are left out unless nothing remains without them. An error if the preference cannot be
/// meant, or as long as the client cannot speak to some server of the topology.
result<std::vector<server_ptr>> suitable_servers(const topology_description& t,
                                                 const selection_request& request,
                                                 const selection_settings& settings);

/// Those of `servers` that are not much slower than the fastest of them.
std::vector<server_ptr> in_latency_window(std::span<const server_ptr> servers,
                                          duration local_threshold);

/// What the lag of secondaries is measured against; found once for all of a topology.
struct staleness_reference {
    const server_description* primary = nullptr;  // null if there is none, or it does not say
    std::optional<bson::datetime> newest_write = {};  // of the secondaries
};
staleness_reference staleness_reference_of(const topology_description& t);

/// How far a secondary lags behind, as estimated from the last heartbeats.
duration staleness(const server_description& secondary, const staleness_reference& reference,
                   duration heartbeat_frequency);

}  // namespace holdfast::core::mongo
