#include "lab/couchbase/cluster/state.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using holdfast::couchbase::errc;

constexpr std::size_t most_buckets = 30;
constexpr std::size_t longest_bucket_name = 100;

bool is_bucket_name(std::string_view name)
{
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || c == '%';
    };
    return !name.empty() && name.size() <= longest_bucket_name &&
           std::ranges::all_of(name, allowed);
}

service_set services_at(const cluster_options& all, const node_place& at)
{
    if (at.services)
        return *at.services;
    service_set made{"kv"};
    for (const offered_service& one : all.services) {
        if (one.name != "mgmt")
            made.insert(one.name);
    }
    return made;
}

runtime::awaitable<void> deliver_later(cluster_state& of, std::size_t number)
{
    cluster_member& to = of.member(number);
    const time_point when = of.manager().steady_now() + to.lag;
    const auto end = co_await runtime::sleep_until(of.manager(), when);
    if (end == runtime::wait_end::timed_out && !to.configuration_held)
        of.deliver(to);
}

runtime::awaitable<void> learn_later(cluster_state& of, std::size_t number)
{
    cluster_member& to = of.member(number);
    const time_point when = of.manager().steady_now() + to.manifest_lag;
    const auto end = co_await runtime::sleep_until(of.manager(), when);
    if (end == runtime::wait_end::timed_out)
        of.learn_manifests(to);
}

}  // namespace

std::string peer_host(const node_place& at)
{
    const bool any = at.bind.empty() || at.bind == "0.0.0.0" || at.bind == "::";
    return any ? at.host : at.bind;
}

error broken_off(std::string reason)
{
    return error{errc::request_canceled, std::move(reason)};
}

bucket_record* cluster_state::find(std::string_view bucket)
{
    const auto found = buckets.find(bucket);
    return found == buckets.end() ? nullptr : &found->second;
}

std::uint64_t cluster_state::draw()
{
    std::array<std::uint8_t, 8> bytes{};
    manager().random(bytes);
    std::uint64_t number = 0;
    for (const std::uint8_t byte : bytes)
        number = number << 8U | byte;
    return number;
}

std::string cluster_state::draw_text()
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<std::uint8_t, 16> bytes{};
    manager().random(bytes);
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

result<void> cluster_state::check_member(std::size_t number) const
{
    if (number >= members.size() || !members[number]->in_view)
        return error{errc::invalid_argument,
                     "there is no node " + std::to_string(number) + " in the cluster"};
    return {};
}

result<void> cluster_state::add_member(const node_place& at)
{
    auto made = std::make_unique<cluster_member>();
    const int id = static_cast<int>(members.size());
    made->at = at;
    made->data = std::make_unique<node>(*at.world, id, options.node);
    made->data->cluster_key = cluster_key;
    made->entry.id = id;
    made->entry.hostname = at.host;
    if (members.empty()) {
        auto account = options.account ? result<user_account>{*options.account}
                                       : make_account(*at.world, options.password);
        if (!account)
            return std::move(account).error();
        made->data->users.emplace(options.user, *std::move(account));
        people.users[options.user].roles.push_back({"admin"});
    } else {
        made->data->users = members.front()->data->users;
        made->data->tokens = members.front()->data->tokens;
    }
    made->tls = options.tls;
    made->services = services_at(options, at);
    if (auto fine = check_services(made->services); !fine)
        return fine;
    start_services(*made);
    plan_ports(*made);
    if (auto opened = open_ports(*made); !opened)
        return opened;
    show_ports(*made);
    for (const auto& [name, record] : buckets) {
        made->data->known_buckets.push_back(name);
        bucket& in = made->data->buckets[name];
        in.layout = record.layout;
        in.collections = record.collections;
    }
    faults.install_all(*made);
    start_process(*made);
    members.push_back(std::move(made));
    return {};
}

void cluster_state::start_process(cluster_member& of)
{
    of.running = true;
    of.data->on_progress = [this] { progress->notify(); };
    of.replication = std::make_unique<replicator>(*of.data);
}

void cluster_state::connect_all()
{
    for (const auto& one : members) {
        for (const auto& other : members) {
            if (other->has_data())
                one->data->peers[other->entry.id] = {peer_host(other->at), other->port_of("kv")};
        }
        if (one->running)
            one->replication->connect_peers();
    }
}

void cluster_state::update_view()
{
    view.nodes.clear();
    for (const auto& one : members) {
        if (one->in_view || one->departing)
            view.nodes.push_back(one->entry);
    }
}

void cluster_state::publish()
{
    ++view.revision.rev;
    for (const auto& one : members) {
        if (one->configuration_held || one->removed)
            continue;
        if (one->lag.count() == 0)
            deliver(*one);
        else
            tasks->start(deliver_later(*this, static_cast<std::size_t>(one->entry.id)));
    }
}

void cluster_state::deliver(cluster_member& to)
{
    node& on = *to.data;
    on.previous_members = std::exchange(on.members, view);
    for (const auto& [name, record] : buckets) {
        bucket* const in = on.find_bucket(name);
        if (!in)
            continue;
        in->previous_layout = std::exchange(in->layout, record.layout);
        in->layout.manifest_uid = in->collections.uid_text();
    }
    if (!to.running)
        return;
    for (const auto& [number, session] : on.sessions)
        session->announce_configuration();
    for (const auto& [name, service] : to.running_services)
        service->news().notify();
}

void cluster_state::learn_manifests(cluster_member& to)
{
    if (to.manifest_held)
        return;
    for (const auto& [name, record] : buckets) {
        bucket* const in = to.data->find_bucket(name);
        if (!in || in->collections.uid() == record.collections.uid())
            continue;
        in->collections = record.collections;
        in->layout.manifest_uid = in->collections.uid_text();
        for (auto& [id, copy] : in->vbuckets)
            copy.keep_collections(
                [&](std::uint32_t c) { return in->collections.has_collection(c); });
    }
}

void cluster_state::announce_manifests()
{
    for (const auto& one : members) {
        if (one->manifest_lag.count() == 0)
            learn_manifests(*one);
        else
            tasks->start(learn_later(*this, static_cast<std::size_t>(one->entry.id)));
    }
}

result<void> cluster_state::create_bucket(std::string_view name, std::size_t replicas)
{
    if (!is_bucket_name(name))
        return error{errc::invalid_argument, "'" + std::string{name} + "' cannot name a bucket"};
    if (find(name))
        return error{errc::invalid_argument, "the bucket '" + std::string{name} + "' exists"};
    if (buckets.size() == most_buckets)
        return error{errc::invalid_argument, "there can be 30 buckets at most"};
    if (replicas > max_replicas)
        return error{errc::invalid_argument, "there can be 3 replicas at most"};
    std::vector<int> numbers;
    for (const auto& one : members) {
        if (one->in_view && one->has_data())
            numbers.push_back(one->entry.id);
    }
    if (numbers.empty())
        return error{errc::invalid_argument, "no node has key-value, where the data would be"};
    bucket_record& record = buckets[std::string{name}];
    record.layout = {std::string{name},
                     draw_text(),
                     replicas,
                     balance(numbers, {.replicas = replicas, .vbuckets = options.vbuckets}),
                     "0",
                     {}};
    record.histories.resize(record.layout.map.rows.size());
    for (const auto& one : members) {
        if (one->removed)
            continue;
        node& on = *one->data;
        on.known_buckets.emplace_back(name);
        bucket& in = on.buckets[std::string{name}];
        adopt_layout(in, on.id, record.layout, [&] { return draw(); });
        for (auto& [id, copy] : in.vbuckets) {
            if (copy.current_state() == vbucket::state::active)
                record.histories.at(id) = copy.uuid();
            copy.stall_disk(on.disk_stalled);
        }
    }
    for (const auto& one : members) {
        if (one->running)
            one->replication->mark_all();
    }
    publish();
    return {};
}

}  // namespace holdfast::lab::couchbase
