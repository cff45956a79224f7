#include "lab_in_sim.hpp"

#include "lab/mongo/deployment/deployment.hpp"
#include "sim/simulation.hpp"
#include "support/canary.hpp"

#include <stdexcept>

namespace holdfast::spec::unified {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seed = 20260320;
constexpr std::size_t members_of_a_set = 3;

class lab_in_sim final : public deployment {
public:
    explicit lab_in_sim(const lab_kind& what) : kind_{what}, client_{net_.add_host("client")}
    {
        // A network of one machine: what takes long is what a case makes slow.
        sim::link fast;
        fast.latency_min = 20us;
        fast.latency_max = 60us;
        net_.set_all_links(fast);
        servers_ = std::make_unique<lab::mongo::deployment>(plan());
        if (auto started = servers_->start(); !started)
            fail(started.error());
        result<void> outcome;
        if (!run(wait_until_ready(this, &outcome), 60s))
            throw std::runtime_error{"the lab does not get ready: " + describe(kind_)};
        if (!outcome)
            fail(outcome.error());
    }
    ~lab_in_sim() override
    {
        for (sim::host* const one : hosts_)
            one->crash();
        client_.crash();
    }

    const lab_kind& kind() const noexcept override { return kind_; }

    /// The world outlives all that is in it, by the order of destruction.
    std::shared_ptr<runtime::world> world() override
    {
        return {std::shared_ptr<void>{}, &client_.world()};
    }

    bool run(runtime::awaitable<void> what, duration limit) override
    {
        const auto ended = std::make_shared<bool>(false);
        client_.start(notify(std::move(what), ended));
        const time_point until = net_.now() + limit;
        net_.run_while_not([&] { return *ended || net_.now() > until; });
        return *ended;
    }

    void start(runtime::awaitable<void> what) override { client_.start(std::move(what)); }

    std::string hosts(bool several_routers) const override
    {
        if (kind_.what.topology == topology_kind::load_balanced)
            return several_routers ? servers_->balancer_address()
                                   : servers_->balanced_router_address(0);
        const std::vector<std::string> all = nodes();
        if (kind_.what.topology == topology_kind::sharded && !several_routers)
            return all.front();
        std::string made;
        for (const std::string& one : all)
            made += (made.empty() ? "" : ",") + one;
        return made;
    }

    std::vector<std::string> nodes() const override
    {
        std::vector<std::string> made;
        const bool routed = kind_.what.topology == topology_kind::sharded ||
                            kind_.what.topology == topology_kind::load_balanced;
        for (std::size_t n = 0; n < (routed ? servers_->routers() : servers_->members()); ++n)
            made.push_back(routed ? servers_->router_address(n) : servers_->address(n));
        return made;
    }

private:
    static runtime::awaitable<void> notify(runtime::awaitable<void> what,
                                           std::shared_ptr<bool> ended)
    {
        co_await std::move(what);
        *ended = true;
    }
    static runtime::awaitable<void> wait_until_ready(lab_in_sim* self, result<void>* outcome)
    {
        runtime::world& in = self->client_.world();
        const time_point until = in.steady_now() + 50s;
        *outcome = co_await self->servers_->ready(in, until);
    }
    [[noreturn]] void fail(const error& why) const
    {
        throw std::runtime_error{"the lab does not start (" + describe(kind_) +
                                 "): " + why.explain()};
    }

    lab::mongo::place add_host(const std::string& name)
    {
        hosts_.push_back(&net_.add_host(name));
        return {&hosts_.back()->world(), "", name, 27017};
    }

    lab::mongo::deployment_options plan()
    {
        lab::mongo::deployment_options made;
        auto version = lab::mongo::read_version(text_of(kind_.what.version));
        if (!version)
            fail(version.error());
        made.node.version = *version;
        made.node.auth = kind_.what.auth;
        made.node.cluster_key = "those of this cluster know it";
        if (kind_.what.auth) {
            made.user = proof::canary::user;
            made.password = proof::canary::password;
        }
        made.standalone = kind_.what.topology == topology_kind::single;
        const std::size_t members = made.standalone ? 1 : members_of_a_set;
        for (std::size_t n = 0; n < members; ++n)
            made.members.push_back(add_host("m" + std::to_string(n)));
        for (std::size_t n = 0; n < kind_.routers; ++n)
            made.routers.push_back(add_host("r" + std::to_string(n)));
        if (kind_.what.topology == topology_kind::load_balanced)
            made.balancer = add_host("b");
        return made;
    }

    lab_kind kind_;
    sim::simulation net_{seed};
    sim::host& client_;
    std::vector<sim::host*> hosts_;
    std::unique_ptr<lab::mongo::deployment> servers_;
};

}  // namespace

std::unique_ptr<deployment> start_in_sim(const lab_kind& what)
{
    return std::make_unique<lab_in_sim>(what);
}

}  // namespace holdfast::spec::unified
