#pragma once
#include "holdfast/error.hpp"
#include "holdfast/lab/couchbase_fault.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// An embedded Couchbase cluster for tests: nodes in your own process, on real sockets, that SDKs
/// accept. It is not for production: its data is in memory.
///
///     auto lab = holdfast::lab::couchbase_cluster::start({.nodes = 3, .buckets = {"travel"}});
///     my_code_under_test(lab->uri());
///
/// Link holdfast::lab.
namespace holdfast::lab {

/// What to start. The defaults are one node on loopback at a free port, with one bucket.
struct couchbase_options {
    std::size_t nodes = 1;  // 1 to 50; each has its share of all vbuckets
    std::size_t replicas = 0;  // of these buckets, 0 to 3
    std::vector<std::string> buckets = {"default"};

    std::string user = "Administrator";  // who may open all buckets
    std::string password = "password";
    /// Whether PLAIN, which shows the password, is offered without TLS, too.
    bool plain_without_tls = false;

    std::string host = "127.0.0.1";  // the name under which clients find the nodes
    std::string bind = "127.0.0.1";  // the address to listen at; "0.0.0.0" lets others in
    std::uint16_t port = 0;  // of the first node, the next ones have the next; 0: free ones
    std::uint16_t tls_port = 0;         // the same for TLS
    std::uint16_t management_port = 0;  // and for management, by HTTP
    /// For views, query, search and analytics of the first node; the next nodes have the next four.
    std::uint16_t service_port = 0;
    /// What each node has: "kv,query,views", "search,analytics". Nodes beyond the end of the list
    /// have all services; management is everywhere.
    std::vector<std::string> services = {};
    /// Not empty: each node has more ports, announced as its alternate address under this name.
    std::string external_host = {};
    std::string tls_certificate = {};  // a PEM file with certificate and key: a TLS port, too
    std::chrono::milliseconds warm_up{0};  // of a node that restarts, until its data can be used
};

/// A running cluster. It has a thread of its own; all functions may be called by any thread, but
/// not by two at a time. When it goes, all ports are closed and nothing is left behind.
class couchbase_cluster {
public:
    /// Errors: an option makes no sense or names a file that is not there (context "phase" is
    /// "options"), or a port is taken.
    static result<couchbase_cluster> start(couchbase_options options = {});

    couchbase_cluster(couchbase_cluster&&) noexcept;
    couchbase_cluster& operator=(couchbase_cluster&&) noexcept;
    ~couchbase_cluster();

    /// The connection string, without the login: "couchbase://127.0.0.1:41234,...".
    const std::string& uri() const noexcept;
    /// That of the TLS ports, "couchbases://..."; empty if there are none.
    const std::string& tls_uri() const noexcept;
    /// That of the alternate addresses, for clients with network=external; empty without them.
    const std::string& external_uri() const noexcept;
    /// Of the first node: "http://127.0.0.1:41235", where buckets and users are administered as in
    /// Couchbase, commands are sent to /lab/commands and faults to /lab/faults.
    const std::string& management_url() const noexcept;

    /// With those that were added, and those that have left.
    std::size_t nodes() const;
    /// "127.0.0.1:41234", where its documents are. Nodes are counted from 0; a number is never used
    /// again.
    std::string address(std::size_t node) const;
    /// Of a service, "query", or with TLS, "querySSL"; empty if the node does not have it.
    std::string address(std::size_t node, std::string_view service) const;

    result<void> create_bucket(std::string_view name, std::size_t replicas = 0);
    result<void> drop_bucket(std::string_view name);
    result<void> flush_bucket(std::string_view name);
    result<void> create_scope(std::string_view bucket, std::string_view name);
    result<void> drop_scope(std::string_view bucket, std::string_view name);
    result<void> create_collection(std::string_view bucket, std::string_view scope,
                                   std::string_view name);
    result<void> drop_collection(std::string_view bucket, std::string_view scope,
                                 std::string_view name);

    /// A new user or a new password; no buckets: all. Connections that are logged in live on.
    result<void> set_user(std::string_view name, std::string_view password,
                          std::vector<std::string> buckets = {});
    void drop_user(std::string_view name);

    /// A new node with all services or those, "kv,query"; it has data after a rebalance. Gives its
    /// number.
    result<std::size_t> add_node(std::string_view services = {});
    /// "kv", "query", "analytics", "search" or "views". Configurations show it at once; connections
    /// to a service that is removed are closed. Key-value leaves with its node only.
    result<void> add_service(std::size_t node, std::string_view name);
    result<void> remove_service(std::size_t node, std::string_view name);
    /// Spreads the data over all nodes but those, which leave; returns when that is done.
    result<void> rebalance(const std::vector<std::size_t>& out = {});
    /// Hard, what was not replicated is lost; gracefully, the node hands over first.
    result<void> fail_over(std::size_t node, bool gracefully = false);
    /// A node that is silent so long is failed over; 0: none is.
    void auto_failover(std::chrono::milliseconds after);

    /// The process ends: connections break. Its data is kept.
    result<void> crash(std::size_t node);
    /// It comes back at its old address.
    result<void> restart(std::size_t node);
    /// It takes connections and requests but answers none, until it thaws.
    result<void> freeze(std::size_t node);
    result<void> thaw(std::size_t node);

    /// What a service ("query", "analytics", "search", "views", "management") answers to requests
    /// with that method and a path that begins so, empty ones: to all; one answer after the other,
    /// then the last again and again. It is the fault "SERVICE METHOD PATH".
    result<void> answer(std::string_view service, std::string_view method, std::string_view path,
                        std::vector<couchbase_answer> answers);
    /// The same; the function is called by the cluster's thread, and must not call the cluster.
    result<void> answer(std::string_view service, std::string_view method, std::string_view path,
                        std::function<couchbase_answer(const couchbase_request&)> generate);

    /// Faults have names; a new one takes the place of the one with its name.
    result<void> set_fault(std::string_view name, const couchbase_fault& what);
    bool clear_fault(std::string_view name);
    void clear_faults();
    /// How often it has happened.
    std::int64_t fault_hits(std::string_view name) const;

    /// One of the commands of `holdfast lab --couchbase`, which can do all of this and more; gives
    /// the lines of its answer.
    result<std::vector<std::string>> command(std::string line);
    /// One line for each.
    static std::string command_help();

    /// One line for each node: number, address, connections, documents, services, state.
    std::vector<std::string> status() const;

private:
    struct inside;
    explicit couchbase_cluster(std::unique_ptr<inside> of) noexcept;

    std::unique_ptr<inside> inside_;
};

}  // namespace holdfast::lab
