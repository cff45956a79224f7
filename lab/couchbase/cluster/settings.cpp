#include "lab/couchbase/cluster/state.hpp"
#include "lab/couchbase/kv/exchange.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

std::size_t cluster::active_node(std::string_view bucket, std::uint16_t vbucket) const
{
    const bucket_record* const record = state_->find(bucket);
    const int number = record ? record->layout.map.active(vbucket) : no_node;
    return number == no_node ? nodes() : static_cast<std::size_t>(number);
}

void cluster::hold_configuration(std::size_t number, bool on)
{
    cluster_member& of = state_->member(number);
    if (!std::exchange(of.configuration_held, on) || on)
        return;
    state_->deliver(of);
    if (of.in_view)
        return;
    // It learns only now that it was failed over.
    for (auto& [name, in] : of.data->buckets) {
        for (auto& [id, copy] : in.vbuckets)
            copy.set_state(vbucket::state::dead);
    }
}

void cluster::set_configuration_lag(std::size_t number, std::chrono::milliseconds lag)
{
    state_->member(number).lag = lag;
}

void cluster::begin_epoch()
{
    ++state_->view.revision.epoch;
    state_->view.revision.rev = 0;
    state_->publish();
}

fault_rules& cluster::faults() noexcept
{
    return state_->faults;
}

void cluster::publish()
{
    state_->publish();
}

void cluster::set_service(std::size_t number, const std::string& service, std::uint16_t port)
{
    service_ports& services = state_->member(number).entry.services;
    if (port == 0)
        services.erase(service);
    else
        services[service] = port;
    state_->update_view();
    state_->publish();
}

void cluster::set_server_group(std::size_t number, const std::string& group)
{
    state_->member(number).entry.server_group = group;
    state_->update_view();
    state_->publish();
}

void cluster::set_alternate_address(std::size_t number, std::optional<alternate_address> external)
{
    state_->member(number).entry.external = std::move(external);
    state_->update_view();
    state_->publish();
}

}  // namespace holdfast::lab::couchbase
