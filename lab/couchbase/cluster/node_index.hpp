#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/index/index_copy.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// What the indexes of a service of a node have. They follow the active vbuckets of nodes that run
/// and are not frozen, when they are looked at: in this process, and not by connections, so that a
/// partition of the network does not hold them up. node_options::index_held and index_lag do.
class node_index {
public:
    node_index(cluster& of, std::size_t number, runtime::world& in);

    /// As far as it has come by now; null if there is no such bucket.
    const index_copy* of(std::string_view bucket);
    /// The same, without following it.
    const index_copy* as_it_was(std::string_view bucket);

    /// All that has been changed so far: what a request_plus waits for.
    index_positions all_changes(std::string_view bucket) const;
    /// Whether it has followed its sources that far, also if they have another history by now that
    /// goes on from there.
    bool has(std::string_view bucket, const index_positions& wanted);
    /// A vbucket whose history is not the wanted one, or no longer goes that far: waiting for it
    /// would be in vain.
    std::optional<std::uint16_t> mismatched(std::string_view bucket,
                                            const index_positions& wanted) const;

private:
    struct entry {
        std::string uuid = {};  // of the bucket
        std::uint64_t manifest_uid = 0;
        index_copy copy = {};
    };

    const vbucket* source_of(const bucket_layout& in, std::uint16_t id) const;
    /// Null if there is no such bucket.
    entry* find(std::string_view bucket);

    cluster& on_;
    std::size_t number_;
    runtime::world& world_;
    std::map<std::string, entry, std::less<>> entries_;
};

}  // namespace holdfast::lab::couchbase
