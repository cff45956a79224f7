#pragma once
#include "core/couchbase/config/offer.hpp"
#include "core/couchbase/settings/cluster_settings.hpp"
#include "shell/couchbase/connection/connection_config.hpp"
#include "shell/http/http_pool.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace holdfast::shell::couchbase {

/// Where the HTTP services of a cluster are, by its newest configuration, and the connections to
/// them: a pool for each service of each node, made when it is needed first.
class service_nodes {
public:
    service_nodes(runtime::world& in, const core::couchbase::cluster_settings& settings,
                  std::shared_ptr<const connection_config> connections);
    service_nodes(const service_nodes&) = delete;
    service_nodes& operator=(const service_nodes&) = delete;

    struct snapshot {
        core::couchbase::cluster_config_ptr config = {};  // null: there is none yet
        std::string network = {};
    };
    snapshot current() const;

    /// A bucket, or the cluster itself, has a new configuration. Pools of services that are no more
    /// are closed once what is in flight has ended.
    void config_taken(const core::couchbase::cluster_config_ptr& config,
                      const std::string& network);
    /// New connections have to be opened by another login: idle ones are closed.
    void login_replaced();

    /// Null after close().
    std::shared_ptr<http::http_pool> pool_of(const endpoint& server);
    /// Counts requests, which go to nodes in turn.
    std::uint32_t next_turn() noexcept { return turn_.fetch_add(1, std::memory_order_relaxed); }

    struct entry {
        endpoint server;
        core::couchbase::service_type service;
        std::size_t open = 0;
        std::size_t in_use = 0;
    };
    /// The services of all nodes but the key-value one, in the order of the configuration; none if
    /// there is no configuration yet.
    std::vector<entry> look() const;

    /// Ends all connections. Requests in flight end with an error.
    void close();
    /// After close(): waits until nothing of it runs any more.
    runtime::awaitable<void> ended();

private:
    using pools = std::map<endpoint, std::shared_ptr<http::http_pool>>;

    std::vector<endpoint> all_endpoints() const;

    runtime::world& world_;
    const http::http_pool_settings limits_;
    const bool with_tls_;
    const std::shared_ptr<const connection_config> connections_;
    std::atomic<std::uint32_t> turn_{0};

    mutable std::mutex mutex_;
    snapshot current_;
    pools pools_;
    std::vector<std::weak_ptr<http::http_pool>> retired_;
    bool closed_ = false;
};

}  // namespace holdfast::shell::couchbase
