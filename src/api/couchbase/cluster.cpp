#include "holdfast/couchbase/cluster.hpp"

#include "api/common/default_runtime.hpp"
#include "api/common/observer_place.hpp"
#include "api/couchbase/access.hpp"
#include "api/couchbase/cluster_impl.hpp"
#include "core/couchbase/route/collection_ids.hpp"

#include <span>
#include <utility>
#include <vector>

namespace holdfast::couchbase {

cluster::cluster(asio::any_io_executor on, std::string_view connection_string,
                 cluster_options options)
    : cluster{create(std::move(on), connection_string, std::move(options)).value()}
{
}

result<cluster> cluster::create(asio::any_io_executor on, std::string_view connection_string,
                                cluster_options options)
{
    const auto make_world = [&](const core::couchbase::cluster_settings& settings) {
        return api::default_world(on, settings.dns_servers);
    };
    auto made = cluster_impl::make(make_world, connection_string, std::move(options),
                                   console_log(severity::warning), {}, api::observer_thread);
    if (!made)
        return std::move(made).error();
    return cluster{*std::move(made)};
}

result<cluster> access::in_world(std::shared_ptr<runtime::world> world,
                                 std::string_view connection_string, cluster_options options)
{
    const auto make_world = [&](const auto&) { return world; };
    auto made = cluster_impl::make(make_world, connection_string, std::move(options), {});
    if (!made)
        return std::move(made).error();
    return make_cluster(*std::move(made));
}

bucket cluster::operator[](std::string_view bucket) const
{
    return access::make_bucket(impl_, bucket);
}

scope bucket::operator[](std::string_view scope) const
{
    return access::make_scope(cluster_, name_, scope);
}

collection scope::operator[](std::string_view collection) const
{
    shell::couchbase::keyspace at;
    at.bucket = bucket_;
    at.scope = name_;
    at.collection = collection;
    if (auto path = core::couchbase::collection_path(name_, collection))
        at.path = *std::move(path);
    else
        at.problem = std::move(path).error();
    if (bucket_.empty())
        at.problem = error{errc::invalid_argument, "the name of a bucket cannot be empty"};
    return access::make_collection(
        std::make_shared<const collection_place>(cluster_, std::move(at)));
}

const std::string& collection::name() const noexcept
{
    return place_->names->collection;
}

const std::string& collection::scope_name() const noexcept
{
    return place_->names->scope;
}

const std::string& collection::bucket_name() const noexcept
{
    return place_->names->bucket;
}

asio::any_io_executor details::executor_of(const collection_place& of) noexcept
{
    return of.cluster->world->executor();
}

asio::any_io_executor cluster::executor() const noexcept
{
    return impl_->world->executor();
}

asio::any_io_executor bucket::executor() const noexcept
{
    return cluster_->world->executor();
}

namespace {

/// Not a member: it may begin when the handle that it was asked of has gone.
asio::awaitable<result<void>> ready_of(std::shared_ptr<cluster_impl> self, std::string bucket,
                                       ready_options options)
{
    auto done = co_await self->ready(std::move(bucket), options.timeout);
    co_return done;
}

asio::awaitable<void> ready_or_throw(std::shared_ptr<cluster_impl> self, std::string bucket,
                                     ready_options options)
{
    auto done = co_await self->ready(std::move(bucket), options.timeout);
    done.value();
}

/// What ping_options have a view of.
std::vector<service_type> copied(std::span<const service_type> services)
{
    return {services.begin(), services.end()};
}

asio::awaitable<result<ping_report>> ping_of(std::shared_ptr<cluster_impl> self,
                                             std::chrono::milliseconds timeout,
                                             std::vector<service_type> services)
{
    auto made = co_await self->ping(timeout, std::move(services));
    co_return made;
}

asio::awaitable<ping_report> ping_or_throw(std::shared_ptr<cluster_impl> self,
                                           std::chrono::milliseconds timeout,
                                           std::vector<service_type> services)
{
    auto made = co_await self->ping(timeout, std::move(services));
    co_return std::move(made).value();
}

}  // namespace

asio::awaitable<void> cluster::start_ready(ready_options options) const
{
    return ready_or_throw(impl_, impl_->settings.bucket.value_or(""), options);
}

asio::awaitable<result<void>> cluster::try_ready(ready_options options) const
{
    return ready_of(impl_, impl_->settings.bucket.value_or(""), options);
}

asio::awaitable<void> bucket::start_ready(ready_options options) const
{
    return ready_or_throw(cluster_, name_, options);
}

asio::awaitable<result<void>> bucket::try_ready(ready_options options) const
{
    return ready_of(cluster_, name_, options);
}

asio::awaitable<ping_report> cluster::start_ping(ping_options options) const
{
    return ping_or_throw(impl_, options.timeout, copied(options.services));
}

asio::awaitable<result<ping_report>> cluster::try_ping(ping_options options) const
{
    return ping_of(impl_, options.timeout, copied(options.services));
}

diagnostics_report cluster::diagnostics() const
{
    return impl_->diagnostics();
}

void cluster::set_authenticator(const authenticator& next) const
{
    impl_->set_authenticator(next).value();
}

asio::awaitable<void> cluster::close() const
{
    return cluster_impl::close(impl_);
}

}  // namespace holdfast::couchbase
