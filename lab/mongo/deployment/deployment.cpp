#include "lab/mongo/deployment/deployment.hpp"

#include "lab/mongo/command/users.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/first_data.hpp"
#include "lab/mongo/set/address.hpp"
#include "lab/mongo/set/message_fields.hpp"
#include "runtime/wait.hpp"

#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

std::string address_of(const place& at)
{
    return runtime::to_string(runtime::destination{at.host, at.port});
}

bson::datetime wall_at(const place& at)
{
    return std::chrono::floor<std::chrono::milliseconds>(at.in->wall_now());
}

}  // namespace

deployment::deployment(deployment_options options) : options_{std::move(options)}
{
    for (const place& at : options_.members)
        members_.push_back({at, std::make_shared<disk>(options_.oplog_bytes), nullptr});
    for (const place& at : options_.routers)
        routers_.push_back({at, nullptr});
}

deployment::~deployment() = default;

std::string deployment::address(std::size_t member) const
{
    return address_of(members_[member].at);
}

std::string deployment::router_address(std::size_t router) const
{
    return address_of(routers_[router].at);
}

std::string deployment::balancer_address() const
{
    return options_.balancer ? address_of(*options_.balancer) : std::string{};
}

std::string deployment::balanced_router_address(std::size_t router) const
{
    place at = routers_[router].at;
    at.port = routers_[router].process->balancer_port();
    return address_of(at);
}

std::string deployment::describe(std::size_t member) const
{
    const slot& one = members_[member];
    const optime last = one.data->last();
    std::string_view state = "STANDALONE";
    if (!one.process)
        state = "CRASHED";
    else if (one.process->frozen())
        state = "FROZEN";
    else if (one.process->member())
        state = name_of(one.process->member()->state());
    return std::to_string(member) + ' ' + address_of(one.at) + ' ' + std::string{state} + " term " +
           std::to_string(one.data->term()) + " at " + std::to_string(last.ts.seconds) + '.' +
           std::to_string(last.ts.increment);
}

result<void> deployment::start()
{
    if (auto opened = open_members(); !opened)
        return opened;
    if (auto opened = open_routers(); !opened)
        return opened;
    if (!options_.standalone) {
        const set_config config = make_config();
        if (auto fine = check_config(config); !fine)
            return fine;
        for (std::size_t n = 0; n < members_.size(); ++n)
            set_member::install(*members_[n].data, config, n == 0, wall_at(members_[n].at));
    }
    if (!members_.empty())
        write_first_data(*members_[0].data, options_.node.version, wall_at(members_[0].at));
    for (slot& one : members_)
        one.process->boot(one.data, options_for(one.at), !options_.standalone);
    std::vector<std::string> addresses;
    for (const slot& one : members_)
        addresses.push_back(address_of(one.at));
    for (router_slot& one : routers_)
        one.process->boot(options_for(one.at), addresses);
    return {};
}

result<void> deployment::open_members()
{
    for (slot& one : members_) {
        auto opened = member_process::open(*one.at.in, {one.at.bind, one.at.port}, options_.tls);
        if (!opened)
            return std::move(opened).error();
        one.process = *std::move(opened);
        one.at.port = one.process->port();
    }
    return {};
}

result<void> deployment::open_routers()
{
    const bool balanced = options_.balancer.has_value();
    std::vector<runtime::destination> ports;
    for (router_slot& one : routers_) {
        auto opened = router_process::open(*one.at.in, {one.at.bind, one.at.port}, options_.tls,
                                           balanced);
        if (!opened)
            return std::move(opened).error();
        one.process = *std::move(opened);
        one.at.port = one.process->port();
        if (balanced)
            ports.push_back({one.at.host, one.process->balancer_port()});
    }
    if (!balanced || ports.empty())
        return {};
    place& at = *options_.balancer;
    auto opened = balancer::open(*at.in, {at.bind, at.port}, std::move(ports));
    if (!opened)
        return std::move(opened).error();
    balancer_ = *std::move(opened);
    at.port = balancer_->port();
    return {};
}

set_config deployment::make_config()
{
    set_config made;
    made.name = options_.set_name;
    made.heartbeat_interval = options_.heartbeat_interval;
    made.election_timeout = options_.election_timeout;
    made.term = 0;
    if (!members_.empty())
        members_[0].at.in->random(made.id.bytes);
    std::int32_t id = 0;
    for (const slot& one : members_) {
        member_config m;
        m.id = id++;
        m.host = address_of(one.at);
        m.arbiter_only = static_cast<std::size_t>(m.id) + options_.arbiters >= members_.size();
        m.priority = m.arbiter_only ? 0 : 1;
        m.votes = m.id < 7 ? 1 : 0;
        if (m.votes == 0)
            m.priority = 0;
        made.members.push_back(std::move(m));
    }
    return made;
}

node_options deployment::options_for(const place& at) const
{
    node_options made = options_.node;
    made.own_address = address_of(at);
    return made;
}

void deployment::make_user(node& on)
{
    if (!options_.user.empty())
        (void)create_root_user(on, options_.user, options_.password);
}

awaitable<result<void>> deployment::ready(runtime::world& in, time_point until)
{
    for (;;) {
        const auto leads = primary();
        if (leads) {
            make_user(members_[*leads].process->server());
            break;
        }
        if (in.steady_now() >= until)
            co_return refuse(server_code::exceeded_time_limit, "no primary was elected in time");
        const auto end = co_await runtime::sleep_until(in, in.steady_now() + 5ms);
        if (end == runtime::wait_end::cancelled)
            co_return refuse(server_code::interrupted, "stopped");
    }
    // Secondaries that can be read, so that tests need not wait for them.
    while (in.steady_now() < until) {
        bool all = true;
        for (const slot& one : members_) {
            const set_member* const member = one.process ? one.process->member() : nullptr;
            all = all && (!member || member->readable() || member->arbiter());
        }
        if (all)
            break;
        const auto end = co_await runtime::sleep_until(in, in.steady_now() + 5ms);
        if (end == runtime::wait_end::cancelled)
            break;
    }
    co_return result<void>{};
}

awaitable<void> deployment::stop()
{
    if (balancer_)
        balancer_->stop();
    for (router_slot& one : routers_) {
        if (one.process)
            one.process->stop();
    }
    for (slot& one : members_) {
        if (one.process)
            one.process->stop();
    }
    if (balancer_)
        co_await balancer_->ended();
    balancer_.reset();
    for (router_slot& one : routers_) {
        if (one.process)
            co_await one.process->ended();
        one.process.reset();
    }
    for (slot& one : members_) {
        if (one.process)
            co_await one.process->ended();
        one.process.reset();
    }
}

std::optional<std::size_t> deployment::primary() const noexcept
{
    std::optional<std::size_t> found;
    std::int64_t newest = -1;
    for (std::size_t n = 0; n < members_.size(); ++n) {
        const member_process* const one = members_[n].process.get();
        if (!one || !one->is_primary() || one->frozen())
            continue;
        const std::int64_t term = one->member() ? one->member()->term() : 0;
        if (term > newest || !found)
            found = n;
        newest = std::max(newest, term);
    }
    return found;
}

awaitable<void> deployment::crash(std::size_t member)
{
    // Out of everybody's sight first: it is dead from now on.
    const std::shared_ptr<member_process> dying = std::move(members_[member].process);
    if (!dying)
        co_return;
    dying->stop();
    co_await dying->ended();
}

result<void> deployment::restart(std::size_t member, runtime::world& in)
{
    slot& one = members_[member];
    if (one.process)
        return refuse(server_code::illegal_operation, "this member runs already");
    one.at.in = &in;
    auto opened = member_process::open(in, {one.at.bind, one.at.port}, options_.tls);
    if (!opened)
        return std::move(opened).error();
    one.process = *std::move(opened);
    one.process->boot(one.data, options_for(one.at), !options_.standalone);
    return {};
}

void deployment::freeze(std::size_t member, bool on)
{
    if (members_[member].process)
        members_[member].process->freeze(on);
}

awaitable<result<void>> deployment::step_down(runtime::world& in, std::int64_t seconds)
{
    const auto leads = primary();
    if (!leads)
        co_return refuse(server_code::not_writable_primary, "there is no primary");
    auto where = read_address(address(*leads));
    if (!where)
        co_return std::move(where).error();
    const time_point until = in.steady_now() + 15s;
    auto line = co_await peer::connect(in, *std::move(where), options_.tls.connecting, until,
                                       options_.node.cluster_key);
    if (!line)
        co_return std::move(line).error();
    const bson::document command = document_of([&](bson::builder& out) {
        out.add("replSetStepDown", seconds)
            .add("secondaryCatchUpPeriodSecs", std::min<std::int64_t>(seconds, 5))
            .add("force", true)
            .add("$db", "admin");
    });
    const auto reply = co_await (*line)->ask(command.view(), until);
    if (!reply)
        co_return reply.error();
    if (!said_ok(*reply))
        co_return refuse(static_cast<int>(number_or(reply->find("code"), 8)),
                         std::string{text_or(reply->find("errmsg"), "")});
    co_return result<void>{};
}

}  // namespace holdfast::lab::mongo
