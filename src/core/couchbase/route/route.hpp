#pragma once
#include "core/couchbase/config/cluster_config.hpp"
#include "holdfast/couchbase/kv_options.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::core::couchbase {

/// The node that has a copy of a vbucket: 0 the active one, 1 to 3 a replica. Nothing if there is
/// no node at present, no such replica or no such vbucket.
std::optional<std::size_t> node_of(const vbucket_map& map, std::uint16_t vbucket,
                                   std::size_t copy = 0) noexcept;

/// The same by the map that the rebalance under way is to reach; nothing without one.
std::optional<std::size_t> forward_node_of(const vbucket_map& map, std::uint16_t vbucket,
                                           std::size_t copy = 0) noexcept;

/// Where a request goes after `refused_by` has answered that the vbucket is not its own: to the
/// active node if the map has changed since, else to the one that takes over. Nothing: a newer
/// configuration is needed.
std::optional<std::size_t> node_after_refusal(const vbucket_map& map, std::uint16_t vbucket,
                                              std::size_t refused_by) noexcept;

using holdfast::couchbase::read_preference;

/// A copy that can be read.
struct readable_copy {
    std::size_t node = 0;
    std::uint8_t copy = 0;  // 0: the active one

    friend bool operator==(const readable_copy&, const readable_copy&) = default;
};

/// At most one entry per copy, the active one first.
class readable_copies {
public:
    void add(readable_copy one) noexcept { copies_[size_++] = one; }
    std::span<const readable_copy> all() const noexcept { return {copies_.data(), size_}; }
    bool empty() const noexcept { return size_ == 0; }

private:
    std::array<readable_copy, max_replicas + 1> copies_{};
    std::size_t size_ = 0;
};

/// The copies of a vbucket that a read from any or all replicas goes to. `group` counts only with a
/// preference.
readable_copies copies_to_read(const cluster_config& config, std::uint16_t vbucket,
                               read_preference preference, std::string_view group) noexcept;

}  // namespace holdfast::core::couchbase
