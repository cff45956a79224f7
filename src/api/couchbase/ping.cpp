// Asks every node whether it answers.
#include "api/couchbase/cluster_impl.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::couchbase {

namespace {

using runtime::wait_end;
using shell::couchbase::kv_bucket;
using shell::couchbase::kv_connection;
using shell::couchbase::kv_link;

/// What the pings of one call share.
struct ping_run {
    explicit ping_run(runtime::world& in) : one_ended{in} {}

    std::mutex mutex;
    std::size_t left = 0;
    std::vector<endpoint_ping> entries;
    std::vector<bool> has_left;  // the cluster, meanwhile
    runtime::event one_ended;
};

struct pinged_link {
    std::shared_ptr<kv_bucket> bucket;
    std::shared_ptr<kv_link> link;
    std::size_t place = 0;  // of its entry
};

/// Those of its configuration, or all seeds have failed.
bool knows_its_nodes(const kv_bucket& bucket)
{
    const auto links = bucket.links();
    const auto are_in = [&](kv_link::stage stage) {
        return std::ranges::any_of(links, [&](const auto& one) { return one->where() == stage; });
    };
    const bool is_open = bucket.config() != nullptr || are_in(kv_link::stage::connected);
    return !links.empty() && (is_open || !are_in(kv_link::stage::connecting));
}

/// False if it was cancelled.
runtime::awaitable<bool> wait_for_nodes(std::shared_ptr<cluster_impl> in,
                                        std::shared_ptr<kv_bucket> bucket, time_point until)
{
    wait_end end = wait_end::notified;
    while (end == wait_end::notified) {
        const std::uint64_t seen = bucket->changed().count();
        if (knows_its_nodes(*bucket) || in->nodes().is_closed())
            break;
        end = co_await bucket->changed().wait(seen, until);
    }
    co_return end != wait_end::cancelled;
}

/// The outcome for a link without a connection.
endpoint_ping not_connected(const kv_link::snapshot& seen)
{
    endpoint_ping entry;
    const bool is_late = seen.is == kv_link::stage::connecting;
    entry.state = is_late ? ping_state::timeout : ping_state::error;
    entry.error = seen.last_failure ? seen.last_failure->message() : "not connected in time";
    return entry;
}

runtime::awaitable<endpoint_ping> ask(std::shared_ptr<cluster_impl> in,
                                      std::shared_ptr<kv_connection> over, time_point until)
{
    endpoint_ping entry;
    entry.local = over->facts()->local;
    const time_point began = in->world->steady_now();
    core::couchbase::request_frame question;
    question.opcode = core::couchbase::kv_opcode::noop;
    auto answer = co_await shell::couchbase::ask(std::move(over), question, until);
    if (answer) {
        entry.state = ping_state::ok;
        entry.latency = in->world->steady_now() - began;
    } else {
        const bool is_late = answer.error().code() == errc::unambiguous_timeout;
        entry.state = is_late ? ping_state::timeout : ping_state::error;
        entry.error = answer.error().message();
    }
    co_return std::move(entry);
}

/// A connection that is being opened is waited for.
runtime::awaitable<void> ping_one(std::shared_ptr<cluster_impl> in, std::shared_ptr<ping_run> run,
                                  pinged_link what, time_point until)
{
    wait_end end = wait_end::notified;
    kv_link::snapshot seen_last = what.link->look();
    while (end == wait_end::notified) {
        const std::uint64_t seen = what.bucket->changed().count();
        seen_last = what.link->look();
        if (seen_last.connection || seen_last.is != kv_link::stage::connecting)
            break;
        end = co_await what.bucket->changed().wait(seen, until);
    }
    endpoint_ping entry;
    if (seen_last.connection) {
        entry = co_await ask(in, seen_last.connection, until);
    } else {
        entry = not_connected(seen_last);
    }
    entry.id = id_of(*what.link);
    entry.server = what.link->server();
    entry.bucket = what.bucket->name();
    {
        const std::scoped_lock lock{run->mutex};
        run->entries[what.place] = std::move(entry);
        run->has_left[what.place] = seen_last.is == kv_link::stage::retired;
        --run->left;
    }
    run->one_ended.notify();
}

/// Of those that were asked, without those that have left the cluster.
ping_report report_of(const cluster_impl& in, const ping_run& run)
{
    ping_report report;
    report.id = in.next_report_id();
    for (std::size_t n = 0; n != run.entries.size(); ++n) {
        if (!run.has_left[n])
            report.key_value.push_back(run.entries[n]);
    }
    for (const auto& bucket : in.nodes().buckets()) {
        if (const auto config = bucket->config())
            report.config_revision = std::max(report.config_revision.value_or(0),
                                              config->revision.rev);
    }
    return report;
}

}  // namespace

runtime::awaitable<result<ping_report>> cluster_impl::ping(std::chrono::milliseconds timeout)
{
    const auto self = shared_from_this();
    const time_point until = world->steady_now() + timeout;
    const error cancelled{errc::request_canceled, "cancelled while nodes were asked"};
    nodes().start();
    const auto run = std::make_shared<ping_run>(*world);
    std::vector<pinged_link> asked;
    for (const auto& bucket : nodes().buckets()) {
        const bool goes_on = co_await wait_for_nodes(self, bucket, until);
        if (!goes_on)
            co_return cancelled;
        for (auto& link : bucket->links())
            asked.push_back({bucket, std::move(link), asked.size()});
    }
    run->left = asked.size();
    run->entries.resize(asked.size());
    run->has_left.resize(asked.size());
    for (pinged_link& one : asked)
        boost::asio::co_spawn(world->executor(), ping_one(self, run, std::move(one), until),
                              boost::asio::detached);
    for (;;) {
        const std::uint64_t seen = run->one_ended.count();
        {
            const std::scoped_lock lock{run->mutex};
            if (run->left == 0)
                co_return report_of(*this, *run);
        }
        const wait_end end = co_await run->one_ended.wait(seen);
        if (end == wait_end::cancelled)
            co_return cancelled;
    }
}

}  // namespace holdfast::couchbase
