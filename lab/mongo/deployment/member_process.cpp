#include "lab/mongo/deployment/member_process.hpp"

#include "lab/mongo/deployment/all_commands.hpp"

#include <utility>

namespace holdfast::lab::mongo {

result<std::unique_ptr<member_process>> member_process::open(runtime::world& in,
                                                             runtime::destination at, tls_pair tls)
{
    std::unique_ptr<member_process> made{new member_process{in, std::move(tls)}};
    service_port_options options;
    options.where = std::move(at);
    options.tls = made->tls_.serving;
    auto opened = open_service_port(in, made->gate_, std::move(options));
    if (!opened)
        return std::move(opened).error();
    made->port_ = *std::move(opened);
    return made;
}

member_process::~member_process()
{
    port_.reset();
}

void member_process::boot(std::shared_ptr<disk> on, node_options options, bool in_set)
{
    node_ = std::make_unique<node>(world_, std::move(on), std::move(options));
    service_ = std::make_unique<node_service>(*node_);
    gate_.lead_to(*service_);
    add_all_commands(*node_);
    node_->close_connections = [this](bool internal_too) {
        port_->close_connections(internal_too);
    };
    if (!in_set)
        return;
    auto member = std::make_unique<set_member>(*node_, set_options{.tls = tls_.connecting});
    member_ = member.get();
    node_->member = std::move(member);
    member_->start();
}

void member_process::stop()
{
    port_->stop();
    if (member_)
        member_->stop();
}

runtime::awaitable<void> member_process::ended()
{
    co_await port_->ended();
    if (member_)
        co_await member_->ended();
}

void member_process::freeze(bool on)
{
    frozen_ = on;
    gate_.freeze(on);
    if (member_)
        member_->pause(on);
}

}  // namespace holdfast::lab::mongo
