#pragma once
#include "holdfast/error.hpp"
#include "lab/mongo/deployment/member_process.hpp"
#include "lab/mongo/deployment/router_process.hpp"
#include "lab/mongo/router/balancer.hpp"
#include "lab/mongo/set/config.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab::mongo {

/// Where a server runs: on sockets all have the same world, in the simulator each one its own.
struct place {
    runtime::world* in = nullptr;
    std::string bind = {};   // what it listens at
    std::string host = {};   // what the others call it
    std::uint16_t port = 0;  // 0: any
};

struct deployment_options {
    std::vector<place> members = {};
    std::vector<place> routers = {};
    std::optional<place> balancer = {};
    std::size_t arbiters = 0;  // the last ones of the members
    bool standalone = false;   // one member that is in no set
    std::string set_name = "rs0";
    node_options node = {};
    std::string user = {};
    std::string password = {};
    std::chrono::milliseconds heartbeat_interval{200};
    std::chrono::milliseconds election_timeout{1000};
    std::int64_t oplog_bytes = 64 << 20;
    tls_pair tls = {};
};

/// A set with what is in front of it, in any world. One thread at a time; what it starts ends with
/// stop(), or with the worlds.
class deployment {
public:
    explicit deployment(deployment_options options);
    ~deployment();

    /// Opens all ports and starts all servers; elections take a moment more.
    result<void> start();
    /// Waits until there is a primary, and creates the user.
    runtime::awaitable<result<void>> ready(runtime::world& in, time_point until);
    /// Ends everything.
    runtime::awaitable<void> stop();

    std::size_t members() const noexcept { return members_.size(); }
    std::size_t routers() const noexcept { return routers_.size(); }
    std::string address(std::size_t member) const;
    std::string router_address(std::size_t router) const;
    std::string balancer_address() const;
    /// The port of a router that a balancer leads to: who connects there has it for himself.
    std::string balanced_router_address(std::size_t router) const;
    /// For people: "0 127.0.0.1:27017 PRIMARY term 1 at 1700000000.1".
    std::string describe(std::size_t member) const;
    const std::string& set_name() const noexcept { return options_.set_name; }

    /// Null while it is crashed.
    member_process* process(std::size_t member) noexcept { return members_[member].process.get(); }
    disk& disk_of(std::size_t member) noexcept { return *members_[member].data; }
    /// The member that leads the newest term and is not frozen.
    std::optional<std::size_t> primary() const noexcept;

    /// The process dies, with its connections and all that is not on its disk.
    runtime::awaitable<void> crash(std::size_t member);
    /// The same after its host has crashed: nothing of it runs any more.
    void lost(std::size_t member) { members_[member].process.reset(); }
    /// With its disk, at its old address; `in` is the world of the new process.
    result<void> restart(std::size_t member, runtime::world& in);
    void freeze(std::size_t member, bool on);
    /// By command, with force; over when the old primary has stepped down.
    runtime::awaitable<result<void>> step_down(runtime::world& in, std::int64_t seconds);

private:
    struct slot {
        place at;
        std::shared_ptr<disk> data;
        std::unique_ptr<member_process> process;
    };
    struct router_slot {
        place at;
        std::unique_ptr<router_process> process;
    };
    result<void> open_members();
    result<void> open_routers();
    set_config make_config();
    node_options options_for(const place& at) const;
    void make_user(node& on);

    deployment_options options_;
    std::vector<slot> members_;
    std::vector<router_slot> routers_;
    std::unique_ptr<balancer> balancer_;
};

}  // namespace holdfast::lab::mongo
