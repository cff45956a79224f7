#include "holdfast/couchbase/errc.hpp"
#include "holdfast/lab/couchbase.hpp"
#include "lab/api/couchbase_plan.hpp"
#include "lab/api/own_loop.hpp"
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/mgmt/commands.hpp"
#include "lab/couchbase/mgmt/outcomes.hpp"

#include <limits>
#include <optional>
#include <utility>

namespace holdfast::lab {

namespace {

using couchbase_errc = holdfast::couchbase::errc;

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

result<void> couchbase_cluster::inside::start()
{
    auto planned = couchbase::plan_cluster(options, loop.world());
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
    const auto add = [](std::string& to, const char* scheme, const std::string& address) {
        if (!address.empty())
            to += (to.empty() ? scheme : ",") + address;
    };
    for (std::size_t n = 0; n != servers->nodes(); ++n) {
        add(uri, "couchbase://", servers->address(n));
        add(tls_uri, "couchbases://", servers->tls_address(n));
        add(external_uri, "couchbase://", servers->external_address(n, "kv"));
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

std::string couchbase_cluster::address(std::size_t node, std::string_view service) const
{
    const bool secure = service.ends_with("SSL");
    auto name = couchbase::service_named(service.substr(0, service.size() - (secure ? 3 : 0)));
    if (!name)
        return {};
    if (secure)
        *name += "SSL";
    return inside_->call([&] {
        const couchbase::cluster& servers = *inside_->servers;
        return node < servers.nodes() ? servers.address(node, *name) : std::string{};
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

result<std::size_t> couchbase_cluster::add_node(std::string_view services)
{
    std::optional<couchbase::service_set> wanted;
    if (!services.empty()) {
        wanted = couchbase::read_services(services);
        if (!wanted)
            return error{couchbase_errc::invalid_argument,
                         "services are kv, query, analytics, search and views"};
    }
    return inside_->call([&] { return inside_->servers->add_node(std::move(wanted)); });
}

result<void> couchbase_cluster::add_service(std::size_t node, std::string_view name)
{
    return inside_->obey("add-service " + std::to_string(node) + " " + std::string{name});
}

result<void> couchbase_cluster::remove_service(std::size_t node, std::string_view name)
{
    return inside_->obey("remove-service " + std::to_string(node) + " " + std::string{name});
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

namespace {

/// A fault of one service, without what it answers.
couchbase_fault fault_of(std::string_view service, std::string_view method, std::string_view path)
{
    couchbase_fault made;
    made.service = service;
    made.method = method;
    made.path_prefix = path;
    made.times = std::numeric_limits<std::int64_t>::max();
    return made;
}

std::string name_of(const couchbase_fault& of)
{
    return of.service + " " + of.method + " " + of.path_prefix;
}

}  // namespace

result<void> couchbase_cluster::answer(std::string_view service, std::string_view method,
                                       std::string_view path, std::vector<couchbase_answer> answers)
{
    couchbase_fault made = fault_of(service, method, path);
    made.answers = std::move(answers);
    if (made.answers.empty())
        return error{couchbase_errc::invalid_argument, "an answer is needed"};
    return set_fault(name_of(made), made);
}

result<void> couchbase_cluster::answer(
    std::string_view service, std::string_view method, std::string_view path,
    std::function<couchbase_answer(const couchbase_request&)> generate)
{
    couchbase_fault made = fault_of(service, method, path);
    made.generate = std::move(generate);
    if (!made.generate)
        return error{couchbase_errc::invalid_argument, "a function is needed"};
    return set_fault(name_of(made), made);
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
