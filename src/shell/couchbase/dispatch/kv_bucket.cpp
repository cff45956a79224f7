#include "shell/couchbase/dispatch/kv_bucket.hpp"

#include "core/couchbase/route/vbucket.hpp"
#include "core/couchbase/wire/big_endian.hpp"
#include "core/uri/host.hpp"
#include "shell/couchbase/config/notification.hpp"
#include "shell/couchbase/dispatch/kv_cluster.hpp"
#include "shell/planted.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::bootstrap_problem;
using core::couchbase::cluster_config_ptr;
using core::couchbase::kv_status;
using core::couchbase::offer_outcome;

namespace {

bool is_login_step(std::optional<core::couchbase::kv_opcode> step)
{
    using enum core::couchbase::kv_opcode;
    return step == sasl_auth || step == sasl_step;
}

}  // namespace

kv_bucket::kv_bucket(kv_cluster& in, std::string name)
    : cluster_{in},
      name_{std::move(name)},
      first_tracker_{in.next_tracker()},
      configs_{name_},
      changed_{in.world()},
      poll_wanted_{in.world()}
{
}

void kv_bucket::open(const std::vector<endpoint>& seeds)
{
    {
        const std::scoped_lock lock{mutex_};
        if (open_ || closed_)
            return;
        open_ = true;
        seeds_ = seeds;
        for (const endpoint& one : seeds)
            add_links(one);
    }
    cluster_.tasks().start(poll(shared_from_this()));
    changed_.notify();
}

void kv_bucket::suggest(const std::vector<endpoint>& nodes)
{
    {
        const std::scoped_lock lock{mutex_};
        if (!open_ || closed_ || routes_.config)
            return;
        for (const endpoint& one : nodes)
            add_links(one);
    }
    changed_.notify();
}

void kv_bucket::close()
{
    std::map<endpoint, node_links> all;
    {
        const std::scoped_lock lock{mutex_};
        closed_ = true;
        all.swap(links_);
        routes_ = {};
    }
    for (const auto& [server, of] : all) {
        for (const auto& lane : of.lanes)
            lane->retire(true);
    }
    changed_.notify();
}

std::vector<std::shared_ptr<kv_link>> kv_bucket::links() const
{
    std::vector<std::shared_ptr<kv_link>> all;
    const std::scoped_lock lock{mutex_};
    for (const auto& [server, of] : links_)
        all.insert(all.end(), of.lanes.begin(), of.lanes.end());
    return all;
}

link_hooks kv_bucket::hooks()
{
    link_hooks made;
    const auto weak = weak_from_this();
    made.opened = [weak](const endpoint& server, established& what) {
        if (const auto self = weak.lock())
            self->link_opened(server, what);
    };
    made.failed = [weak](const endpoint& server, const establish_failure& why) {
        if (const auto self = weak.lock())
            self->link_failed(server, why);
    };
    made.lost = [weak](const endpoint& server, const error& why) {
        const auto self = weak.lock();
        if (!self)
            return;
        self->cluster_.report(
            {cluster_event::kind::disconnected, self->name_, server, why.message()});
        self->changed_.notify();
        self->want_config();
    };
    made.notified = [weak](const endpoint& server, const core::couchbase::frame& what) {
        if (const auto self = weak.lock())
            self->notified(server, what);
    };
    made.known_config = [weak]() -> std::optional<core::couchbase::config_version> {
        const auto self = weak.lock();
        const auto known = self ? self->configs_.current() : nullptr;
        if (!known || !known->revision.epoch)
            return std::nullopt;
        return core::couchbase::config_version{*known->revision.epoch, known->revision.rev};
    };
    return made;
}

/// With the mutex held. Those that are there already stay.
kv_bucket::node_links kv_bucket::add_links(const endpoint& server)
{
    const auto [at, is_new] = links_.try_emplace(server);
    if (!is_new)
        return at->second;
    const auto tracker = trackers_.try_emplace(server, cluster_.next_tracker()).first->second;
    cluster_.with_facts([&](core::couchbase::health& facts) { facts.track(tracker); });
    const std::uint32_t lanes = name_.empty() ? 1 : cluster_.settings().kv.connections;
    for (std::uint32_t n = 0; n != lanes; ++n) {
        auto lane = std::make_shared<kv_link>(cluster_.world(), cluster_.connections(), server,
                                              name_, cluster_.breaker(), hooks());
        at->second.lanes.push_back(lane);
        cluster_.tasks().start(kv_link::run(std::move(lane)));
    }
    return at->second;
}

void kv_bucket::link_opened(const endpoint& server, established& made)
{
    {
        const std::scoped_lock lock{mutex_};
        if (const auto id = trackers_.find(server); id != trackers_.end())
            cluster_.with_facts([&](core::couchbase::health& facts) {
                facts.tls_passed(id->second);
                facts.sasl_answered(id->second, kv_status::success);
                if (!name_.empty())
                    facts.select_bucket_answered(name_, kv_status::success);
            });
    }
    cluster_.report({cluster_event::kind::connected, name_, server, {}});
    if (!made.config.empty())
        offer(made.config, server);
    changed_.notify();
}

void kv_bucket::link_failed(const endpoint& server, const establish_failure& why)
{
    {
        const std::scoped_lock lock{mutex_};
        const auto id = trackers_.find(server);
        if (id != trackers_.end())
            cluster_.with_facts([&](core::couchbase::health& facts) {
                if (why.by_tls)
                    facts.tls_failed(id->second, why.why.message());
                if (!why.problem)
                    return;
                facts.tls_passed(id->second);
                switch (*why.problem) {
                case bootstrap_problem::authentication_failed:
                case bootstrap_problem::untrusted_server:
                case bootstrap_problem::no_common_mechanism:
                case bootstrap_problem::invalid_argument:
                case bootstrap_problem::crypto_unavailable:
                    facts.sasl_answered(id->second, kv_status::auth_error);
                    break;
                case bootstrap_problem::bucket_no_access:
                case bootstrap_problem::bucket_not_found:
                    facts.sasl_answered(id->second, kv_status::success);
                    facts.select_bucket_answered(name_, why.status.value_or(kv_status::no_access));
                    break;
                case bootstrap_problem::refused:
                    if (is_login_step(why.step) && why.status)
                        facts.sasl_answered(id->second, *why.status);
                    break;
                case bootstrap_problem::protocol_violation:
                    break;
                }
            });
    }
    cluster_.report({cluster_event::kind::connect_failed, name_, server, why.why.message()});
    changed_.notify();
}

void kv_bucket::notified(const endpoint& server, const core::couchbase::frame& what)
{
    const auto news = parse_notification(what);
    if (!news || news->bucket != name_)
        return;
    if (!news->text.empty())
        offer(news->text, server);
    else if (configs_.is_newer(news->revision))
        want_config();
}

bool kv_bucket::offer(std::string_view text, const endpoint& from)
{
    const offer_outcome outcome = configs_.offer(text, from);
    if (outcome.is == offer_outcome::status::refused)
        cluster_.report({cluster_event::kind::config_refused, name_, from,
                         outcome.problem ? outcome.problem->message() : ""});
    if (outcome.is != offer_outcome::status::taken)
        return false;
    apply(outcome.config);
    cluster_.report({cluster_event::kind::config_taken, name_, from,
                     std::to_string(outcome.config->revision.rev)});
    changed_.notify();
    return true;
}

void kv_bucket::vbucket_refused(std::string_view body, const endpoint& by)
{
    if (body.empty() || !offer(body, by))
        want_config();
}

/// The links of the nodes in `routes`; with the mutex held. Without a bucket one of them is enough.
std::map<endpoint, kv_bucket::node_links> kv_bucket::wanted_links(route_table& routes)
{
    std::map<endpoint, node_links> wanted;
    if (name_.empty()) {
        for (const auto& [server, of] : links_) {
            if (of.lanes.front()->where() == kv_link::stage::connected && wanted.empty())
                wanted.emplace(server, of);
        }
        return wanted.empty() ? links_ : wanted;
    }
    routes.nodes.resize(routes.config->nodes.size());
    for (std::size_t n = 0; n != routes.nodes.size(); ++n) {
        const core::couchbase::cluster_node& node = routes.config->nodes[n];
        const auto at = core::couchbase::address_of(node, *network_,
                                                    core::couchbase::service_type::key_value,
                                                    cluster_.settings().tls.enabled);
        if (!at || !node.has_bucket)
            continue;
        routes.nodes[n] = add_links(*at);
        wanted.emplace(*at, routes.nodes[n]);
    }
    return wanted;
}

/// The requests at nodes that stay, for vbuckets that other nodes have by `next`; with the mutex
/// held.
std::vector<late_requests> kv_bucket::left_behind(const route_table& next) const
{
    if (!routes_.config || !next.config->bucket)
        return {};
    const auto& before = routes_.config->bucket->map;
    const auto& after = next.config->bucket->map;
    if (before.size != after.size)
        return {};
    std::vector<std::vector<bool>> gone(routes_.nodes.size());  // vbuckets, by node
    for (std::uint32_t n = 0; n != before.size; ++n) {
        const auto vbucket = static_cast<std::uint16_t>(n);
        const auto was = core::couchbase::node_of(before, vbucket);
        const auto is = core::couchbase::node_of(after, vbucket);
        if (!was || !is || routes_.nodes[*was].lanes == next.nodes[*is].lanes)
            continue;
        gone[*was].resize(before.size);
        gone[*was][n] = true;
    }
    std::vector<late_requests> found;
    for (std::size_t n = 0; n != gone.size(); ++n) {
        if (gone[n].empty())
            continue;
        for (const auto& lane : routes_.nodes[n].lanes) {
            auto late = lane->waiting_for(gone[n]);
            std::ranges::move(late, std::back_inserter(found));
        }
    }
    return found;
}

void kv_bucket::apply(const cluster_config_ptr& config)
{
    std::vector<std::shared_ptr<kv_link>> retired;
    std::vector<late_requests> late;
    std::string network;
    {
        const std::scoped_lock lock{mutex_};
        const bool is_newer = !routes_.config || config->revision > routes_.config->revision ||
                              planted.takes_old_configurations;
        if (closed_ || !is_newer)
            return;
        if (!network_) {
            core::couchbase::seed_address seed;
            if (!seeds_.empty()) {
                const auto parts = core::uri::split_host(seeds_.front().value());
                seed = {parts.host, parts.port.value_or(0)};
            }
            network_ = core::couchbase::choose_network(*config, cluster_.settings().network, seed);
        }
        network = *network_;
        const bool recreated = routes_.config &&
                               changes_between(*routes_.config, *config).bucket_recreated;
        if (recreated)
            ids_.bucket_recreated();
        if (config->bucket && config->bucket->manifest_uid)
            ids_.manifest_seen(*config->bucket->manifest_uid);
        route_table next;
        next.config = config;
        const auto wanted = wanted_links(next);
        for (const auto& [server, of] : links_) {
            if (wanted.contains(server))
                continue;
            retired.insert(retired.end(), of.lanes.begin(), of.lanes.end());
            if (const auto id = trackers_.find(server); id != trackers_.end()) {
                cluster_.with_facts(
                    [&](core::couchbase::health& facts) { facts.forget(id->second); });
                trackers_.erase(id);
            }
        }
        late = left_behind(next);
        links_ = wanted;
        routes_ = std::move(next);
    }
    for (const auto& one : retired)
        one->retire(false);
    if (!late.empty())
        cluster_.tasks().start(give_up_late(cluster_.world(), std::move(late)));
    cluster_.config_taken(*config, network);
}

}  // namespace holdfast::shell::couchbase
