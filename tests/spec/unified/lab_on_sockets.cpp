#include "lab_on_sockets.hpp"

#include "holdfast/lab/mongo.hpp"
#include "net/world.hpp"
#include "support/canary.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <stdexcept>

namespace holdfast::spec::unified {
namespace {

namespace asio = boost::asio;

lab::mongo_options options_for(const lab_kind& what)
{
    lab::mongo_options made;
    made.version = text_of(what.what.version);
    made.standalone = what.what.topology == topology_kind::single;
    made.load_balancer = what.what.topology == topology_kind::load_balanced;
    made.routers = what.routers;
    if (what.what.auth) {
        made.user = proof::canary::user;
        made.password = proof::canary::password;
    }
    return made;
}

/// "mongodb://user:secret@a:1,b:2/?x=y" without all but the hosts.
std::string hosts_in(const std::string& uri)
{
    if (uri.empty())
        return {};
    const std::size_t at = uri.find('@');
    const std::size_t from = at == uri.npos ? std::string_view{"mongodb://"}.size() : at + 1;
    return uri.substr(from, uri.find('/', from) - from);
}

std::vector<std::string> split(const std::string& hosts)
{
    std::vector<std::string> made;
    for (std::size_t from = 0; from < hosts.size();) {
        const std::size_t comma = std::min(hosts.find(',', from), hosts.size());
        made.push_back(hosts.substr(from, comma - from));
        from = comma + 1;
    }
    return made;
}

class lab_on_sockets final : public deployment {
public:
    lab_on_sockets(const lab_kind& what, lab::mongo_cluster servers)
        : kind_{what},
          servers_{std::move(servers)},
          world_{std::make_shared<net::async_world>(loop_.get_executor())}
    {
    }

    const lab_kind& kind() const noexcept override { return kind_; }
    std::shared_ptr<runtime::world> world() override { return world_; }

    bool run(runtime::awaitable<void> what, duration limit) override
    {
        const auto ended = std::make_shared<bool>(false);
        asio::co_spawn(loop_, std::move(what),
                       [ended](const std::exception_ptr&) { *ended = true; });
        const auto until = std::chrono::steady_clock::now() + limit;
        loop_.restart();
        while (!*ended && std::chrono::steady_clock::now() < until) {
            if (loop_.stopped())
                loop_.restart();
            loop_.run_one_until(until);
        }
        return *ended;
    }

    void start(runtime::awaitable<void> what) override
    {
        asio::co_spawn(loop_, std::move(what), asio::detached);
    }

    std::string hosts(bool several_routers) const override
    {
        switch (kind_.what.topology) {
        case topology_kind::single:
        case topology_kind::replica_set:
            return hosts_in(servers_.uri());
        case topology_kind::sharded:
            return several_routers ? hosts_in(servers_.router_uri()) : nodes().front();
        case topology_kind::load_balanced:
            return hosts_in(several_routers ? servers_.balancer_uri()
                                            : servers_.balanced_router_uri());
        }
        return {};
    }

    std::vector<std::string> nodes() const override
    {
        const bool routed = kind_.what.topology == topology_kind::sharded ||
                            kind_.what.topology == topology_kind::load_balanced;
        return split(hosts_in(routed ? servers_.router_uri() : servers_.uri()));
    }

private:
    lab_kind kind_;
    lab::mongo_cluster servers_;
    asio::io_context loop_{1};
    std::shared_ptr<net::async_world> world_;
};

}  // namespace

std::unique_ptr<deployment> start_on_sockets(const lab_kind& what)
{
    auto servers = lab::mongo_cluster::start(options_for(what));
    if (!servers)
        throw std::runtime_error{"the lab does not start (" + describe(what) +
                                 "): " + servers.error().explain()};
    return std::make_unique<lab_on_sockets>(what, *std::move(servers));
}

}  // namespace holdfast::spec::unified
