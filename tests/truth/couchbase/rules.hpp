#pragma once
#include "holdfast/couchbase/cluster.hpp"
#include "tools/holdfast/drill/client.hpp"
#include "tools/holdfast/drill/history.hpp"
#include "truth/couchbase/faults.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>

/// What a Couchbase client promises besides the fate of its writes.
namespace holdfast::truth {

/// Listens to all clusters of a storm.
class client_rules {
public:
    /// One for each cluster, which lives no longer than the deeds.
    std::shared_ptr<couchbase::event_listener> make_listener(const couchbase_deeds& deeds);

    const drill::client_counts& counts() const noexcept { return counts_; }

    /// What was broken: configurations that went back, logins without proof, and requests that went
    /// to the wrong node more often than the moves of vbuckets explain.
    std::string complaints(const couchbase_deeds& deeds, std::size_t coroutines) const;

private:
    class listener;

    drill::client_counts counts_;
    std::uint64_t misrouted_ = 0;
    std::string broken_;
};

/// Operations that began after `from`, when all faults were over for long enough, succeed, and take
/// no longer than `longest`.
std::string check_recovery(std::span<const drill::operation> history, time_point from,
                           duration longest);

/// No connection has a slot that is in use, when all operations have ended.
std::string check_slots(const couchbase::cluster& of);

}  // namespace holdfast::truth
