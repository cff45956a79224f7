#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

inline constexpr std::size_t vbuckets_of_a_bucket = 1024;
inline constexpr std::size_t max_replicas = 3;
inline constexpr int no_node = -1;

/// Which node has what of a bucket: for each vbucket the active node, then those of its replicas;
/// no_node where one is missing. Nodes are numbers that stay the same as long as they are members.
struct vbucket_map {
    std::vector<std::vector<int>> rows = {};

    int active(std::size_t vbucket) const { return rows.at(vbucket).front(); }
    bool is_replica(std::size_t vbucket, int node) const;

    friend bool operator==(const vbucket_map&, const vbucket_map&) = default;
};

struct balance_options {
    std::size_t replicas = 0;
    std::size_t vbuckets = vbuckets_of_a_bucket;
};

/// An even map over these nodes that moves as little as it can of the `current` one. With fewer
/// nodes than copies, replicas are missing.
vbucket_map balance(std::span<const int> nodes, const balance_options& options,
                    const vbucket_map& current = {});

/// The vbucket of a document's key, as all clients compute it.
std::uint16_t vbucket_of_key(std::string_view key, std::size_t vbuckets) noexcept;

/// One step of a rebalance.
struct vbucket_move {
    std::uint16_t vbucket = 0;
    std::vector<int> to = {};
};

/// What is to be done, vbucket by vbucket, to get from one map to the other.
std::vector<vbucket_move> moves_between(const vbucket_map& from, const vbucket_map& to);
vbucket_map after(vbucket_map map, const vbucket_move& step);

/// The map without a node: the first replica of each of its vbuckets becomes active, and nothing is
/// put in the place of replicas that are lost. A vbucket without a replica is nowhere.
vbucket_map after_failover(vbucket_map map, int lost);

}  // namespace holdfast::lab::couchbase
