#include "api/common/default_runtime.hpp"
#include "api/common/observer_place.hpp"
#include "api/couchbase/access.hpp"
#include "api/couchbase/cluster_impl.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"

#include <utility>

namespace holdfast::couchbase::sync {
namespace {

class cluster_bridge final : public blocking_bridge {
public:
    result<void> make(std::string_view connection_string, cluster_options options)
    {
        const auto make_world = [this](const core::couchbase::cluster_settings& settings) {
            runtime_ = api::blocking_runtime::start(settings.dns_servers);
            return runtime_->world();
        };
        auto made = cluster_impl::make(make_world, connection_string, std::move(options),
                                       console_log(severity::warning),
                                       api::blocking_runtime::make_blocking, api::observer_thread);
        if (!made)
            return std::move(made).error();
        impl_ = *std::move(made);
        return {};
    }

    /// Operations open what they need by themselves.
    result<void> open() override { return {}; }
    void run_quiet(asio::awaitable<void> what) override { runtime_->run(std::move(what)); }

    const std::shared_ptr<cluster_impl>& impl() const noexcept { return impl_; }

private:
    std::unique_ptr<api::blocking_runtime> runtime_;  // goes last: the rest lives on it
    std::shared_ptr<cluster_impl> impl_;
};

}  // namespace

cluster::cluster(std::string_view connection_string, cluster_options options)
    : cluster{create(connection_string, std::move(options)).value()}
{
}

result<cluster> cluster::create(std::string_view connection_string, cluster_options options)
{
    auto on = std::make_shared<cluster_bridge>();
    if (auto made = on->make(connection_string, std::move(options)); !made)
        return std::move(made).error();
    couchbase::cluster inner = access::make_cluster(on->impl());
    return cluster{std::move(on), std::move(inner)};
}

cluster& cluster::operator=(cluster&& other) noexcept
{
    if (this != &other) {
        if (bridge_)
            close();
        blocking_handle::operator=(std::move(other));
    }
    return *this;
}

cluster::~cluster()
{
    if (bridge_)
        close();
}

void cluster::close() const
{
    bridge_->run(inner_.close());
}

}  // namespace holdfast::couchbase::sync
