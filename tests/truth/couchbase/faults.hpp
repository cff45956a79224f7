#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "truth/backend.hpp"
#include "truth/couchbase/service.hpp"

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
    no_proof,           // a node does not prove that it knows the password
    new_certificate,    // a node shows one of an unknown issuer, and later a good one
};
std::span<const std::string_view> couchbase_fault_names() noexcept;

inline constexpr const char* storm_bucket = "travel";
inline constexpr std::uint16_t storm_port = 11210;
inline constexpr std::uint16_t storm_tls_port = 11207;
inline constexpr const char* storm_collection = "scratch";  // whose documents are of no value

/// A node on that host.
lab::couchbase::node_place storm_place(sim::host& on);

/// What the script has done to the servers, for those who judge clients.
struct couchbase_deeds {
    bool replicas_promoted = false;
    bool stale_reads = false;
    std::uint64_t moves = 0;  // of active vbuckets
    std::uint64_t refusals = 0;  // of which "not my vbucket" was no true answer
    std::set<std::string> unproven = {};  // nodes that no client may be logged in to
    service_record service = {};
};

class couchbase_faults final : public fault_script {
public:
    couchbase_faults(storm_hosts& in, lab::couchbase::cluster& servers, std::size_t replicas,
                     bool with_tls, couchbase_deeds& deeds, std::size_t count);

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
    bool no_proof();
    bool new_certificate();

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
    /// All connections of clients to the node break.
    void reset_clients_of(std::size_t node);
    std::size_t disturb(std::size_t node) { return deeds_.service.disturb(in_.net.now(), node); }
    void calm(std::size_t which) { deeds_.service.calm(which, in_.net.now()); }

    lab::couchbase::cluster& servers_;
    std::size_t replicas_;
    bool with_tls_;
    couchbase_deeds& deeds_;
    std::set<std::size_t> ill_;  // nodes that have crashed or stand still
    bool moving_ = false;  // the members change
    std::size_t loss_ = 0;  // the disturbance of the node that is replaced
    bool losing_ = false;  // one of them is about to be failed over, and no other may fail
    int faults_ = 0;
};

}  // namespace holdfast::truth
