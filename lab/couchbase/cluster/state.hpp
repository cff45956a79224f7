#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/cluster/fault_rules.hpp"
#include "lab/couchbase/http/http_service.hpp"
#include "lab/couchbase/replica/replicator.hpp"
#include "lab/serve/open_port.hpp"
#include "runtime/background.hpp"
#include "runtime/wait.hpp"

#include <map>

namespace holdfast::lab::couchbase {

/// One of the ports of a node. Its number is kept when it is closed.
struct member_port {
    std::string service = {};  // as in configurations: kv, kvSSL, mgmt, mgmtSSL, ...
    bool external = false;     // announced as an alternate address
    std::uint16_t number = 0;
    bool fixed = false;  // it was asked for; else another one will do if it is taken
    std::unique_ptr<open_port> open = {};

    bool secure() const noexcept { return service.ends_with("SSL"); }
    std::string_view of_service() const noexcept
    {
        const std::string_view name = service;
        return secure() ? name.substr(0, name.size() - 3) : name;
    }
};

/// A node with what surrounds it. `data` outlives the process: it is the node's disk.
struct cluster_member {
    node_place at = {};
    node_entry entry = {};
    std::unique_ptr<node> data = {};
    std::unique_ptr<replicator> replication = {};
    service_set services = {};  // besides management
    std::map<std::string, std::unique_ptr<http_service>, std::less<>> running_services = {};
    std::vector<member_port> ports = {};
    runtime::tls_ptr tls = {};
    handshake_fault handshake = handshake_fault::none;
    bool running = false;
    bool in_view = true;  // neither failed over nor removed
    bool departing = false;  // failed over, and still shown
    bool removed = false;
    bool memory_lost = false;
    bool configuration_held = false;
    bool manifest_held = false;
    std::chrono::milliseconds lag{0};           // of configurations
    std::chrono::milliseconds manifest_lag{0};  // of scopes and collections
    time_point last_seen = {};  // by heartbeats
    http_fault_plan http_faults = {};

    /// Whatever its entry shows; 0 if there is no such port.
    std::uint16_t port_of(std::string_view service, bool external = false) const;
    bool has_data() const { return services.contains("kv"); }
    void stop_ports();
    runtime::awaitable<void> ports_ended();
    void drop_ports();
};

/// What has been decided for a bucket.
struct bucket_record {
    bucket_layout layout = {};
    manifest collections = {};
    bucket_settings settings = {};
    std::vector<std::uint64_t> histories = {};  // the uuid of each vbucket's active copy
};

/// What other nodes connect to: an address that means all interfaces is no destination.
std::string peer_host(const node_place& at);

/// Of a movement that does not end as it was meant to.
error broken_off(std::string reason);

/// All of a cluster, for the files that decide about it.
struct cluster_state {
    explicit cluster_state(cluster_options with) : options{std::move(with)} {}
    cluster_state(const cluster_state&) = delete;
    cluster_state& operator=(const cluster_state&) = delete;

    cluster_options options;
    cluster* self = nullptr;
    cluster_members view = {};
    std::vector<std::unique_ptr<cluster_member>> members = {};
    std::map<std::string, bucket_record, std::less<>> buckets = {};
    std::unique_ptr<runtime::background> tasks = {};
    std::unique_ptr<runtime::event> progress = {};  // a copy has come closer to its source
    std::string cluster_key = {};
    std::uint64_t failovers = 0;  // a rebalance does not survive one
    bool rebalancing = false;
    std::chrono::milliseconds silence{0};  // after which a node is failed over
    std::uint64_t watches = 0;  // counts settings of that
    fault_rules faults{*this};
    directory people = {};
    administration administrator{*this};

    runtime::world& manager() { return *options.manager; }
    cluster_member& member(std::size_t number) { return *members.at(number); }
    node& at(int number) { return *member(static_cast<std::size_t>(number)).data; }
    bucket_record* find(std::string_view bucket);
    std::uint64_t draw();
    std::string draw_text();

    // ports.cpp
    const offered_service* offered(std::string_view name) const;
    result<void> check_services(const service_set& wanted) const;
    void plan_ports(cluster_member& of);
    /// Those that are not open. A free port that some other program has taken since is changed.
    result<void> open_ports(cluster_member& of);
    result<std::unique_ptr<open_port>> listen(cluster_member& of, const member_port& at,
                                              std::uint16_t number);
    /// Its entry shows the ports that it has.
    void show_ports(cluster_member& of);

    // services.cpp
    void start_service(cluster_member& of, const offered_service& what);
    void start_services(cluster_member& of);
    result<void> add_service(cluster_member& of, std::string_view name);
    result<void> remove_service(cluster_member& of, std::string_view name);
    void show_capabilities(const std::string& service, std::vector<std::string> names);

    // state.cpp
    result<void> add_member(const node_place& at);
    void start_process(cluster_member& of);
    void connect_all();
    void update_view();
    void publish();
    void deliver(cluster_member& to);
    /// Users of all nodes get the rights that their roles have now.
    void update_rights();
    void learn_manifests(cluster_member& to);
    /// All learn them, each after its lag.
    void announce_manifests();
    result<void> create_bucket(std::string_view name, std::size_t replicas);
    template <class Change>
    manifest_change change_manifest(std::string_view bucket, Change change);
    result<void> check_member(std::size_t number) const;

    // movement.cpp
    /// Takes a node out of a row; a replica becomes active if the node was. With `stays` it is a
    /// replica from now on.
    void leave_row(bucket_record& of, std::uint16_t id, int number, bool stays);
    void install(bucket_record& of, std::uint16_t id, const std::vector<int>& row,
                 std::optional<std::uint64_t> new_uuid);
    bool loses_nothing(int number) const;
    runtime::awaitable<bool> caught_up(std::string bucket, std::uint16_t id,
                                       std::vector<int> copies, time_point until);
    runtime::awaitable<result<void>> move(std::string bucket, vbucket_move step);
    runtime::awaitable<result<void>> move_all(std::string bucket, vbucket_map target,
                                              std::size_t batch);

    // membership.cpp
    result<void> fail_over(std::size_t number, std::chrono::milliseconds departure);
    runtime::awaitable<void> depart(std::size_t number);
    runtime::awaitable<void> eject(std::size_t number);

    // heartbeats.cpp
    runtime::awaitable<void> watch(std::size_t number, std::uint64_t generation);
    void check_silence();
};

template <class Change>
manifest_change cluster_state::change_manifest(std::string_view bucket, Change change)
{
    bucket_record* const record = find(bucket);
    if (!record)
        return manifest_change::no_scope;
    const manifest_change outcome = change(record->collections);
    if (outcome != manifest_change::done)
        return outcome;
    record->layout.manifest_uid = record->collections.uid_text();
    announce_manifests();
    publish();
    return outcome;
}

}  // namespace holdfast::lab::couchbase
