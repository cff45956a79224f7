#include "holdfast/couchbase/errc.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "lab/api/own_loop.hpp"
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/mgmt/commands.hpp"
#include "lab/couchbase/mgmt/management.hpp"
#include "lab/couchbase/mgmt/outcomes.hpp"

#include <optional>
#include <utility>

namespace holdfast::lab {

namespace {

using couchbase_errc = holdfast::couchbase::errc;

constexpr std::size_t most_nodes = 50;
constexpr std::size_t last_port = 65535;
constexpr std::chrono::milliseconds departure{100};  // about what real clusters need

error wrong_option(std::string why)
{
    return error{couchbase_errc::invalid_argument, std::move(why)}.with_context("phase", "options");
}

result<void> check_options(const couchbase_options& options)
{
    if (options.nodes == 0 || options.nodes > most_nodes)
        return wrong_option("a cluster has 1 to 50 nodes");
    if (options.replicas > couchbase::max_replicas)
        return wrong_option("a bucket has 3 replicas at most");
    if (options.user.empty() || options.password.empty())
        return wrong_option("a login has a user and a password, both not empty");
    if (options.host.empty() || options.bind.empty())
        return wrong_option("host and bind must not be empty");
    for (const std::uint16_t port : {options.port, options.tls_port, options.management_port}) {
        if (port != 0 && port + options.nodes > last_port + 1)
            return wrong_option("there are not that many ports after " + std::to_string(port));
    }
    return {};
}

}  // namespace

struct couchbase_cluster::inside {
    explicit inside(couchbase_options with) : options{std::move(with)} {}
    ~inside()
    {
        if (!servers)
            return;
        loop.run(servers->stop());
        loop.call([this] { servers.reset(); });
    }

    couchbase::node_place place_of(std::size_t number);
    result<couchbase::cluster_options> plan();
    result<void> start();
    void name_all();
    template <class Change>
    result<void> change_manifest(std::string_view bucket, const std::string& what, Change change);
    result<std::vector<std::string>> command(std::string line);
    result<void> obey(std::string line)
    {
        const auto done = command(std::move(line));
        return done ? result<void>{} : result<void>{done.error()};
    }
    /// Calls a function on the loop's thread.
    template <class Function>
    auto call(Function function) -> decltype(function())
    {
        std::optional<decltype(function())> outcome;
        loop.call([&] { outcome.emplace(function()); });
        return *std::move(outcome);
    }

    couchbase_options options;
    own_loop loop;
    std::unique_ptr<couchbase::cluster> servers;
    std::string uri;
    std::string tls_uri;
    std::string external_uri;
    std::string management_url;
};

couchbase::node_place couchbase_cluster::inside::place_of(std::size_t number)
{
    const auto from = [&](std::uint16_t first) {
        const std::size_t port = first == 0 ? 0 : first + number;
        return static_cast<std::uint16_t>(port > last_port ? 0 : port);
    };
    couchbase::node_place made{&loop.world(), options.bind, options.host, from(options.port)};
    made.tls_port = from(options.tls_port);
    made.management_port = from(options.management_port);
    made.external_host = options.external_host;
    return made;
}

result<couchbase::cluster_options> couchbase_cluster::inside::plan()
{
    couchbase::cluster_options made;
    made.buckets = options.buckets;
    made.user = options.user;
    made.password = options.password;
    made.node.plain_without_tls = options.plain_without_tls;
    made.replicas = options.replicas;
    made.warm_up = options.warm_up;
    made.departure = departure;
    made.management = couchbase::make_management;
    made.next_place = [this](std::size_t n) { return place_of(n); };
    for (std::size_t n = 0; n != options.nodes; ++n)
        made.nodes.push_back(place_of(n));
    if (options.tls_certificate.empty())
        return made;
    auto serving = loop.world().tls(
        {.certificate_key_file = options.tls_certificate, .verify_peer = false});
    if (!serving)
        return std::move(serving).error().with_context("phase", "options");
    made.tls = *std::move(serving);
    return made;
}

result<void> couchbase_cluster::inside::start()
{
    if (auto fine = check_options(options); !fine)
        return fine;
    auto planned = plan();
    if (!planned)
        return std::move(planned).error();
    result<void> outcome;
    loop.call([&] {
        auto made = std::make_unique<couchbase::cluster>(*std::move(planned));
        outcome = made->start();
        if (outcome)
            servers = std::move(made);
    });
    if (outcome)
        name_all();
    return outcome;
}

void couchbase_cluster::inside::name_all()
{
    management_url = "http://" + servers->address(0, "mgmt");
    for (std::size_t n = 0; n != servers->nodes(); ++n) {
        uri += (n == 0 ? "couchbase://" : ",") + servers->address(n);
        if (!options.tls_certificate.empty())
            tls_uri += (n == 0 ? "couchbases://" : ",") + servers->tls_address(n);
        if (!options.external_host.empty())
            external_uri += (n == 0 ? "couchbase://" : ",") + servers->external_address(n, "kv");
    }
}

template <class Change>
result<void> couchbase_cluster::inside::change_manifest(std::string_view bucket,
                                                        const std::string& what, Change change)
{
    result<void> outcome;
    loop.call([&] {
        if (servers->has_bucket(bucket))
            outcome = couchbase::manifest_outcome(change(), what);
        else
            outcome = error{couchbase_errc::bucket_not_found,
                            "there is no bucket '" + std::string{bucket} + "'"};
    });
    return outcome;
}

namespace {

using command_answer = result<std::vector<std::string>>;

runtime::awaitable<void> keep_answer(couchbase::cluster& on, std::string line,
                                     std::optional<command_answer>& into)
{
    auto answer = co_await couchbase::carry_out(on, std::move(line));
    into.emplace(std::move(answer));
}

}  // namespace

result<std::vector<std::string>> couchbase_cluster::inside::command(std::string line)
{
    std::optional<command_answer> answer;
    loop.run(keep_answer(*servers, std::move(line), answer));
    return *std::move(answer);
}

couchbase_cluster::couchbase_cluster(std::unique_ptr<inside> of) noexcept : inside_{std::move(of)}
{
}
couchbase_cluster::couchbase_cluster(couchbase_cluster&&) noexcept = default;
couchbase_cluster& couchbase_cluster::operator=(couchbase_cluster&&) noexcept = default;
couchbase_cluster::~couchbase_cluster() = default;

result<couchbase_cluster> couchbase_cluster::start(couchbase_options options)
{
    auto made = std::make_unique<inside>(std::move(options));
    if (auto started = made->start(); !started)
        return std::move(started).error();
    return couchbase_cluster{std::move(made)};
}

const std::string& couchbase_cluster::uri() const noexcept
{
    return inside_->uri;
}

const std::string& couchbase_cluster::tls_uri() const noexcept
{
    return inside_->tls_uri;
}

const std::string& couchbase_cluster::external_uri() const noexcept
{
    return inside_->external_uri;
}

const std::string& couchbase_cluster::management_url() const noexcept
{
    return inside_->management_url;
}

std::size_t couchbase_cluster::nodes() const
{
    return inside_->call([&] { return inside_->servers->nodes(); });
}

std::string couchbase_cluster::address(std::size_t node) const
{
    return inside_->call([&] {
        const couchbase::cluster& servers = *inside_->servers;
        return node < servers.nodes() ? servers.address(node) : std::string{};
    });
}

result<void> couchbase_cluster::create_bucket(std::string_view name, std::size_t replicas)
{
    return inside_->call([&] { return inside_->servers->create_bucket(name, replicas); });
}

result<void> couchbase_cluster::create_scope(std::string_view bucket, std::string_view name)
{
    return inside_->change_manifest(bucket, "scope '" + std::string{name} + "'",
                                    [&] { return inside_->servers->create_scope(bucket, name); });
}

result<void> couchbase_cluster::drop_scope(std::string_view bucket, std::string_view name)
{
    return inside_->change_manifest(bucket, "scope '" + std::string{name} + "'",
                                    [&] { return inside_->servers->drop_scope(bucket, name); });
}

result<void> couchbase_cluster::create_collection(std::string_view bucket, std::string_view scope,
                                                  std::string_view name)
{
    return inside_->change_manifest(bucket, "collection '" + std::string{name} + "'", [&] {
        return inside_->servers->create_collection(bucket, scope, name);
    });
}

result<void> couchbase_cluster::drop_collection(std::string_view bucket, std::string_view scope,
                                                std::string_view name)
{
    return inside_->change_manifest(bucket, "collection '" + std::string{name} + "'", [&] {
        return inside_->servers->drop_collection(bucket, scope, name);
    });
}

result<void> couchbase_cluster::drop_bucket(std::string_view name)
{
    return inside_->call([&] { return inside_->servers->drop_bucket(name); });
}

result<void> couchbase_cluster::flush_bucket(std::string_view name)
{
    return inside_->call([&] { return inside_->servers->flush_bucket(name); });
}

result<void> couchbase_cluster::set_user(std::string_view name, std::string_view password,
                                         std::vector<std::string> buckets)
{
    return inside_->call(
        [&] { return inside_->servers->set_user(name, password, std::move(buckets)); });
}

void couchbase_cluster::drop_user(std::string_view name)
{
    inside_->loop.call([&] { inside_->servers->drop_user(name); });
}

result<std::size_t> couchbase_cluster::add_node()
{
    return inside_->call([&] { return inside_->servers->add_node(); });
}

result<void> couchbase_cluster::rebalance(const std::vector<std::size_t>& out)
{
    std::string line = "rebalance";
    for (const std::size_t node : out)
        line += " " + std::to_string(node);
    return inside_->obey(std::move(line));
}

result<void> couchbase_cluster::fail_over(std::size_t node, bool gracefully)
{
    return inside_->obey((gracefully ? "graceful-failover " : "failover ") + std::to_string(node));
}

void couchbase_cluster::auto_failover(std::chrono::milliseconds after)
{
    inside_->loop.call([&] { inside_->servers->auto_failover(after); });
}

result<void> couchbase_cluster::crash(std::size_t node)
{
    return inside_->obey("crash " + std::to_string(node));
}

result<void> couchbase_cluster::restart(std::size_t node)
{
    return inside_->obey("restart " + std::to_string(node));
}

result<void> couchbase_cluster::freeze(std::size_t node)
{
    return inside_->obey("freeze " + std::to_string(node));
}

result<void> couchbase_cluster::thaw(std::size_t node)
{
    return inside_->obey("thaw " + std::to_string(node));
}

result<void> couchbase_cluster::set_fault(std::string_view name, const couchbase_fault& what)
{
    return inside_->call([&] { return inside_->servers->faults().set(std::string{name}, what); });
}

bool couchbase_cluster::clear_fault(std::string_view name)
{
    return inside_->call([&] { return inside_->servers->faults().remove(name); });
}

void couchbase_cluster::clear_faults()
{
    inside_->loop.call([&] { inside_->servers->faults().clear(); });
}

std::int64_t couchbase_cluster::fault_hits(std::string_view name) const
{
    return inside_->call([&] { return inside_->servers->faults().hits(name); });
}

result<std::vector<std::string>> couchbase_cluster::command(std::string line)
{
    return inside_->command(std::move(line));
}

std::string couchbase_cluster::command_help()
{
    return couchbase::command_help();
}

std::vector<std::string> couchbase_cluster::status() const
{
    return inside_->command("status").value_or(std::vector<std::string>{});
}

}  // namespace holdfast::lab
