#pragma once
#include "lab/mongo/deployment/gate.hpp"
#include "lab/mongo/deployment/member_process.hpp"
#include "lab/mongo/router/router.hpp"

#include <memory>

namespace holdfast::lab::mongo {

/// One mongos while it runs: a port for clients, and one for a load balancer.
class router_process {
public:
    static result<std::unique_ptr<router_process>> open(runtime::world& in, runtime::destination at,
                                                        tls_pair tls, bool for_balancer);
    ~router_process();

    std::uint16_t port() const noexcept { return port_->port(); }
    std::uint16_t balancer_port() const noexcept { return behind_balancer_->port(); }

    void boot(node_options options, std::vector<std::string> members);
    void stop();
    runtime::awaitable<void> ended();
    void freeze(bool on) { gate_.freeze(on); }

private:
    router_process(runtime::world& in, tls_pair tls) : world_{in}, tls_{std::move(tls)}, gate_{in}
    {
    }

    runtime::world& world_;
    tls_pair tls_;
    gate gate_;
    std::unique_ptr<node> node_;
    std::unique_ptr<router> router_;
    std::unique_ptr<open_port> port_;
    std::unique_ptr<open_port> behind_balancer_;
};

}  // namespace holdfast::lab::mongo
