#pragma once
#include "holdfast/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// An embedded MongoDB deployment for tests: a real server in your own process, on real sockets,
/// that can be broken on purpose. It is not for production: its data is in memory.
///
///     auto set = holdfast::lab::mongo_cluster::start({.members = 3});
///     my_code_under_test(set->uri());
///     set->crash(*set->primary());        // and see what your code does
///
/// Link holdfast::lab.
namespace holdfast::lab {

/// What to start. The defaults are a replica set of three on loopback, at free ports, without a
/// login, that fails over in a second or two.
struct mongo_options {
    std::size_t members = 3;   // of the replica set, arbiters among them; 1 to 50
    std::size_t arbiters = 0;  // the last ones of the members vote, but have no data
    bool standalone = false;   // one server that is in no set: `members` is ignored
    std::size_t routers = 0;   // in front of the set, as in a sharded cluster
    bool load_balancer = false;  // in front of the routers; one router is started if there is none

    std::string set_name = "rs0";
    std::string version = "8.2";  // what the servers claim to be, 3.6 to 8.2

    std::string user = {};  // not empty: a login is needed, and this user may do everything
    std::string password = {};

    std::string host = "127.0.0.1";  // the name under which clients find the servers
    std::string bind = "127.0.0.1";  // the address to listen at; "0.0.0.0" lets others in
    std::uint16_t port = 0;  // of the first member, the next ones have the next; 0: free ones
    std::string tls_certificate = {};  // a PEM file with certificate and key: TLS only

    std::chrono::milliseconds heartbeat_interval{200};  // between members
    std::chrono::milliseconds election_timeout{1000};  // until a lost primary is replaced

    /// False is a server with a defect, to prove that a test would notice: a retried write is
    /// carried out twice.
    bool remembers_retryable_writes = true;
};

/// A running deployment. It has a thread of its own; all functions may be called by any thread, but
/// not by two at a time. When it goes, all ports are closed and nothing is left behind.
class mongo_cluster {
public:
    /// Returns when there is a primary and all members can be read. Errors: an option makes no
    /// sense or names a file that is not there (context "phase" is "options"), or a port is taken.
    static result<mongo_cluster> start(mongo_options options = {});

    mongo_cluster(mongo_cluster&&) noexcept;
    mongo_cluster& operator=(mongo_cluster&&) noexcept;
    ~mongo_cluster();

    /// The connection string of the set, or of the standalone; with user and password, if any.
    const std::string& uri() const noexcept;
    /// That of the routers, and of the load balancer; empty if there are none.
    const std::string& router_uri() const noexcept;
    const std::string& balancer_uri() const noexcept;
    /// As if a load balancer had the first router alone behind it.
    const std::string& balanced_router_uri() const noexcept;

    std::size_t members() const noexcept;
    /// "127.0.0.1:41234". Members are counted from 0.
    std::string address(std::size_t member) const;

    /// Which member leads; empty during an election.
    std::optional<std::size_t> primary() const;
    /// The same, but waits for one.
    result<std::size_t> wait_for_primary(std::chrono::milliseconds timeout = std::chrono::seconds{
                                             10}) const;

    /// The primary hands over to another member, and does not lead again for that long.
    result<void> step_down(std::chrono::seconds stays_down = std::chrono::seconds{10});

    /// The process dies: connections break, what is not on its disk is lost.
    result<void> crash(std::size_t member);
    /// It comes back with its disk, at its old address.
    result<void> restart(std::size_t member);
    /// It takes connections and requests but answers none, until it thaws.
    result<void> freeze(std::size_t member);
    result<void> thaw(std::size_t member);

    /// One line for each member: address, state, term, newest write.
    std::vector<std::string> status() const;

private:
    struct inside;
    explicit mongo_cluster(std::unique_ptr<inside> of) noexcept;

    std::unique_ptr<inside> inside_;
};

}  // namespace holdfast::lab
