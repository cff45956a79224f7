#pragma once
#include "lab/mongo/data/disk.hpp"
#include "lab/mongo/deployment/gate.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/serve/node_service.hpp"
#include "lab/mongo/serve/service.hpp"
#include "lab/mongo/set/set_member.hpp"
#include "runtime/world.hpp"

#include <memory>
#include <string>

namespace holdfast::lab::mongo {

/// TLS of a deployment: as servers show themselves, and as they connect to each other.
struct tls_pair {
    runtime::tls_ptr serving = {};
    runtime::tls_ptr connecting = {};
};

/// One mongod while it runs: all that a crash takes away. The disk belongs to the deployment.
class member_process {
public:
    /// Takes connections at once; answers them after boot(), which must follow without a pause.
    static result<std::unique_ptr<member_process>> open(runtime::world& in, runtime::destination at,
                                                        tls_pair tls);
    ~member_process();

    std::uint16_t port() const noexcept { return port_->port(); }

    /// With a configuration on its disk it is a member of that set; a standalone otherwise.
    void boot(std::shared_ptr<disk> on, node_options options, bool in_set);

    /// Nothing of it runs any more when ended() is over.
    void stop();
    runtime::awaitable<void> ended();

    void freeze(bool on);
    bool frozen() const noexcept { return frozen_; }

    node& server() noexcept { return *node_; }
    /// Null for a standalone.
    set_member* member() noexcept { return member_; }
    const set_member* member() const noexcept { return member_; }
    bool is_primary() const noexcept { return node_ && node_->member->writable(); }

private:
    member_process(runtime::world& in, tls_pair tls) : world_{in}, tls_{std::move(tls)}, gate_{in}
    {
    }

    runtime::world& world_;
    tls_pair tls_;
    gate gate_;
    std::unique_ptr<node> node_;
    std::unique_ptr<node_service> service_;
    set_member* member_ = nullptr;
    bool frozen_ = false;
    std::unique_ptr<open_port> port_;  // goes first
};

}  // namespace holdfast::lab::mongo
