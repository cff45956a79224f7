#include "lab/mongo/deployment/router_process.hpp"

#include "lab/mongo/deployment/all_commands.hpp"

#include <utility>

namespace holdfast::lab::mongo {

result<std::unique_ptr<router_process>> router_process::open(runtime::world& in,
                                                             runtime::destination at, tls_pair tls,
                                                             bool for_balancer)
{
    std::unique_ptr<router_process> made{new router_process{in, std::move(tls)}};
    service_port_options options;
    options.where = at;
    options.tls = made->tls_.serving;
    auto opened = open_service_port(in, made->gate_, options);
    if (!opened)
        return std::move(opened).error();
    made->port_ = *std::move(opened);
    if (!for_balancer)
        return made;
    options.where.port = 0;
    options.balancer = true;
    opened = open_service_port(in, made->gate_, std::move(options));
    if (!opened)
        return std::move(opened).error();
    made->behind_balancer_ = *std::move(opened);
    return made;
}

router_process::~router_process()
{
    behind_balancer_.reset();
    port_.reset();
}

void router_process::boot(node_options options, std::vector<std::string> members)
{
    node_ = std::make_unique<node>(world_, std::make_shared<disk>(1 << 20), std::move(options));
    add_all_commands(*node_);
    router_options routing;
    routing.members = std::move(members);
    routing.tls = tls_.connecting;
    router_ = std::make_unique<router>(*node_, std::move(routing));
    gate_.lead_to(*router_);
    node_->close_connections = [this](bool internal_too) {
        port_->close_connections(internal_too);
    };
}

void router_process::stop()
{
    if (router_)
        router_->stop();
    port_->stop();
    if (behind_balancer_)
        behind_balancer_->stop();
}

runtime::awaitable<void> router_process::ended()
{
    co_await port_->ended();
    if (behind_balancer_)
        co_await behind_balancer_->ended();
}

}  // namespace holdfast::lab::mongo
