#include "shell/couchbase/dispatch/kv_bucket.hpp"

#include "shell/couchbase/config/notification.hpp"
#include "shell/couchbase/dispatch/kv_cluster.hpp"

#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::bootstrap_problem;
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
    announce();
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
    announce();
}

void kv_bucket::announce()
{
    changed_.notify();
    cluster_.changed().notify();
}

void kv_bucket::reseed(const std::vector<endpoint>& seeds, bool has_moved)
{
    {
        const std::scoped_lock lock{mutex_};
        if (!open_ || closed_)
            return;
        seeds_ = seeds;
        network_.reset();
        starts_over_ = starts_over_ || has_moved;
        for (const endpoint& one : seeds)
            add_links(one);
    }
    if (has_moved)
        configs_.start_over();
    announce();
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
    announce();
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
        if (self->name_.empty())
            self->look_elsewhere();
        self->announce();
        self->want_config();
    };
    made.notified = [weak](const endpoint& server, const core::couchbase::frame& what) {
        if (const auto self = weak.lock())
            self->notified(server, what);
    };
    made.known_config = [weak]() -> std::optional<core::couchbase::config_version> {
        const auto self = weak.lock();
        const auto known = self ? self->configs_.known_revision() : std::nullopt;
        if (!known)
            return std::nullopt;
        return core::couchbase::config_version{*known->epoch, known->rev};
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
        auto lane = std::make_shared<kv_link>(cluster_.world(), cluster_.connections(),
                                              cluster_.next_link_number(), server, name_,
                                              cluster_.breaker(), hooks());
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
    if (name_.empty())
        keep_only(server);
    announce();
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
    announce();
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
    announce();
    return true;
}

void kv_bucket::vbucket_refused(std::string_view body, const endpoint& by)
{
    if (body.empty() || !offer(body, by))
        want_config();
}

}  // namespace holdfast::shell::couchbase
