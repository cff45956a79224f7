#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/cluster/administration.hpp"
#include "lab/couchbase/cluster/fault_rules.hpp"
#include "lab/couchbase/http/http_service.hpp"
#include "lab/couchbase/kv/node.hpp"
#include "lab/couchbase/map/service_names.hpp"
#include "lab/serve/open_port.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/tls.hpp"
#include "runtime/world.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// Where a node is: a world of its own or a shared one, and its address.
struct node_place {
    runtime::world* world = nullptr;
    std::string bind = {};  // the address to listen at
    std::string host = {};  // the name under which clients find it
    std::uint16_t port = 0;  // 0: a free one
    std::uint16_t tls_port = 0;
    std::uint16_t management_port = 0;
    service_ports more_ports = {};  // of other services; free ones for those that are missing
    /// Not empty: each port has a second one, announced under this name as the alternate address.
    std::string external_host = {};
    std::optional<service_set> services = {};  // none: all that the cluster offers
};

class cluster;
/// Makes what answers at the ports of a service of a node. It lives as long as the node's process,
/// or until the service is removed.
using service_maker = std::function<std::unique_ptr<http_service>(cluster& of, std::size_t number,
                                                                  runtime::world& in)>;

/// A service besides key-value.
struct offered_service {
    std::string name = {};  // as in configurations: "n1ql"; "mgmt" is on every node
    service_maker make = {};
    std::vector<std::string> capabilities = {};  // that clients are shown
};

struct cluster_options {
    std::vector<node_place> nodes = {};
    std::vector<std::string> buckets = {};
    std::string user = {};
    std::string password = {};
    /// Of `user`, instead of one that is derived from the password, which takes 10 ms: for those
    /// who start a thousand clusters.
    std::optional<user_account> account = {};
    node_options node = {};
    runtime::tls_ptr tls = {};  // not null: each node has a second port, for TLS
    std::size_t replicas = 0;  // of the buckets that are there from the beginning
    std::size_t vbuckets = vbuckets_of_a_bucket;  // of all; a power of two
    /// Where decisions are made: heartbeats come from there. Null: with the first node, and then
    /// they end if its host does.
    runtime::world* manager = nullptr;
    std::chrono::milliseconds warm_up{0};  // of a node that restarts: it answers 86 so long
    /// So long configurations still show a node that answers and has no vbucket any more: some
    /// clients cancel what they have sent to a node as soon as they are not shown it.
    std::chrono::milliseconds departure{0};
    /// Where a node goes that is added without a place; null: it cannot be.
    std::function<node_place(std::size_t number)> next_place = {};
    std::vector<offered_service> services = {};
};

struct cluster_state;

enum class node_memory : std::uint8_t { kept, lost };

/// The nodes of a cluster and what is decided for all of them: membership, buckets, vbucket maps,
/// manifests, users. Each change of a configuration has a new revision. Nodes are counted from 0,
/// in the order in which they came; a number is never used again. On one thread, in any world.
///
/// Decisions reach a node at once, unless it is held back; data reaches it through connections.
/// Errors are errc::invalid_argument and errc::bucket_not_found for what makes no sense, and
/// errc::request_canceled for a movement that was broken off.
class cluster {
public:
    explicit cluster(cluster_options options);
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;
    ~cluster();

    result<void> start();
    /// Closes all ports and waits until their connections have ended.
    runtime::awaitable<void> stop();

    std::size_t nodes() const noexcept;
    node& at(std::size_t number);
    /// "127.0.0.1:41234", for clients without TLS and with it.
    std::string address(std::size_t number) const;
    std::string tls_address(std::size_t number) const;
    /// By the name that configurations have for a service; empty if the node does not have it.
    std::string address(std::size_t number, std::string_view service) const;
    std::string external_address(std::size_t number, std::string_view service) const;
    std::size_t connections(std::size_t number) const;
    /// In the configuration: neither failed over nor removed.
    bool is_member(std::size_t number) const;
    bool is_running(std::size_t number) const;
    const cluster_members& view() const noexcept;
    administration& admin() noexcept;
    std::vector<std::string> buckets() const;
    /// What has been decided, whether the nodes know it or not; null if there is no such bucket.
    const bucket_layout* layout(std::string_view bucket) const;
    std::size_t active_node(std::string_view bucket, std::uint16_t vbucket) const;
    /// Whether all copies of all buckets have all changes.
    bool in_sync();

    // Buckets, scopes and collections.
    result<void> create_bucket(std::string_view name, std::size_t replicas = 0);
    result<void> drop_bucket(std::string_view name);  // its connections are closed
    result<void> flush_bucket(std::string_view name);
    manifest_change create_scope(std::string_view bucket, std::string_view name);
    manifest_change drop_scope(std::string_view bucket, std::string_view name);
    manifest_change create_collection(std::string_view bucket, std::string_view scope,
                                      std::string_view name);
    manifest_change drop_collection(std::string_view bucket, std::string_view scope,
                                    std::string_view name);
    bool has_bucket(std::string_view name) const;
    /// While held, the node does not get to know of scopes and collections.
    void hold_manifest(std::size_t number, bool on);

    // Users. Connections that are logged in live on.
    /// A new user or a new password; no buckets: all.
    result<void> set_user(std::string_view name, std::string_view password,
                          std::vector<std::string> buckets = {});
    void drop_user(std::string_view name);
    /// What lets a user in by OAUTHBEARER; an empty user: the token is not valid any more.
    void set_token(std::string_view token, std::string_view user);
    /// What its connections have shown is not valid any more: they get AUTH_STALE.
    void expire_logins(std::string_view user);

    // Membership.
    result<std::size_t> add_node(node_place at);
    /// At cluster_options::next_place, with these services or those that it has there.
    result<std::size_t> add_node(std::optional<service_set> services = {});
    /// Hard: replicas become active at once, and what they do not have is lost.
    result<void> fail_over(std::size_t number);
    /// First hands over all that is active there.
    runtime::awaitable<result<void>> fail_over_gracefully(std::size_t number);
    /// Spreads all buckets over the members without those that are to leave, one vbucket after the
    /// other, with a new revision after each batch. These, and nodes that were failed over, have
    /// left and are stopped when it ends.
    runtime::awaitable<result<void>> rebalance(std::vector<std::size_t> out = {},
                                               std::size_t batch = 16);
    runtime::awaitable<result<void>> remove_node(std::size_t number);
    bool rebalancing() const noexcept;
    /// A node that has been silent so long is failed over, if that loses no vbucket; 0: none is.
    void auto_failover(std::chrono::milliseconds after);

    // Processes.
    runtime::awaitable<void> crash(std::size_t number, node_memory memory = node_memory::kept);
    /// The same after its host has crashed: nothing of it runs any more.
    void lost(std::size_t number, node_memory memory = node_memory::kept);
    /// At its old address; `in` is the world of the new process, null: that of the old one. If its
    /// memory was lost, replicas have become active for what it had.
    result<void> restart(std::size_t number, runtime::world* in = nullptr);
    void freeze(std::size_t number, bool on);
    void hold_replication(std::size_t number, bool on);  // its changes do not leave it
    void stall_disk(std::size_t number, bool on);
    /// Connections are refused; of one service, or of all.
    result<void> close_port(std::size_t number, std::string_view service = {});
    result<void> open_port_again(std::size_t number);

    // What nodes do to requests.
    fault_rules& faults() noexcept;
    /// For handshakes from now on; null: the same certificate as before.
    void set_tls(std::size_t number, runtime::tls_ptr tls, handshake_fault handshake);

    // Configurations.
    /// While held, a node does not learn of new ones, nor that it was failed over.
    void hold_configuration(std::size_t number, bool on);
    void set_configuration_lag(std::size_t number, std::chrono::milliseconds lag);
    /// As after the recovery from a lost quorum: a new epoch, in which the revision begins anew.
    void begin_epoch();
    /// A new revision of the same.
    void publish();
    /// The port of a service in configurations; 0: the node does not have it.
    void set_service(std::size_t number, const std::string& service, std::uint16_t port);
    void set_server_group(std::size_t number, const std::string& group);
    void set_alternate_address(std::size_t number, std::optional<alternate_address> external);

private:
    std::unique_ptr<cluster_state> state_;
};

}  // namespace holdfast::lab::couchbase
