#include "lab/couchbase/cluster/cluster.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/roles.hpp"
#include "lab/couchbase/cluster/state.hpp"
#include "lab/couchbase/kv/exchange.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

error no_such_bucket(std::string_view name)
{
    return error{holdfast::couchbase::errc::bucket_not_found,
                 "there is no bucket '" + std::string{name} + "'"};
}

}  // namespace

cluster::cluster(cluster_options options)
    : state_{std::make_unique<cluster_state>(std::move(options))}
{
    state_->self = this;
    state_->view.revision = {1, 0};
    if (!state_->options.manager && !state_->options.nodes.empty())
        state_->options.manager = state_->options.nodes.front().world;
}

cluster::~cluster() = default;

result<void> cluster::start()
{
    cluster_state& all = *state_;
    all.tasks = std::make_unique<runtime::background>(all.manager());
    all.progress = std::make_unique<runtime::event>(all.manager());
    all.cluster_key = all.draw_text();
    for (const offered_service& one : all.options.services)
        all.show_capabilities(one.name, one.capabilities);
    for (const node_place& at : all.options.nodes) {
        if (auto added = all.add_member(at); !added)
            return added;
    }
    all.connect_all();
    all.update_view();
    all.publish();
    for (const std::string& name : all.options.buckets) {
        if (auto made = all.create_bucket(name, all.options.replicas); !made)
            return made;
    }
    return {};
}

runtime::awaitable<void> cluster::stop()
{
    cluster_state& all = *state_;
    all.tasks->stop();
    for (const auto& one : all.members) {
        one->stop_ports();
        if (one->replication)
            one->replication->stop();
    }
    for (const auto& one : all.members) {
        co_await one->ports_ended();
        if (one->replication)
            co_await one->replication->ended();
    }
    co_await all.tasks->ended();
}

std::size_t cluster::nodes() const noexcept
{
    return state_->members.size();
}

node& cluster::at(std::size_t number)
{
    return *state_->member(number).data;
}

bool cluster::is_member(std::size_t number) const
{
    return state_->check_member(number).has_value();
}

bool cluster::is_running(std::size_t number) const
{
    return state_->member(number).running;
}

const cluster_members& cluster::view() const noexcept
{
    return state_->view;
}

std::vector<std::string> cluster::buckets() const
{
    std::vector<std::string> names;
    for (const auto& [name, record] : state_->buckets)
        names.push_back(name);
    return names;
}

const bucket_layout* cluster::layout(std::string_view bucket) const
{
    const bucket_record* const record = state_->find(bucket);
    return record ? &record->layout : nullptr;
}

bool cluster::has_bucket(std::string_view name) const
{
    return state_->buckets.contains(name);
}

bool cluster::in_sync()
{
    for (const auto& [name, record] : state_->buckets) {
        for (std::size_t id = 0; id != record.layout.map.rows.size(); ++id) {
            const std::vector<int>& row = record.layout.map.rows[id];
            if (row.front() == no_node)
                continue;
            const vbucket* const source =
                state_->at(row.front()).buckets.at(name).find(static_cast<std::uint16_t>(id));
            for (std::size_t n = 1; source && n != row.size(); ++n) {
                if (row[n] != no_node &&
                    !has_caught_up(state_->at(row[n]).buckets.at(name), *source))
                    return false;
            }
        }
    }
    return true;
}

result<void> cluster::create_bucket(std::string_view name, std::size_t replicas)
{
    return state_->create_bucket(name, replicas);
}

result<void> cluster::drop_bucket(std::string_view name)
{
    if (!has_bucket(name))
        return no_such_bucket(name);
    state_->buckets.erase(state_->buckets.find(name));
    for (const auto& one : state_->members) {
        node& on = *one->data;
        std::erase(on.known_buckets, name);
        const auto dropped = on.buckets.extract(std::string{name});
        if (dropped.empty())  // it has left before the bucket came
            continue;
        for (const auto& [id, copy] : dropped.mapped().vbuckets)
            on.changed(dropped.key(), id);
        std::erase_if(on.sync_writes, [&](const auto& write) { return write->bucket == name; });
        if (!one->running)
            continue;
        for (const auto& [number, session] : on.sessions) {
            if (session->client().bucket == name)
                session->close();
        }
    }
    state_->publish();
    return {};
}

result<void> cluster::flush_bucket(std::string_view name)
{
    bucket_record* const record = state_->find(name);
    if (!record)
        return no_such_bucket(name);
    for (std::size_t n = 0; n != record->layout.map.rows.size(); ++n) {
        const auto id = static_cast<std::uint16_t>(n);
        const std::vector<int> row = record->layout.map.rows[n];
        for (const int number : row) {
            if (number != no_node)
                drop_copy(state_->at(number), state_->at(number).buckets.at(record->layout.name),
                          id);
        }
        state_->install(*record, id, row, std::nullopt);
    }
    return {};
}

manifest_change cluster::create_scope(std::string_view bucket, std::string_view name)
{
    return state_->change_manifest(bucket, [&](manifest& of) { return of.create_scope(name); });
}

manifest_change cluster::drop_scope(std::string_view bucket, std::string_view name)
{
    return state_->change_manifest(bucket, [&](manifest& of) { return of.drop_scope(name); });
}

manifest_change cluster::create_collection(std::string_view bucket, std::string_view scope,
                                           std::string_view name)
{
    return state_->administrator.create_collection(bucket, scope, name, {});
}

manifest_change cluster::drop_collection(std::string_view bucket, std::string_view scope,
                                         std::string_view name)
{
    return state_->change_manifest(bucket,
                                   [&](manifest& of) { return of.drop_collection(scope, name); });
}

void cluster::hold_manifest(std::size_t number, bool on)
{
    cluster_member& of = state_->member(number);
    of.manifest_held = on;
    state_->learn_manifests(of);
}

}  // namespace holdfast::lab::couchbase
