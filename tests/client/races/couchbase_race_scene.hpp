#pragma once
#include "client/couchbase/kv_scene.hpp"
#include "client/races/couchbase_races.hpp"

#include <boost/asio/cancellation_signal.hpp>

#include <deque>
#include <map>
#include <set>
#include <string>

namespace holdfast::proof {

/// An operation of a race, and what was reported of it.
struct raced_operation {
    std::string key = {};
    bool writes = false;
    int completions = 0;
    std::optional<error> failed = {};
    time_point ended{};
    time_point deadline{};
    boost::asio::cancellation_signal stop = {};
    std::optional<time_point> stopped = {};

    bool good() const noexcept { return completions == 1 && !failed; }
    bool may_be_applied() const
    {
        return good() || (failed && failed->context("may_have_been_applied") == "true");
    }
};

/// Watches the configurations of a cluster, which must not go back.
class revision_watcher final : public couchbase::event_listener {
public:
    void on(const couchbase::config_changed& e) override;
    void on(const couchbase::connection_opened&) override { ++opened; }

    std::string complaints = {};
    std::map<std::string, std::int64_t> last = {};
    int opened = 0;
};

/// A cluster of the lab with a client, and operations with unique keys.
class couchbase_race {
public:
    explicit couchbase_race(std::uint64_t seed, kv_scene_options what = {});

    void connect(const std::string& more = {}, couchbase::cluster_options options = {});
    /// A write of a new key, or a read.
    raced_operation& begin(bool writes, std::chrono::milliseconds timeout);
    void cancel(raced_operation& one);
    void close();

    /// Runs until so many things have happened in the simulation; false if nothing is left to do.
    bool run_events(std::uint64_t count);
    /// Runs until all have ended, and adds what is wrong with them.
    void conclude(race_report& report);

    kv_scene scene;
    dice chance;
    std::shared_ptr<revision_watcher> watcher = std::make_shared<revision_watcher>();
    std::deque<raced_operation> operations;
    std::optional<time_point> closed_at;

private:
    void count_writes();
    void check_effects(race_report& report);
    void check_slots(race_report& report);

    bool closed_ = false;
    std::size_t left_ = 0;  // operations that have not ended
    std::map<std::string, int> carried_out_;  // writes by key, as the servers have seen them
};

}  // namespace holdfast::proof
