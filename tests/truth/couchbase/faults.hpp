#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "truth/backend.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace holdfast::truth {

enum class couchbase_fault : std::uint8_t {
    hard_failover,      // of a node that is well, silent, gone, or does not notice
    graceful_failover,
    rebalance_in,       // a node joins
    rebalance_out,      // a node leaves
    crash,              // of a node, which comes back
    partition,          // of a node, from nodes, from all, or from one client
    freeze,             // of a node
    delay,              // slow links that lose and break
    cut,                // connections break, at rest or in the middle of a reply
    refusals,           // nodes answer with 86, 09 or 07
    lost_configuration, // pushes that do not come, come late, in pieces or in the wrong order
    manifest,           // a collection is dropped and made again
};
std::span<const std::string_view> couchbase_fault_names() noexcept;

inline constexpr const char* storm_bucket = "travel";
inline constexpr const char* storm_collection = "scratch";  // whose documents are of no value

/// What the script has done to the servers, for those who judge clients.
struct couchbase_deeds {
    bool replicas_promoted = false;
    bool stale_reads = false;
    std::uint64_t moves = 0;  // of active vbuckets
    std::uint64_t refusals = 0;  // of which "not my vbucket" was no true answer
};

class couchbase_faults final : public fault_script {
public:
    couchbase_faults(storm_hosts& in, lab::couchbase::cluster& servers, std::size_t replicas,
                     couchbase_deeds& deeds, std::size_t count);

private:
    bool happen(std::size_t kind) override;
    bool hard_failover();
    bool graceful_failover();
    bool rebalance_in();
    bool rebalance_out();
    bool crash();
    bool partition();
    bool freeze();
    bool delay();
    bool cut();
    bool refusals();
    bool lost_configuration();
    bool manifest();

    // Changes of membership, one at a time.
    runtime::awaitable<void> replace_later(duration wait, std::size_t lost);
    runtime::awaitable<void> hand_over(std::size_t leaving);
    runtime::awaitable<void> join();
    runtime::awaitable<void> leave(std::size_t leaving);
    runtime::awaitable<void> spread(std::vector<std::size_t> out);
    void add_node();
    std::vector<int> actives() const;
    void note_moves(const std::vector<int>& before);

    std::vector<std::size_t> members() const;
    bool is_well(std::size_t node) const;
    bool all_run() const;
    /// A member that is well. None: -1.
    int victim();
    void bring_back(std::size_t node);

    lab::couchbase::cluster& servers_;
    std::size_t replicas_;
    couchbase_deeds& deeds_;
    std::set<std::size_t> ill_;  // nodes that have crashed or stand still
    bool moving_ = false;  // the members change
    bool losing_ = false;  // one of them is about to be failed over, and no other may fail
    int faults_ = 0;
};

}  // namespace holdfast::truth
