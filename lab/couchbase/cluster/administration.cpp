#include "lab/couchbase/cluster/administration.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/roles.hpp"
#include "lab/couchbase/cluster/state.hpp"

#include <utility>

namespace holdfast::lab::couchbase {

administration& cluster::admin() noexcept
{
    return state_->administrator;
}

bucket_settings* administration::settings(std::string_view bucket)
{
    bucket_record* const record = all_.find(bucket);
    return record ? &record->settings : nullptr;
}

const manifest* administration::collections(std::string_view bucket) const
{
    const bucket_record* const record = all_.find(bucket);
    return record ? &record->collections : nullptr;
}

result<void> administration::set_replicas(std::string_view bucket, std::size_t replicas)
{
    bucket_record* const record = all_.find(bucket);
    if (!record)
        return error{holdfast::couchbase::errc::bucket_not_found,
                     "there is no bucket '" + std::string{bucket} + "'"};
    if (replicas > max_replicas || all_.rebalancing)
        return error{holdfast::couchbase::errc::invalid_argument,
                     "there can be 3 replicas at most, and no change during a rebalance"};
    record->layout.replicas = replicas;
    for (std::size_t n = 0; n != record->layout.map.rows.size(); ++n) {
        const auto id = static_cast<std::uint16_t>(n);
        std::vector<int> row = record->layout.map.rows[n];
        for (std::size_t place = replicas + 1; place < row.size(); ++place) {
            if (row[place] != no_node)
                drop_copy(all_.at(row[place]), all_.at(row[place]).buckets.at(record->layout.name),
                          id);
        }
        row.resize(replicas + 1, no_node);
        all_.install(*record, id, row, std::nullopt);
    }
    all_.publish();
    return {};
}

void administration::start_task(runtime::awaitable<void> what)
{
    all_.tasks->start(std::move(what));
}

manifest_change administration::create_collection(std::string_view bucket, std::string_view scope,
                                                  std::string_view name, collection_limits limits)
{
    return all_.change_manifest(
        bucket, [&](manifest& of) { return of.create_collection(scope, name, limits); });
}

manifest_change administration::change_collection(std::string_view bucket, std::string_view scope,
                                                  std::string_view name, collection_limits limits)
{
    return all_.change_manifest(
        bucket, [&](manifest& of) { return of.change_collection(scope, name, limits); });
}

void administration::set_manifest_lag(std::size_t number, std::chrono::milliseconds lag)
{
    all_.member(number).manifest_lag = lag;
}

const service_ports& administration::ports(std::size_t number) const
{
    return all_.member(number).entry.services;
}

http_fault_plan& administration::http_faults(std::size_t number)
{
    return all_.member(number).http_faults;
}

}  // namespace holdfast::lab::couchbase
