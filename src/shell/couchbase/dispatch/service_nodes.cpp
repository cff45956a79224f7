#include "shell/couchbase/dispatch/service_nodes.hpp"

#include "core/couchbase/config/network.hpp"
#include "core/pool/errc.hpp"
#include "shell/couchbase/connection/connect_stream.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::service_type;

namespace {

constexpr service_type http_services[] = {service_type::query, service_type::analytics,
                                          service_type::search, service_type::views,
                                          service_type::management};

http::http_pool_settings limits_of(const core::couchbase::http_settings& from)
{
    http::http_pool_settings made;
    made.max_connections = from.max_connections;
    made.idle_timeout = from.idle_timeout;
    return made;
}

runtime::awaitable<result<runtime::stream_ptr>> connect_service(
    runtime::world& in, std::shared_ptr<const connection_config> config, endpoint server)
{
    auto with = config->current_login();
    const time_point until = in.steady_now() + config->connect_timeout;
    auto stream = co_await connect_stream(in, config, std::move(with), server, until);
    if (!stream)
        co_return in_phase(std::move(stream).error(), runtime::phase_connect, server);
    if (!config->make_blocking)
        co_return stream;
    co_return config->make_blocking(*std::move(stream));
}

/// Revisions count for a whole cluster, but servers without epochs have one count for each bucket.
bool replaces(const core::couchbase::cluster_config& next,
              const core::couchbase::cluster_config* known)
{
    return known == nullptr || !next.revision.epoch || !known->revision.epoch ||
           next.revision > known->revision;
}

}  // namespace

service_nodes::service_nodes(runtime::world& in, const core::couchbase::cluster_settings& settings,
                             std::shared_ptr<const connection_config> connections)
    : world_{in},
      limits_{limits_of(settings.http)},
      with_tls_{settings.tls.enabled},
      connections_{std::move(connections)}
{
}

service_nodes::snapshot service_nodes::current() const
{
    const std::scoped_lock lock{mutex_};
    return current_;
}

/// With the mutex held, sorted.
std::vector<endpoint> service_nodes::all_endpoints() const
{
    std::vector<endpoint> all;
    if (!current_.config)
        return all;
    for (const core::couchbase::cluster_node& node : current_.config->nodes) {
        for (const service_type service : http_services) {
            if (auto at = core::couchbase::address_of(node, current_.network, service, with_tls_))
                all.push_back(*std::move(at));
        }
    }
    std::ranges::sort(all);
    return all;
}

void service_nodes::config_taken(const core::couchbase::cluster_config_ptr& config,
                                 const std::string& network)
{
    std::vector<std::shared_ptr<http::http_pool>> gone;
    {
        const std::scoped_lock lock{mutex_};
        if (closed_ || !replaces(*config, current_.config.get()))
            return;
        current_ = {config, network};
        const std::vector<endpoint> wanted = all_endpoints();
        std::erase_if(retired_, [](const auto& one) { return one.expired(); });
        std::erase_if(pools_, [&](const auto& one) {
            if (std::ranges::binary_search(wanted, one.first))
                return false;
            gone.push_back(one.second);
            retired_.push_back(one.second);
            return true;
        });
    }
    for (const auto& one : gone)
        one->close(false);
}

void service_nodes::login_replaced()
{
    pools all;
    {
        const std::scoped_lock lock{mutex_};
        all = pools_;
    }
    const error why{core::pool_errc::cleared, "the login has been replaced"};
    for (const auto& [server, one] : all) {
        one->clear(why, std::nullopt, false);
        one->mark_ready();
    }
}

std::shared_ptr<http::http_pool> service_nodes::pool_of(const endpoint& server)
{
    const std::scoped_lock lock{mutex_};
    if (closed_)
        return nullptr;
    auto& one = pools_[server];
    if (!one)
        one = http::http_pool::make(world_, limits_, [in = &world_, config = connections_, server] {
            return connect_service(*in, config, server);
        });
    return one;
}

std::vector<service_nodes::entry> service_nodes::look() const
{
    std::vector<entry> all;
    const std::scoped_lock lock{mutex_};
    if (!current_.config)
        return all;
    for (const core::couchbase::cluster_node& node : current_.config->nodes) {
        for (const service_type service : http_services) {
            auto at = core::couchbase::address_of(node, current_.network, service, with_tls_);
            if (!at)
                continue;
            entry seen{*std::move(at), service};
            if (const auto found = pools_.find(seen.server); found != pools_.end()) {
                const pool_counts counts = found->second->counts();
                seen.open = counts.total - counts.opening;
                seen.in_use = seen.open - counts.idle;
            }
            all.push_back(std::move(seen));
        }
    }
    return all;
}

void service_nodes::close()
{
    pools all;
    std::vector<std::weak_ptr<http::http_pool>> earlier;
    {
        const std::scoped_lock lock{mutex_};
        if (std::exchange(closed_, true))
            return;
        all.swap(pools_);
        earlier = retired_;
        for (const auto& [server, one] : all)
            retired_.push_back(one);
    }
    for (const auto& [server, one] : all)
        one->close(true);
    for (const auto& one : earlier) {
        if (const auto pool = one.lock())
            pool->close(true);
    }
}

runtime::awaitable<void> service_nodes::ended()
{
    std::vector<std::weak_ptr<http::http_pool>> all;
    {
        const std::scoped_lock lock{mutex_};
        all = retired_;
    }
    for (const auto& one : all) {
        const auto pool = one.lock();
        if (pool)
            co_await pool->ended();
    }
}

}  // namespace holdfast::shell::couchbase
