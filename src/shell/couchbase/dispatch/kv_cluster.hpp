#pragma once
#include "core/couchbase/retry/health.hpp"
#include "core/couchbase/settings/cluster_settings.hpp"
#include "runtime/background.hpp"
#include "shell/couchbase/connection/connection_config.hpp"
#include "shell/couchbase/dispatch/kv_bucket.hpp"
#include "shell/couchbase/dispatch/service_nodes.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::shell::couchbase {

/// What happens to the connections and the configuration of a cluster, for listeners and logs.
struct cluster_event {
    enum class kind : std::uint8_t {
        connected,
        connect_failed,
        disconnected,
        config_taken,
        config_refused,
        srv_failed,
    };
    kind what = kind::connected;
    std::string bucket = {};  // empty: none
    endpoint server = {};
    std::string detail = {};
};

struct kv_cluster_options {
    core::couchbase::cluster_settings settings = {};
    std::shared_ptr<connection_config> connections = {};
    std::optional<core::circuit_breaker_settings> breaker = {};
    std::function<void(const cluster_event&)> notify = {};  // called with no lock held
};

/// All nodes of a cluster, as its operations see them: opens what they need and keeps it open.
class kv_cluster {
public:
    kv_cluster(std::shared_ptr<runtime::world> in, kv_cluster_options options);
    kv_cluster(const kv_cluster&) = delete;
    kv_cluster& operator=(const kv_cluster&) = delete;
    ~kv_cluster();

    /// Looks up the seeds and opens the global connection; by the first call.
    void start();
    bool started() const noexcept { return started_.load(std::memory_order_acquire); }

    /// The bucket of that name, which is opened by the first call; the empty name is the cluster.
    std::shared_ptr<kv_bucket> bucket(std::string_view name);
    std::vector<std::shared_ptr<kv_bucket>> buckets() const;

    /// Ends all connections. Requests in flight end with an error.
    void close();
    runtime::awaitable<void> ended();
    bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// New connections use it from now on, and those that wait for their next attempt try at once.
    void replace_login(login with);

    // Known facts. The function is called under their mutex, and must be brief.
    template <class Function>
    auto with_facts(Function&& use)
    {
        const std::scoped_lock lock{facts_mutex_};
        return use(facts_);
    }

    void report(const cluster_event& what) const
    {
        if (options_.notify)
            options_.notify(what);
    }
    core::couchbase::tracker_id next_tracker() noexcept
    {
        return core::couchbase::tracker_id{trackers_.fetch_add(1) + 1};
    }

    std::uint64_t next_link_number() noexcept { return links_.fetch_add(1) + 1; }

    runtime::world& world() const noexcept { return *world_; }
    runtime::background& tasks() noexcept { return tasks_; }
    const core::couchbase::cluster_settings& settings() const noexcept { return options_.settings; }
    const std::shared_ptr<connection_config>& connections() const noexcept
    {
        return options_.connections;
    }
    const std::optional<core::circuit_breaker_settings>& breaker() const noexcept
    {
        return options_.breaker;
    }

    /// A configuration has come: buckets without one may find their nodes in it.
    void config_taken(const core::couchbase::cluster_config_ptr& config,
                      const std::string& network);

    service_nodes& services() noexcept { return services_; }
    /// Happens whenever that of any bucket does.
    runtime::event& changed() noexcept { return changed_; }

private:
    runtime::awaitable<void> open();
    void seeds_found(std::vector<endpoint> seeds);
    runtime::awaitable<void> watch_seeds();
    struct reach {
        bool some_answer = false;  // or are asked nothing
        bool some_are_silent = false;
    };
    reach look_at_links(time_point now) const;
    void seeds_moved(std::vector<endpoint> seeds);

    const std::shared_ptr<runtime::world> world_;
    const kv_cluster_options options_;
    std::atomic<bool> started_{false};
    std::atomic<bool> closed_{false};
    std::atomic<std::int64_t> trackers_{0};
    std::atomic<std::uint64_t> links_{0};

    std::mutex facts_mutex_;
    core::couchbase::health facts_;

    mutable std::mutex mutex_;
    std::optional<std::vector<endpoint>> seeds_;
    std::map<std::string, std::shared_ptr<kv_bucket>, std::less<>> buckets_;
    service_nodes services_;
    runtime::event changed_;
    runtime::background tasks_;
};

}  // namespace holdfast::shell::couchbase
