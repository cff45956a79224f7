#include "api/mongo/bulk_order.hpp"
#include "api/mongo/start_operation.hpp"
#include "core/mongo/operation/bulk.hpp"
#include "holdfast/mongo/collection.hpp"

#include <concepts>
#include <memory>
#include <string>
#include <utility>

/// Many writes to one collection: as many commands as it takes.
namespace holdfast::mongo {
namespace {

using core::mongo::collection_writes;
using shell::mongo::command_order;

template <class T>
using finisher = result<T> (collection_writes::*)();

template <class Outcome, class T>
asio::awaitable<Outcome> write_all(std::shared_ptr<client_impl> client,
                                   std::unique_ptr<collection_writes> writes, shared_order shared,
                                   finisher<T> finish, std::string operation, std::string space)
{
    // A cancelled command is a failed one; Asio would throw out of the next co_await.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    shell::mongo::answer_facts facts;
    for (core::mongo::command* next = writes->next(); next != nullptr; next = writes->next()) {
        command_order order = shared.make(std::move(*next), facts);
        auto outcome = co_await client->run(std::move(order));
        writes->done(std::move(outcome));
    }
    co_await asio::this_coro::throw_if_cancelled(throws);
    auto finished = (*writes.*finish)();
    if (!finished)
        finished = with_bulk_facts(std::move(finished).error(), std::move(operation),
                                   std::move(space), facts);
    co_return details::give<Outcome>(std::move(finished));
}

template <class Outcome, class T>
asio::awaitable<Outcome> start(const std::shared_ptr<client_impl>& client,
                               const collection_settings& settings, details::write_list list,
                               const bulk_write_options& options, finisher<T> finish)
{
    ids_of_client ids{*client};
    const bool inserts = std::same_as<T, insert_many_result>;
    std::string space = settings.full_name();
    std::string operation = (inserts ? "insert into " : "bulk write to ") + space;
    auto writes = collection_writes::make(settings, std::move(list), options, ids);
    if (!writes)
        return details::failed<Outcome, T>(
            with_bulk_facts(std::move(writes).error(), std::move(operation), std::move(space), {}));
    shared_order shared{
        *client, client->order_for(core::mongo::command{*(*writes)->next()}, options.session)};
    return write_all<Outcome, T>(client, *std::move(writes), std::move(shared), finish,
                                 std::move(operation), std::move(space));
}

}  // namespace

template <class Outcome>
asio::awaitable<Outcome> start_as(const std::shared_ptr<client_impl>& client,
                                  const collection_settings& in,
                                  core::mongo::insert_many_operation&& operation)
{
    const insert_many_options& options = operation.options;
    const bulk_write_options all{.session = options.session,
                                 .timeout = options.timeout,
                                 .write_concern = options.write_concern,
                                 .ordered = options.ordered,
                                 .bypass_document_validation = options.bypass_document_validation,
                                 .comment = options.comment,
                                 .raw_data = options.raw_data};
    return start<Outcome, insert_many_result>(client, in, std::move(operation.list), all,
                                              &collection_writes::finish_inserts);
}

template <class Outcome>
asio::awaitable<Outcome> start_as(const std::shared_ptr<client_impl>& client,
                                  const collection_settings& in,
                                  core::mongo::bulk_write_operation&& operation)
{
    return start<Outcome, bulk_write_result>(client, in, std::move(operation.work).take(),
                                             operation.options, &collection_writes::finish);
}

namespace details {

template struct starter<core::mongo::insert_many_operation>;
template struct starter<core::mongo::bulk_write_operation>;

}  // namespace details

}  // namespace holdfast::mongo
