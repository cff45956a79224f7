#pragma once
#include "core/couchbase/settings/cluster_settings.hpp"
#include "holdfast/couchbase/cluster.hpp"
#include "runtime/world.hpp"
#include "shell/couchbase/execute/cluster_state.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::couchbase {

class shared_prepared_cache;

/// What stands behind a cluster, in whatever world it lives.
struct cluster_impl : std::enable_shared_from_this<cluster_impl> {
    /// Given, operations wait for their replies on the thread that runs them.
    using blocking_maker = shell::couchbase::connection_config::blocking_maker;
    /// Gives the place where observers are called, if the options name none.
    using place_maker = std::function<shell::run_later()>;

    /// The world to live in, by what the connection string says.
    using world_maker = std::function<std::shared_ptr<runtime::world>(
        const core::couchbase::cluster_settings& settings)>;

    static result<std::shared_ptr<cluster_impl>> make(const world_maker& make_world,
                                                      std::string_view connection_string,
                                                      cluster_options options,
                                                      std::shared_ptr<log_sink> fallback_log,
                                                      blocking_maker make_blocking = {},
                                                      const place_maker& for_observers = {});
    cluster_impl(std::shared_ptr<runtime::world> in, core::couchbase::cluster_settings settings,
                 shell::couchbase::login login, const cluster_options& options,
                 blocking_maker make_blocking, const place_maker& for_observers);
    cluster_impl(const cluster_impl&) = delete;
    cluster_impl& operator=(const cluster_impl&) = delete;
    ~cluster_impl();

    runtime::awaitable<result<void>> ready(std::string bucket, std::chrono::milliseconds timeout);
    /// No services: all.
    runtime::awaitable<result<ping_report>> ping(std::chrono::milliseconds timeout,
                                                 std::vector<service_type> services);
    diagnostics_report diagnostics() const;
    std::string next_report_id() const;
    result<void> set_authenticator(const authenticator& next);
    static runtime::awaitable<void> close(std::shared_ptr<cluster_impl> self);

    shell::couchbase::kv_cluster& nodes() const noexcept { return *state->nodes; }

    const std::shared_ptr<runtime::world> world;
    const core::couchbase::cluster_settings settings;
    const std::shared_ptr<shell::couchbase::cluster_state> state;
    const std::shared_ptr<shared_prepared_cache> plans;  // of prepared statements
    mutable std::atomic<std::uint64_t> reports{0};
};

/// "0x1f": what reports call a connection that is opened again whenever it is lost.
std::string id_of(const shell::couchbase::kv_link& link);

/// A collection of a cluster, which is opened with its bucket by the first operation.
struct collection_place {
    collection_place(std::shared_ptr<cluster_impl> of, shell::couchbase::keyspace at)
        : cluster{std::move(of)},
          names{std::make_shared<const shell::couchbase::keyspace>(std::move(at))},
          is_default{names->path == "_default._default"},
          is_observed{cluster->state->observation != nullptr}
    {
    }

    /// The bucket, which lives as long as the cluster. Looks it up once.
    shell::couchbase::kv_bucket* open() const
    {
        shell::couchbase::kv_bucket* const known = bucket_.load(std::memory_order_acquire);
        return known != nullptr ? known : open_first();
    }

    const std::shared_ptr<cluster_impl> cluster;
    const std::shared_ptr<const shell::couchbase::keyspace> names;
    const bool is_default;
    const bool is_observed;

private:
    shell::couchbase::kv_bucket* open_first() const;

    mutable std::atomic<shell::couchbase::kv_bucket*> bucket_{nullptr};  // the cluster's
};

/// What an authenticator means for connections.
result<shell::couchbase::login> login_of(runtime::world& in,
                                         const core::couchbase::cluster_settings& settings,
                                         const authenticator& with);

}  // namespace holdfast::couchbase
