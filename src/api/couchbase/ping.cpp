// Asks every node whether it answers.
#include "api/couchbase/cluster_impl.hpp"
#include "api/couchbase/start_admin.hpp"
#include "core/couchbase/retry/strategy.hpp"
#include "holdfast/couchbase/diagnostics.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <mutex>
#include <span>
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
    std::vector<endpoint_ping> entries;  // of connections for documents
    std::vector<bool> has_left;  // the cluster, meanwhile
    ping_report services;
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

const char* ping_path(service_type service)
{
    switch (service) {
    case service_type::query:
    case service_type::analytics:
        return "/admin/ping";
    case service_type::search:
        return "/api/ping";
    case service_type::key_value:
    case service_type::views:
    case service_type::management:
        break;
    }
    return "/";
}

core::couchbase::classification not_well(int status, std::string_view)
{
    core::couchbase::classification meant;
    meant.code = errc::service_not_available;
    meant.message = "it answers with the HTTP status " + std::to_string(status);
    return meant;
}

/// The service of one node; `place` is that of its entry.
runtime::awaitable<void> ping_service(std::shared_ptr<cluster_impl> in,
                                      std::shared_ptr<ping_run> run, service_type which,
                                      std::size_t place, endpoint server, time_point until)
{
    static const retry_strategy_ptr once =
        std::make_shared<core::couchbase::strict_fail_fast_strategy>();
    core::couchbase::service_request question;
    question.service = which;
    question.path = ping_path(which);
    shell::couchbase::service_call call;
    call.target.service = which;
    call.target.operation = "ping";
    call.target.idempotent = true;
    call.target.only = std::move(server);
    call.began = in->world->steady_now();
    call.until = core::deadline{until};
    call.strategy = once;
    call.operation = std::make_unique<whole_operation>(std::move(question), not_well);
    const time_point began = call.began;
    auto answer = co_await shell::couchbase::execute_http(in->state, std::move(call));
    {
        const std::scoped_lock lock{run->mutex};
        endpoint_ping& entry = run->services.of(which)[place];
        if (answer) {
            entry.state = ping_state::ok;
            entry.latency = in->world->steady_now() - began;
        } else {
            const error_code why = answer.error().code();
            const bool is_late = why == errc::unambiguous_timeout || why == errc::ambiguous_timeout;
            entry.state = is_late ? ping_state::timeout : ping_state::error;
            entry.error = answer.error().message();
        }
        --run->left;
    }
    run->one_ended.notify();
}

bool is_wanted(std::span<const service_type> services, service_type which)
{
    return services.empty() || std::ranges::find(services, which) != services.end();
}

/// An entry for each node that has one of the services; gives what to ask.
std::vector<runtime::awaitable<void>> ask_services(const std::shared_ptr<cluster_impl>& in,
                                                   const std::shared_ptr<ping_run>& run,
                                                   std::span<const service_type> wanted,
                                                   time_point until)
{
    std::vector<runtime::awaitable<void>> asked;
    for (const auto& known : in->nodes().services().look()) {
        if (!is_wanted(wanted, known.service))
            continue;
        auto& list = run->services.of(known.service);
        endpoint_ping& entry = list.emplace_back();
        entry.id = std::string{"0x"} + std::to_string(asked.size());
        entry.server = known.server;
        asked.push_back(ping_service(in, run, known.service, list.size() - 1, known.server, until));
    }
    return asked;
}

/// Of those that were asked, without those that have left the cluster.
ping_report report_of(const cluster_impl& in, const ping_run& run)
{
    ping_report report = run.services;
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

runtime::awaitable<result<ping_report>> cluster_impl::ping(std::chrono::milliseconds timeout,
                                                           std::vector<service_type> services)
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
        if (!is_wanted(services, service_type::key_value))
            continue;
        for (auto& link : bucket->links())
            asked.push_back({bucket, std::move(link), asked.size()});
    }
    run->entries.resize(asked.size());
    run->has_left.resize(asked.size());
    auto all = ask_services(self, run, services, until);
    for (pinged_link& one : asked)
        all.push_back(ping_one(self, run, std::move(one), until));
    run->left = all.size();
    for (auto& one : all)
        boost::asio::co_spawn(world->executor(), std::move(one), boost::asio::detached);
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
