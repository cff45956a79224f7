#pragma once
#include "core/couchbase/settings/cluster_settings.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::couchbase {

inline constexpr std::size_t longest_connection_string = 65'536;
inline constexpr std::size_t most_seeds = 1'000;

/// A parsed connection string. Neither warnings nor errors quote hosts or values; they name options
/// and what is allowed for them.
struct parsed_connection_string {
    cluster_settings settings;
    std::vector<std::string> warnings;
};

/// Parses "couchbase://host[:port][=kv],host/bucket?option=value" and the same with couchbases,
/// which means TLS. Nothing is looked up: `srv_name` says whether there is something to look up.
result<parsed_connection_string> parse_connection_string(std::string_view text);

struct srv_record {
    std::string host;
    std::uint16_t port = 0;
};

/// The settings with the hosts that the SRV records of `srv_name` point to, in the given order.
/// Without a usable record the seeds stay as they are: the name may be a host as well.
cluster_settings with_srv_records(cluster_settings settings, std::span<const srv_record> found);

}  // namespace holdfast::core::couchbase
