#include "core/mongo/operation/client_bulk.hpp"

#include "api/mongo/bulk_order.hpp"
#include "api/mongo/cursor_end.hpp"
#include "api/mongo/start_operation.hpp"
#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/error.hpp"

#include <memory>
#include <utility>

/// Writes to any collections, by the bulkWrite command, whose results come as a cursor.
namespace holdfast::mongo {
namespace {

using core::mongo::client_writes;
using shell::mongo::answer_facts;
using shell::mongo::command_order;

/// A command about a cursor, for the server that has it.
command_order cursor_order(const shared_order& shared, answer_facts& facts,
                           core::mongo::command&& what)
{
    command_order order = shared.make(std::move(what), facts);
    if (!facts.server.value().empty())
        order.command.only_server = facts.server;
    return order;
}

/// Reads the results of the last command; false if the operation was cancelled or has timed out.
asio::awaitable<bool> read_results(std::shared_ptr<client_impl> client, client_writes* writes,
                                   shared_order shared, answer_facts* facts)
{
    bool waited_for = true;
    for (core::mongo::command* more = writes->more(); more != nullptr; more = writes->more()) {
        command_order order = cursor_order(shared, *facts, std::move(*more));
        order.opens_cursor = true;
        auto outcome = co_await client->run(std::move(order));
        if (!outcome) {
            const error_kind kind = kind_of(outcome.error());
            waited_for = kind != error_kind::cancelled && kind != error_kind::timeout;
        }
        writes->add_batch(std::move(outcome));
    }
    co_return waited_for;
}

template <class Outcome>
asio::awaitable<Outcome> write_all(std::shared_ptr<client_impl> client,
                                   std::unique_ptr<client_writes> writes, shared_order shared)
{
    // A cancelled command is a failed one; Asio would throw out of the next co_await.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    operation_id shared_id;
    answer_facts refused;  // of the last command that was answered, or refused writes
    for (core::mongo::command* next = writes->next(); next != nullptr; next = writes->next()) {
        answer_facts facts;
        facts.operation = shared_id;
        command_order order = shared.make(std::move(*next), facts);
        order.opens_cursor = true;
        auto outcome = co_await client->run(std::move(order));
        shared_id = facts.operation;
        if (refused.refused.empty()) {
            refused.server = facts.server;
            refused.refused = std::move(facts.refused);
        }
        writes->done(std::move(outcome));
        const bool waited_for = co_await read_results(client, writes.get(), shared, &facts);
        core::mongo::command* const last = writes->kill();
        if (last == nullptr)
            continue;
        kill_cursors said;
        said.order = cursor_order(shared, facts, std::move(*last));
        said.facts = std::move(facts);
        const bool waits = waited_for && !said.order.until.expired(client->world->steady_now());
        const auto time_limit = kill_cursors_deadline(*client);
        said.order.until = waits ? core::deadline::sooner(said.order.until, time_limit)
                                 : time_limit;
        if (waits || client->make_blocking)
            co_await say(client->state, std::move(said));
        else
            say_in_background(*client, std::move(said));
    }
    co_await asio::this_coro::throw_if_cancelled(throws);
    auto finished = writes->finish();
    if (!finished)
        finished = with_bulk_facts(std::move(finished).error(), "bulkWrite in admin", "admin",
                                   refused);
    co_return details::give<Outcome>(std::move(finished));
}

}  // namespace

template <class Outcome>
asio::awaitable<Outcome> start_as(const std::shared_ptr<client_impl>& client,
                                  const collection_settings& in,
                                  core::mongo::client_bulk_write_operation&& operation)
{
    ids_of_client ids{*client};
    auto writes = client_writes::make(in, std::move(operation.work), operation.options, ids);
    if (!writes)
        return details::failed<Outcome, client_bulk_write_result>(
            with_bulk_facts(std::move(writes).error(), "bulkWrite in admin", "admin", {}));
    shared_order shared{*client, client->order_for(core::mongo::command{*(*writes)->next()},
                                                   operation.options.session)};
    return write_all<Outcome>(client, *std::move(writes), std::move(shared));
}

namespace details {

template struct starter<core::mongo::client_bulk_write_operation>;

}  // namespace details

}  // namespace holdfast::mongo
