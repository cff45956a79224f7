#pragma once
#include "sim/simulation.hpp"
#include "tools/holdfast/drill/worker.hpp"
#include "truth/fault_script.hpp"
#include "truth/storm.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace holdfast::truth {

/// The machines of a storm.
struct storm_hosts {
    explicit storm_hosts(std::uint64_t seed) : net{seed} {}
    storm_hosts(const storm_hosts&) = delete;
    storm_hosts& operator=(const storm_hosts&) = delete;

    std::uint64_t below(std::uint64_t limit) { return net.random() % limit; }
    duration between(std::int64_t from_ms, std::int64_t to_ms)
    {
        const auto width = static_cast<std::uint64_t>(to_ms - from_ms + 1);
        return std::chrono::milliseconds{from_ms + static_cast<std::int64_t>(below(width))};
    }
    /// None of them runs any more.
    void crash_all();

    sim::simulation net;
    std::vector<sim::host*> members = {};  // servers
    std::vector<sim::host*> clients = {};
    sim::host* control = nullptr;  // gives orders, and reads what is there in the end
};

/// One worker of a storm, and the host that it works on.
struct storm_worker {
    sim::host* on = nullptr;
    drill::client_ptr with = {};  // may be that of others, too
    drill::work_options work = {};
};

/// What a protocol brings along: its servers, its clients and its faults. It lives as long as the
/// storm, and the hosts have crashed when it goes.
class storm_backend {
public:
    storm_backend() = default;
    storm_backend(const storm_backend&) = delete;
    storm_backend& operator=(const storm_backend&) = delete;
    virtual ~storm_backend() = default;

    virtual void start_servers() = 0;
    virtual std::vector<storm_worker> start_clients() = 0;
    virtual drill::client_ptr reader() = 0;
    virtual std::unique_ptr<fault_script> make_faults(std::size_t count) = 0;
    virtual const drill::client_counts& counts() const noexcept = 0;
    virtual std::string describe() const = 0;

    /// So long after the last fault clients go on, since what they meet then is looked at, too.
    virtual duration calm() const noexcept { return {}; }
    /// What is known of the servers besides what was read.
    virtual void complete(drill::found_state&) const {}
    /// When all clients have ended their work, and before they are closed: rules of its own that
    /// were broken, one line each.
    virtual std::string audit(std::span<const drill::operation>) { return {}; }
};

std::unique_ptr<storm_backend> make_mongo_backend(storm_hosts& in, std::uint64_t seed, defect with);
std::unique_ptr<storm_backend> make_couchbase_backend(storm_hosts& in, std::uint64_t seed);

}  // namespace holdfast::truth
