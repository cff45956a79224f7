#include "pool_live.hpp"

#include "api/mongo/process_facts.hpp"
#include "case_fields.hpp"
#include "core/mongo/uri/uri.hpp"
#include "holdfast/bson/json.hpp"
#include "pool_listener.hpp"
#include "runtime/wait.hpp"
#include "shell/mongo/pool/server_pool.hpp"
#include "unified/running_lab.hpp"

#include <algorithm>

namespace holdfast::spec {

using namespace std::chrono_literals;
using runtime::awaitable;
using shell::mongo::lease;
using shell::mongo::server_pool;
namespace json = boost::json;

namespace {

constexpr duration timeout = 15s;
constexpr duration longest_live_run = 60s;

std::string owned_text(const json::object& operation, std::string_view field)
{
    return std::string{operation.at(field).as_string()};
}

/// Operations that are carried out one after the other, until one fails.
struct live_thread {
    explicit live_thread(runtime::world& in) : news{in} {}

    bool is_done() const { return failed || (todo.empty() && !busy); }

    std::deque<const json::object*> todo;
    runtime::event news;
    bool busy = false;
    bool closing = false;
    std::optional<error> failed = {};
};

/// All that belongs to one case while it runs.
struct live_case {
    live_case(unified::running_lab& on, const pool_options& pool)
        : lab{on}, world{on.servers().world()}, options{pool}
    {
    }

    unified::running_lab& lab;
    std::shared_ptr<runtime::world> world;
    pool_options options;
    std::shared_ptr<pool_listener> received = std::make_shared<pool_listener>(*world);
    std::shared_ptr<shell::mongo::event_hub> hub;
    std::shared_ptr<server_pool> pool;
    std::map<std::string, std::shared_ptr<live_thread>> threads;
    std::multimap<std::string, lease> in_use;  // by label
    std::optional<error> failed;
    std::string wrong;  // what the case itself is at fault for, or the pool
};
using case_ptr = std::shared_ptr<live_case>;

/// As the topology does, which there is none of: who cannot connect clears the pool.
server_pool::opening_handlers handlers_for(const case_ptr& in)
{
    server_pool::opening_handlers heard;
    heard.handshake_done = [](const endpoint&, bson::view) {};
    heard.failed = [weak = std::weak_ptr{in}](const core::mongo::application_error& e) {
        if (const auto alive = weak.lock())
            alive->pool->clear(e.cause, e.service_id, false);
    };
    return heard;
}

void make_pool(const case_ptr& in)
{
    const unified::deployment& servers = in->lab.servers();
    auto uri = core::mongo::parse_uri(servers.direct_uri(servers.nodes().front()));
    demand(uri.has_value(), uri ? "" : uri.error().explain());
    const auto who = api::describe_process(in->options.app_name);
    auto config = shell::mongo::make_connection_config(*in->world, uri->settings, who);
    demand(config.has_value(), config ? "" : config.error().explain());
    shell::mongo::pool_options made;
    made.server = uri->settings.seeds.front();
    made.limits = in->options.settings;
    made.config = std::make_shared<shell::mongo::connection_config>(*std::move(config));
    std::vector<std::shared_ptr<mongo::event_listener>> listeners{in->received};
    in->hub = std::make_shared<shell::mongo::event_hub>(std::move(listeners), nullptr);
    in->pool = server_pool::make(*in->world, std::move(made), in->hub, handlers_for(in));
}

awaitable<void> wait_for_event(case_ptr in, const json::object& operation)
{
    const std::string event = owned_text(operation, "event");
    const auto wanted = operation.at("count").as_int64();
    const json::value* const limit = operation.if_contains("timeout");
    const time_point until = in->world->steady_now() +
                             (limit ? std::chrono::milliseconds{limit->as_int64()} : timeout);
    for (;;) {
        const auto seen = in->received->news.count();
        if (in->received->count(event) >= wanted)
            co_return;
        const auto end = co_await in->received->news.wait(seen, until);
        demand(end == runtime::wait_end::notified,
               "no " + event + " number " + std::to_string(wanted) + " in time");
    }
}

awaitable<std::optional<error>> wait_for_thread(case_ptr in, const json::object& operation)
{
    const auto other = in->threads.at(owned_text(operation, "target"));
    const time_point until = in->world->steady_now() + timeout;
    for (;;) {
        const auto seen = other->news.count();
        if (other->is_done())
            co_return other->failed;
        const auto end = co_await other->news.wait(seen, until);
        demand(end == runtime::wait_end::notified, "a thread has not ended in time");
    }
}

awaitable<std::optional<error>> check_out(case_ptr in, const json::object& operation)
{
    const json::value* const label = operation.if_contains("label");
    const std::string name = label ? std::string{label->as_string()} : "";
    const time_point now = in->world->steady_now();
    if (auto at_once = in->pool->try_check_out(now)) {
        in->in_use.emplace(name, *std::move(at_once));
        co_return std::nullopt;
    }
    const auto limit = in->options.wait_queue_timeout;
    auto got = co_await in->pool->check_out(limit ? now + *limit : runtime::never);
    if (!got)
        co_return std::move(got).error();
    in->in_use.emplace(name, *std::move(got));
    co_return std::nullopt;
}

/// What the pool does at once. False if there is no such operation.
bool perform_now(const case_ptr& in, const json::object& operation)
{
    const std::string name = owned_text(operation, "name");
    if (name == "ready") {
        in->pool->mark_ready();
    } else if (name == "clear") {
        const json::value* const interrupt = operation.if_contains("interruptInUseConnections");
        const error reset{make_error_code(boost::system::errc::connection_reset), "cleared"};
        in->pool->clear(reset, std::nullopt, interrupt && interrupt->as_bool());
    } else if (name == "close") {
        in->pool->close(false);
    } else if (name == "checkIn") {
        const auto which = in->in_use.find(owned_text(operation, "connection"));
        demand(which != in->in_use.end(), "no such connection is in use");
        in->in_use.erase(which);
    } else {
        return false;
    }
    in->hub->deliver();
    return true;
}

awaitable<std::optional<error>> perform(case_ptr in, const json::object& operation)
{
    demand_only(operation, {"name", "thread", "target", "ms", "event", "count", "timeout", "label",
                            "connection", "interruptInUseConnections"});
    if (perform_now(in, operation))
        co_return std::nullopt;
    const std::string name = owned_text(operation, "name");
    std::optional<error> came;
    if (name == "checkOut") {
        came = co_await check_out(in, operation);
    } else if (name == "waitForThread") {
        came = co_await wait_for_thread(in, operation);
    } else if (name == "waitForEvent") {
        co_await wait_for_event(in, operation);
    } else {
        demand(name == "wait", "the runner does not know this operation: " + name);
        const std::chrono::milliseconds pause{operation.at("ms").as_int64()};
        co_await runtime::sleep_until(*in->world, in->world->steady_now() + pause);
    }
    co_return came;
}

awaitable<void> work(case_ptr in, std::shared_ptr<live_thread> on)
{
    while (!on->closing && !on->failed) {
        const auto seen = on->news.count();
        if (on->todo.empty()) {
            co_await on->news.wait(seen);
            continue;
        }
        const json::object& next = *on->todo.front();
        on->todo.pop_front();
        on->busy = true;
        try {
            on->failed = co_await perform(in, next);
        } catch (const std::exception& e) {
            in->wrong = "on a thread: " + std::string{e.what()};
        }
        on->busy = false;
        on->news.notify();
    }
}

awaitable<void> carry_out(case_ptr in, const json::object& file)
{
    if (const json::value* const given = file.if_contains("failPoint")) {
        auto fault = bson::from_json(json::serialize(*given));
        demand(fault.has_value(), "failPoint is no document");
        co_await in->lab.set_fail_point(*std::move(fault));
    }
    make_pool(in);
    for (const json::value& one : file.at("operations").as_array()) {
        const json::object& operation = one.as_object();
        if (const json::value* const thread = operation.if_contains("thread")) {
            const auto on = in->threads.at(std::string{thread->as_string()});
            on->todo.push_back(&operation);
            on->news.notify();
        } else if (operation.at("name") == "start") {
            auto made = std::make_shared<live_thread>(*in->world);
            in->threads.emplace(owned_text(operation, "target"), made);
            in->lab.servers().start(work(in, std::move(made)));
        } else {
            in->failed = co_await perform(in, operation);
            if (in->failed)
                co_return;
        }
    }
}

/// Whatever happened: no thread waits any more, the pool is closed, and the fail point is off.
awaitable<void> tidy_up(case_ptr in)
{
    for (const auto& [name, thread] : in->threads) {
        thread->closing = true;
        thread->news.notify();
    }
    in->in_use.clear();
    if (in->pool) {
        in->pool->close(true);
        in->hub->deliver();
        co_await in->pool->ended();
    }
    co_await in->lab.clean();
}

awaitable<void> attempt(case_ptr in, const json::object& file, pool_story* received)
{
    try {
        co_await carry_out(in, file);
        received->failed = in->failed;
        received->events = in->received->events();
    } catch (const std::exception& e) {
        in->wrong = e.what();
    }
    try {
        co_await tidy_up(in);
    } catch (const std::exception&) {
        in->lab.broken = true;
    }
}

}  // namespace

pool_story run_on_lab(const json::object& file, const pool_options& options, bool simulated)
{
    unified::lab_kind which;
    which.what.topology = unified::topology_kind::single;
    which.simulated = simulated;
    unified::running_lab& lab = unified::lab_for(which);
    const auto in = std::make_shared<live_case>(lab, options);
    pool_story received;
    const bool ended = lab.servers().run(attempt(in, file, &received), longest_live_run);
    lab.broken = lab.broken || !ended;
    if (lab.broken)
        unified::abandon(which);
    demand(ended, "does not end");
    demand(in->wrong.empty(), in->wrong);
    return received;
}

}  // namespace holdfast::spec
