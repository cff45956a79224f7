#pragma once
#include "core/mongo/sdam/transition.hpp"
#include "core/mongo/settings/client_settings.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

/// Routers come and go in the SRV records of a sharded cluster, so these are looked up again and
/// again. When, and what follows from an answer, is decided here; the shell asks and waits.

inline constexpr std::chrono::seconds min_srv_rescan_interval{60};

struct srv_host {
    std::string host;
    std::uint16_t port = 0;
    std::chrono::seconds ttl{0};
};

struct srv_poll_settings {
    srv_settings srv = {};
    duration heartbeat_frequency = std::chrono::seconds{10};

    /// Whether a host found under the name of the connection string may be trusted; the rule is
    /// that of the first look-up, which core/mongo/uri knows.
    bool (*shares_domain)(std::string_view srv_host, std::string_view found) = nullptr;
};

/// Whether the records are to be looked up again. Once the answer is no it stays no: no topology
/// becomes unknown or sharded that was anything else. `srv` are the client's: none unless its
/// string was mongodb+srv.
bool polls_srv(const topology_description& t, const std::optional<srv_settings>& srv) noexcept;

/// From the end of a look-up with these records, the first of all included, to the next.
duration srv_rescan_interval(std::span<const srv_host> records) noexcept;

/// What one more look-up does to the topology, and how long to wait for the next; nothing if there
/// will be none. Hosts outside the domain are left out, with a warning. An error, and an answer
/// without a host to be trusted, change nothing, and let the next look-up come sooner.
struct srv_poll_outcome {
    transition change;
    std::optional<duration> next = {};
};
srv_poll_outcome apply_srv_poll(const topology_ptr& before,
                                const result<std::vector<srv_host>>& answer,
                                const srv_poll_settings& settings, std::span<const double> chances);

}  // namespace holdfast::core::mongo
