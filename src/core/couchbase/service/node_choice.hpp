#pragma once
#include "core/couchbase/config/cluster_config.hpp"
#include "core/couchbase/retry/dispatch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace holdfast::core::couchbase {

/// Where a request to a service may go.
struct node_wish {
    service_type service = service_type::query;
    bool with_tls = false;
    std::string_view network = {};  // whose addresses are used; see choose_network()
    std::uint32_t turn = 0;  // counts requests: they go round robin
    /// Have just failed: chosen only if there is no other.
    std::span<const endpoint> avoid = {};
    std::optional<endpoint> only = {};  // this one and no other: for pings
};

struct chosen_node {
    std::size_t index = 0;  // in the configuration
    endpoint address = {};  // of the service

    friend bool operator==(const chosen_node&, const chosen_node&) = default;
};

/// A node with the service, or why there is none: obstacle::service_not_present, or
/// obstacle::node_gone for the only one that is allowed. Views are asked of nodes that have the
/// bucket, if the configuration is that of a bucket.
std::variant<chosen_node, obstacle> choose_node(const cluster_config& config,
                                                const node_wish& wish);

}  // namespace holdfast::core::couchbase
