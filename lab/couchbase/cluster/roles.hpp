#pragma once
#include "lab/couchbase/kv/node.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

/// What a node does with one vbucket, as the cluster has decided.
namespace holdfast::lab::couchbase {

/// Gives a node its part in a row of the map. An active copy that was not active before goes on
/// with the history that it has, or begins one under `new_uuid`.
void assign_row(node& on, bucket& in, std::uint16_t id, const std::vector<int>& row,
                std::optional<std::uint64_t> new_uuid, const std::function<std::uint64_t()>& draw);

/// The node has no part in it: what it has is dropped.
void drop_copy(node& on, bucket& in, std::uint16_t id);

/// The node was active, and is to refuse all from now on; what it has is kept.
void retire_copy(node& on, bucket& in, std::uint16_t id);

/// Whether a copy has all that the source has.
bool has_caught_up(bucket& copy_of, const vbucket& source);

/// The place of the copy in the row that loses least if it becomes active: the one that is up, of
/// the present history and has most of it. Nothing if there is no copy.
struct copy_rank {
    bool running = false;
    bool current = false;
    std::uint64_t seqno = 0;

    friend auto operator<=>(const copy_rank&, const copy_rank&) = default;
};
std::optional<std::size_t> best_copy(const std::vector<std::optional<copy_rank>>& row);

}  // namespace holdfast::lab::couchbase
