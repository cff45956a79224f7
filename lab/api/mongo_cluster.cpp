#include "holdfast/lab/mongo.hpp"
#include "lab/api/own_loop.hpp"
#include "lab/mongo/deployment/deployment.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <array>
#include <utility>

namespace holdfast::lab {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

constexpr std::size_t most_servers = 50;

/// An error about the options themselves, apart from errors of what they ask for.
error about_options(error why)
{
    return std::move(why).with_context("phase", "options");
}

error wrong(std::string why)
{
    return about_options(refuse(server_code::bad_value, std::move(why)));
}

result<void> check(const mongo_options& options)
{
    if (options.members == 0 || options.members > most_servers)
        return wrong("a set has 1 to 50 members");
    if (options.arbiters >= options.members)
        return wrong("not all members can be arbiters");
    if (options.routers > most_servers)
        return wrong("there can be 50 routers at most");
    if (options.standalone && (options.routers > 0 || options.load_balancer))
        return wrong("routers and a load balancer need a set, not a standalone");
    if (options.standalone && options.arbiters > 0)
        return wrong("a standalone has no arbiters");
    if (options.user.empty() != options.password.empty())
        return wrong("a login has a user and a password, both not empty");
    if (options.host.empty() || options.bind.empty())
        return wrong("host and bind must not be empty");
    if (options.set_name.empty())
        return wrong("a set needs a name");
    if (options.heartbeat_interval <= 0ms || options.election_timeout <= 0ms)
        return wrong("heartbeat interval and election timeout must be positive");
    const std::size_t servers = options.members + options.routers + 1;
    if (options.port != 0 && options.port + servers > 65535)
        return wrong("there are not that many ports after " + std::to_string(options.port));
    return {};
}

/// For a user's name in a connection string.
std::string escaped(std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view plain = "-._~";
    std::string made;
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter || (c >= '0' && c <= '9') || plain.find(c) != plain.npos) {
            made += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        made += '%';
        made += digits[byte >> 4U];
        made += digits[byte & 15U];
    }
    return made;
}

std::string connection_string(const mongo_options& options, const std::string& hosts,
                              const std::vector<std::string>& more)
{
    std::string made = "mongodb://";
    if (!options.user.empty())
        made += escaped(options.user) + ':' + escaped(options.password) + '@';
    made += hosts + '/';
    std::vector<std::string> all = more;
    if (!options.tls_certificate.empty())
        all.emplace_back("tls=true");
    if (!options.user.empty())
        all.emplace_back("authSource=admin");
    char before = '?';
    for (const std::string& one : all) {
        made += before + one;
        before = '&';
    }
    return made;
}

}  // namespace

struct mongo_cluster::inside {
    explicit inside(mongo_options with) : options{std::move(with)} {}
    ~inside()
    {
        if (!servers)
            return;
        loop.run(servers->stop());
        loop.call([this] { servers.reset(); });
    }

    result<mongo::deployment_options> plan();
    result<void> start();
    awaitable<void> open(result<void>& outcome);
    result<void> check_member(std::size_t member) const;
    void name_all();

    mongo_options options;
    own_loop loop;
    std::unique_ptr<mongo::deployment> servers;
    std::string uri;
    std::string router_uri;
    std::string balancer_uri;
    std::string balanced_router_uri;
};

result<mongo::deployment_options> mongo_cluster::inside::plan()
{
    mongo::deployment_options made;
    auto version = mongo::read_version(options.version);
    if (!version)
        return about_options(std::move(version).error());
    made.node.version = *version;
    made.node.auth = !options.user.empty();
    made.node.remembers_statements = options.remembers_retryable_writes;
    std::array<std::uint8_t, 16> key{};
    loop.world().random(key);
    for (const std::uint8_t byte : key)
        made.node.cluster_key += std::to_string(byte) + '.';
    made.user = options.user;
    made.password = options.password;
    made.set_name = options.set_name;
    made.arbiters = options.arbiters;
    made.standalone = options.standalone;
    made.heartbeat_interval = options.heartbeat_interval;
    made.election_timeout = options.election_timeout;
    std::uint16_t port = options.port;
    const auto next_place = [&] {
        mongo::place at{&loop.world(), options.bind, options.host, port};
        if (port != 0)
            ++port;
        return at;
    };
    const std::size_t members = options.standalone ? 1 : options.members;
    for (std::size_t n = 0; n < members; ++n)
        made.members.push_back(next_place());
    if (options.load_balancer && options.routers == 0)
        options.routers = 1;
    for (std::size_t n = 0; n < options.routers; ++n)
        made.routers.push_back(next_place());
    if (options.load_balancer)
        made.balancer = next_place();
    if (options.tls_certificate.empty())
        return made;
    auto serving = loop.world().tls(
        {.certificate_key_file = options.tls_certificate, .verify_peer = false});
    if (!serving)
        return about_options(std::move(serving).error());
    auto connecting = loop.world().tls({.verify_peer = false});
    if (!connecting)
        return std::move(connecting).error();
    made.tls = {*std::move(serving), *std::move(connecting)};
    return made;
}

awaitable<void> mongo_cluster::inside::open(result<void>& outcome)
{
    outcome = servers->start();
    if (!outcome)
        co_return;
    const time_point until = loop.world().steady_now() + 10s + 5 * options.election_timeout;
    outcome = co_await servers->ready(loop.world(), until);
}

result<void> mongo_cluster::inside::start()
{
    if (auto fine = check(options); !fine)
        return fine;
    auto planned = plan();
    if (!planned)
        return std::move(planned).error();
    servers = std::make_unique<mongo::deployment>(*std::move(planned));
    result<void> outcome;
    loop.run(open(outcome));
    if (outcome)
        name_all();
    return outcome;
}

void mongo_cluster::inside::name_all()
{
    std::string hosts;
    for (std::size_t n = 0; n + options.arbiters < servers->members(); ++n)
        hosts += (n == 0 ? "" : ",") + servers->address(n);
    std::vector<std::string> more;
    if (!options.standalone)
        more.push_back("replicaSet=" + escaped(options.set_name));
    uri = connection_string(options, hosts, more);
    std::string routers;
    for (std::size_t n = 0; n < servers->routers(); ++n)
        routers += (n == 0 ? "" : ",") + servers->router_address(n);
    if (!routers.empty())
        router_uri = connection_string(options, routers, {});
    if (options.load_balancer) {
        balancer_uri = connection_string(options, servers->balancer_address(),
                                         {"loadBalanced=true"});
        balanced_router_uri = connection_string(options, servers->balanced_router_address(0),
                                                {"loadBalanced=true"});
    }
}

result<void> mongo_cluster::inside::check_member(std::size_t member) const
{
    if (member < servers->members())
        return {};
    return wrong("there is no member " + std::to_string(member) +
                 ": they are counted from 0, and "
                 "there are " +
                 std::to_string(servers->members()));
}

mongo_cluster::mongo_cluster(std::unique_ptr<inside> of) noexcept : inside_{std::move(of)} {}
mongo_cluster::mongo_cluster(mongo_cluster&&) noexcept = default;
mongo_cluster& mongo_cluster::operator=(mongo_cluster&&) noexcept = default;
mongo_cluster::~mongo_cluster() = default;

result<mongo_cluster> mongo_cluster::start(mongo_options options)
{
    auto made = std::make_unique<inside>(std::move(options));
    if (auto started = made->start(); !started)
        return std::move(started).error();
    return mongo_cluster{std::move(made)};
}

const std::string& mongo_cluster::uri() const noexcept
{
    return inside_->uri;
}
const std::string& mongo_cluster::router_uri() const noexcept
{
    return inside_->router_uri;
}
const std::string& mongo_cluster::balancer_uri() const noexcept
{
    return inside_->balancer_uri;
}
const std::string& mongo_cluster::balanced_router_uri() const noexcept
{
    return inside_->balanced_router_uri;
}
std::size_t mongo_cluster::members() const noexcept
{
    return inside_->servers->members();
}
std::string mongo_cluster::address(std::size_t member) const
{
    return inside_->check_member(member) ? inside_->servers->address(member) : std::string{};
}

std::optional<std::size_t> mongo_cluster::primary() const
{
    std::optional<std::size_t> found;
    inside_->loop.call([&] { found = inside_->servers->primary(); });
    return found;
}

namespace {

awaitable<void> wait_for_leader(runtime::world& in, mongo::deployment& servers, time_point until,
                                std::optional<std::size_t>& found)
{
    for (;;) {
        found = servers.primary();
        if (found || in.steady_now() >= until)
            co_return;
        co_await runtime::sleep_until(in, in.steady_now() + 5ms);
    }
}

awaitable<void> ask_to_step_down(runtime::world& in, mongo::deployment& servers,
                                 std::int64_t seconds, result<void>& outcome)
{
    outcome = co_await servers.step_down(in, seconds);
}

}  // namespace

result<std::size_t> mongo_cluster::wait_for_primary(std::chrono::milliseconds timeout) const
{
    std::optional<std::size_t> found;
    runtime::world& in = inside_->loop.world();
    const time_point until = in.steady_now() + timeout;
    inside_->loop.run(wait_for_leader(in, *inside_->servers, until, found));
    if (found)
        return *found;
    return refuse(server_code::exceeded_time_limit, "no primary was elected in time");
}

result<void> mongo_cluster::step_down(std::chrono::seconds stays_down)
{
    result<void> outcome;
    inside_->loop.run(
        ask_to_step_down(inside_->loop.world(), *inside_->servers, stays_down.count(), outcome));
    return outcome;
}

result<void> mongo_cluster::crash(std::size_t member)
{
    if (auto fine = inside_->check_member(member); !fine)
        return fine;
    inside_->loop.run(inside_->servers->crash(member));
    return {};
}

result<void> mongo_cluster::restart(std::size_t member)
{
    if (auto fine = inside_->check_member(member); !fine)
        return fine;
    result<void> outcome;
    inside_->loop.call([&] { outcome = inside_->servers->restart(member, inside_->loop.world()); });
    return outcome;
}

result<void> mongo_cluster::freeze(std::size_t member)
{
    if (auto fine = inside_->check_member(member); !fine)
        return fine;
    inside_->loop.call([&] { inside_->servers->freeze(member, true); });
    return {};
}

result<void> mongo_cluster::thaw(std::size_t member)
{
    if (auto fine = inside_->check_member(member); !fine)
        return fine;
    inside_->loop.call([&] { inside_->servers->freeze(member, false); });
    return {};
}

std::vector<std::string> mongo_cluster::status() const
{
    std::vector<std::string> lines;
    inside_->loop.call([&] {
        for (std::size_t n = 0; n < inside_->servers->members(); ++n)
            lines.push_back(inside_->servers->describe(n));
    });
    return lines;
}

}  // namespace holdfast::lab
