#include "arguments.hpp"
#include "operations.hpp"
#include "results.hpp"

#include <boost/asio/use_awaitable.hpp>

/// Operations of the runner that do something.
namespace holdfast::spec::unified {
namespace {

using boost::asio::use_awaitable;
using namespace std::chrono_literals;
using outcome_later = runtime::awaitable<outcome_of_operation>;

/// How long a case waits for events and threads. The format says 10 s, which is also how long a
/// server keeps a heartbeat open by default: so a little more.
constexpr duration timeout = 15s;

outcome_later fail_point(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const auto by = in->named.share<client_entity>(given.text("client"));
    const bson::view command = given.document("failPoint");
    given.finish();
    const auto name = command.find("configureFailPoint").get<std::string>();
    demand(name.has_value(), "failPoint: it has no name");
    in->lab.remember_fail_point(*name);
    const auto done = co_await by->api.run_command("admin", command, {}, use_awaitable);
    demand(done.has_value(), done ? "" : "failPoint: " + done.error().explain());
    co_return gave_nothing();
}

outcome_later create_entities(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const bson::array_view all = given.array("entities");
    given.finish();
    for (const bson::element& one : all) {
        demand(one.type() == bson::type::document, "createEntities: one is no document");
        co_await make_entity(in, entity_from(one.as_document()));
    }
    co_return gave_nothing();
}

outcome_later wait_for_event(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const auto of = in->named.share<client_entity>(given.text("client"));
    const bson::view event = given.document("event");
    const auto count = given.number("count");
    demand(count.has_value(), "waitForEvent: argument count is missing");
    given.finish();
    const time_point until = in->world->steady_now() + timeout;
    for (;;) {
        const auto seen = of->news->count();
        const std::size_t found = of->events->count(event, in->rules);
        if (static_cast<std::int64_t>(found) >= *count)
            co_return gave_nothing();
        const auto end = co_await of->news->wait(seen, until);
        demand(end == runtime::wait_end::notified, "waitForEvent: " + std::to_string(found) +
                                                       " of " + std::to_string(*count) +
                                                       " came: " + shown(event));
    }
}

outcome_later run_on_thread(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    thread_entity& on = in->named.get<thread_entity>(given.text("thread"));
    const bson::view inner = given.document("operation");
    given.finish();
    demand(!on.closing, "runOnThread: this thread has been waited for already");
    on.waiting.push_back(operation_from(inner));
    on.news.notify();
    co_return gave_nothing();
}

outcome_later wait_for_thread(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const auto on = in->named.share<thread_entity>(given.text("thread"));
    given.finish();
    co_await end_thread(in, on);
    co_return gave_nothing();
}

outcome_later wait(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const auto pause = given.ms("ms");
    demand(pause.has_value(), "wait: argument ms is missing");
    given.finish();
    const time_point until = in->world->steady_now() + *pause;
    co_await runtime::sleep_until(*in->world, until);
    co_return gave_nothing();
}

outcome_later record_topology_description(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const client_entity& of = in->named.get<client_entity>(given.text("client"));
    const std::string_view id = given.text("id");
    given.finish();
    in->named.add(id, std::make_shared<topology_entity>(topology_entity{of.events->topology()}));
    co_return gave_nothing();
}

std::optional<endpoint> primary_of(const mongo::topology_description& topology)
{
    for (const mongo::server_description& one : topology.servers) {
        if (one.type == "RSPrimary")
            return one.address;
    }
    return {};
}

outcome_later wait_for_primary_change(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const auto of = in->named.share<client_entity>(given.text("client"));
    const auto before = primary_of(
        in->named.get<topology_entity>(given.text("priorTopologyDescription")).description);
    const duration limit = given.ms("timeoutMS").value_or(10s);
    given.finish();
    const time_point until = in->world->steady_now() + limit;
    for (;;) {
        const auto now = primary_of(of->events->topology());
        if (now && now != before)
            co_return gave_nothing();
        const time_point next = in->world->steady_now() + 5ms;
        demand(next < until, "waitForPrimaryChange: there is no other primary after that time");
        co_await runtime::sleep_until(*in->world, next);
    }
}

constexpr named_operation runner_operations_table[] = {
    {"failPoint", fail_point},
    {"createEntities", create_entities},
    {"waitForEvent", wait_for_event},
    {"runOnThread", run_on_thread},
    {"waitForThread", wait_for_thread},
    {"wait", wait},
    {"recordTopologyDescription", record_topology_description},
    {"waitForPrimaryChange", wait_for_primary_change},
};

}  // namespace

runtime::awaitable<void> end_thread(context_ptr in, std::shared_ptr<thread_entity> which)
{
    which->closing = true;
    which->news.notify();
    const time_point until = in->world->steady_now() + timeout;
    for (;;) {
        const auto seen = which->news.count();
        if (which->ended)
            break;
        const auto end = co_await which->news.wait(seen, until);
        demand(end == runtime::wait_end::notified,
               "waitForThread: its operations have not ended in time");
    }
    demand(!which->failed, "on the thread: " + which->failed.value_or(""));
}

std::span<const named_operation> runner_operations() noexcept
{
    return runner_operations_table;
}

}  // namespace holdfast::spec::unified
