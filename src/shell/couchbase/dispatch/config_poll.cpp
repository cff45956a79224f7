// How a bucket asks for its configuration.
#include "shell/couchbase/dispatch/kv_bucket.hpp"
#include "shell/couchbase/dispatch/kv_cluster.hpp"

#include <algorithm>

namespace holdfast::shell::couchbase {

using core::couchbase::kv_feature;

bool kv_bucket::is_pushed() const
{
    const std::scoped_lock lock{mutex_};
    for (const auto& [server, of] : links_) {
        for (const auto& lane : of.lanes) {
            const auto open = lane->current();
            if (open && (open->features().has(kv_feature::clustermap_change_notification) ||
                         open->features().has(kv_feature::clustermap_change_notification_brief)))
                return true;
        }
    }
    return false;
}

/// Whether there is reason to suppose that the configuration has changed.
bool kv_bucket::misses_a_node(time_point now) const
{
    return std::ranges::any_of(links(), [&](const auto& link) {
        const auto open = link->current();
        return !open || is_silent(*open, now, silence);
    });
}

/// One of a node that answers, if possible; the next one in turn.
std::shared_ptr<kv_connection> kv_bucket::connection_to_ask(time_point now)
{
    const auto all = links();
    std::shared_ptr<kv_connection> silent;
    for (std::size_t tries = 0; tries != all.size(); ++tries) {
        auto open = all[++turn_ % all.size()]->current();
        if (open && !is_silent(*open, now, silence))
            return open;
        if (open && !silent)
            silent = std::move(open);
    }
    return silent;
}

/// Asks for the configuration when it is wanted; and if no node announces new ones now and then,
/// and sooner while a node is missing.
runtime::awaitable<void> kv_bucket::poll(std::shared_ptr<kv_bucket> self)
{
    runtime::world& world = self->cluster_.world();
    const auto& settings = self->cluster_.settings().config_poll;
    std::uint64_t seen = self->poll_wanted_.count();
    time_point last = world.steady_now();
    duration reply_within = first_reply;
    for (;;) {
        time_point look = world.steady_now() + settings.interval;
        if (!self->is_pushed())
            look = std::min(last + settings.interval, world.steady_now() + silence);
        const auto end = co_await self->poll_wanted_.wait(seen, look);
        if (end == runtime::wait_end::cancelled || self->cluster_.is_closed())
            co_return;
        // What is wanted from now on, also during the pause, is asked for after it.
        seen = self->poll_wanted_.count();
        const time_point now = world.steady_now();
        if (end == runtime::wait_end::timed_out) {
            if (self->is_pushed())
                continue;
            if (now < last + settings.interval && !self->misses_a_node(now))
                continue;
        }
        last = now;
        const bool is_answered = co_await self->poll_once(reply_within);
        reply_within = is_answered ? first_reply : std::min(reply_within * 2, last_reply);
        if (!is_answered)
            self->want_config();
        const auto pause = co_await runtime::sleep_until(world,
                                                         world.steady_now() + settings.floor);
        if (pause == runtime::wait_end::cancelled)
            co_return;
    }
}

/// False if the node has not answered in time.
runtime::awaitable<bool> kv_bucket::poll_once(duration reply_within)
{
    const time_point now = cluster_.world().steady_now();
    const auto over = connection_to_ask(now);
    if (!over)
        co_return true;
    core::couchbase::request_frame question;
    question.opcode = core::couchbase::kv_opcode::get_cluster_config;
    core::couchbase::kv_extras version;
    const auto known = configs_.known_revision();
    if (known && over->features().has(kv_feature::config_with_known_version))
        version.add(static_cast<std::uint64_t>(*known->epoch))
            .add(static_cast<std::uint64_t>(known->rev));
    question.extras = version.bytes();
    auto answer = co_await ask(over, question, now + reply_within);
    if (answer && answer->frame().status() == core::couchbase::kv_status::success)
        offer(core::couchbase::as_text(answer->frame().value()), over->server());
    co_return answer || over->is_closed();
}

}  // namespace holdfast::shell::couchbase
