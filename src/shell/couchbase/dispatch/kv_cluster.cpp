#include "shell/couchbase/dispatch/kv_cluster.hpp"

#include "core/couchbase/config/network.hpp"
#include "runtime/wait.hpp"
#include "shell/couchbase/config/find_seeds.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::shell::couchbase {

namespace {

using namespace std::chrono_literals;

constexpr duration look_every = 1s;
constexpr duration unreachable_after = 5s;

}  // namespace

kv_cluster::kv_cluster(std::shared_ptr<runtime::world> in, kv_cluster_options options)
    : world_{std::move(in)},
      options_{std::move(options)},
      services_{*world_, options_.settings, options_.connections},
      changed_{*world_},
      tasks_{*world_}
{
}

kv_cluster::~kv_cluster()
{
    close();
}

void kv_cluster::start()
{
    if (closed_ || started_.exchange(true))
        return;
    (void)bucket("");
    tasks_.start(open());
}

runtime::awaitable<void> kv_cluster::open()
{
    auto found = co_await find_seeds(*world_, options_.settings);
    if (found.srv_problem) {
        cluster_event event;
        event.what = cluster_event::kind::srv_failed;
        event.detail = found.srv_problem->message();
        report(event);
    }
    seeds_found(std::move(found.seeds));
    if (options_.settings.srv_name)
        tasks_.start(watch_seeds());
}

/// A cluster whose name is one of SRV records may come back at other addresses.
runtime::awaitable<void> kv_cluster::watch_seeds()
{
    time_point reached = world_->steady_now();
    for (;;) {
        const auto end = co_await runtime::sleep_until(*world_, world_->steady_now() + look_every);
        if (end == runtime::wait_end::cancelled || closed_)
            co_return;
        const time_point now = world_->steady_now();
        const reach seen = look_at_links(now);
        if (seen.some_answer)
            reached = now;
        // A connection on which nothing is asked would look well for ever.
        if (seen.some_are_silent) {
            for (const auto& one : buckets())
                one->want_config();
        }
        if (now - reached < unreachable_after)
            continue;
        auto found = co_await find_seeds(*world_, options_.settings);
        if (closed_)
            co_return;
        if (!found.srv_problem)
            seeds_moved(std::move(found.seeds));
        reached = world_->steady_now();  // what was found has its time, too
    }
}

kv_cluster::reach kv_cluster::look_at_links(time_point now) const
{
    reach seen;
    for (const auto& bucket : buckets()) {
        for (const auto& link : bucket->links()) {
            const auto open = link->current();
            if (!open)
                continue;
            const bool silent = is_silent(*open, now, silence);
            seen.some_are_silent = seen.some_are_silent || silent;
            seen.some_answer = seen.some_answer || !silent;
        }
    }
    return seen;
}

void kv_cluster::seeds_moved(std::vector<endpoint> seeds)
{
    std::ranges::sort(seeds);
    bool has_moved = false;
    {
        const std::scoped_lock lock{mutex_};
        auto before = seeds_.value_or(std::vector<endpoint>{});
        std::ranges::sort(before);
        has_moved = seeds != before;
        seeds_ = seeds;
    }
    for (const auto& one : buckets())
        one->reseed(seeds, has_moved);
}

void kv_cluster::seeds_found(std::vector<endpoint> seeds)
{
    {
        const std::scoped_lock lock{mutex_};
        seeds_ = seeds;
    }
    for (const auto& one : buckets())
        one->open(seeds);
}

std::shared_ptr<kv_bucket> kv_cluster::bucket(std::string_view name)
{
    std::shared_ptr<kv_bucket> made;
    std::optional<std::vector<endpoint>> seeds;
    {
        const std::scoped_lock lock{mutex_};
        if (const auto found = buckets_.find(name); found != buckets_.end())
            return found->second;
        made = std::make_shared<kv_bucket>(*this, std::string{name});
        buckets_.emplace(name, made);
        seeds = seeds_;
    }
    if (seeds && !closed_)
        made->open(*seeds);
    return made;
}

std::vector<std::shared_ptr<kv_bucket>> kv_cluster::buckets() const
{
    std::vector<std::shared_ptr<kv_bucket>> all;
    const std::scoped_lock lock{mutex_};
    for (const auto& [name, one] : buckets_)
        all.push_back(one);
    return all;
}

void kv_cluster::close()
{
    if (closed_.exchange(true))
        return;
    for (const auto& one : buckets())
        one->close();
    services_.close();
    changed_.notify();
    tasks_.stop();
}

runtime::awaitable<void> kv_cluster::ended()
{
    co_await services_.ended();
    co_await tasks_.ended();
}

void kv_cluster::replace_login(login with)
{
    const bool over_tls = with.tls != nullptr;
    options_.connections->replace_login(std::move(with));
    if (over_tls)  // a certificate may be what it logs in with; all else is in each request
        services_.login_replaced();
    for (const auto& one : buckets()) {
        for (const auto& link : one->links())
            link->retry_now();
    }
}

void kv_cluster::config_taken(const core::couchbase::cluster_config_ptr& config,
                              const std::string& network)
{
    services_.config_taken(config, network);
    std::vector<endpoint> nodes;
    for (const core::couchbase::cluster_node& one : config->nodes) {
        if (auto at = core::couchbase::address_of(one, network,
                                                  core::couchbase::service_type::key_value,
                                                  options_.settings.tls.enabled))
            nodes.push_back(*std::move(at));
    }
    for (const auto& one : buckets())
        one->suggest(nodes);
}

}  // namespace holdfast::shell::couchbase
