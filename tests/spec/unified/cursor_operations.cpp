#include "api_call.hpp"

#include <utility>

namespace holdfast::spec::unified {
namespace {

/// The server's cursor is made now, though ours would wait until it is read.
outcome_later open(context_ptr in, mongo::cursor from, const operation& what)
{
    auto made = std::make_shared<cursor_entity>(cursor_entity{std::move(from)});
    auto first = co_await made->api.try_next(use_awaitable);
    if (!first)
        co_return failed_with(first.error());
    made->first = *std::move(first);
    if (what.save_result_as)
        in->named.add(*what.save_result_as, std::move(made));
    co_return gave_nothing();
}

outcome_later create_find_cursor(context_ptr in, const operation& what)
{
    const mongo::collection& on = in->named.get<collection_entity>(what.object).api;
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const auto options = given.options<mongo::find_options>();
    given.finish();
    return open(in, on.find(filter, options), what);
}

mongo::cursor command_cursor(const context_ptr& in, const operation& what)
{
    const mongo::database& on = in->named.get<database_entity>(what.object).api;
    arguments given{*in, what};
    (void)given.text("commandName");
    const bson::view command = given.document("command");
    (void)given.any("timeoutMode");
    const auto options = given.options<mongo::cursor_command_options>();
    given.finish();
    return on.run_cursor_command(command, options);
}

outcome_later create_command_cursor(context_ptr in, const operation& what)
{
    return open(in, command_cursor(in, what), what);
}

outcome_later run_cursor_command(context_ptr in, const operation& what)
{
    return outcome_of(command_cursor(in, what));
}

outcome_later iterate_until(context_ptr in, const operation& what)
{
    const auto from = in->named.share<cursor_entity>(what.object);
    arguments{*in, what}.finish();
    if (from->first) {
        const auto kept = std::exchange(from->first, std::nullopt);
        co_return gave(*kept);
    }
    for (;;) {
        const auto came = co_await from->api.next(use_awaitable);
        if (!came)
            co_return failed_with(came.error());
        if (*came)
            co_return gave(**came);
        demand(from->api.is_open(), "the cursor has ended, and no document was left");
    }
}

outcome_later iterate_once(context_ptr in, const operation& what)
{
    const auto from = in->named.share<cursor_entity>(what.object);
    arguments{*in, what}.finish();
    if (from->first) {
        const auto kept = std::exchange(from->first, std::nullopt);
        co_return gave(*kept);
    }
    const auto came = co_await from->api.try_next(use_awaitable);
    co_return outcome_from(came);
}

outcome_later close_client(std::shared_ptr<client_entity> which)
{
    which->closed = true;
    co_await which->api.close();
    co_return gave_nothing();
}

outcome_later close_cursor(std::shared_ptr<cursor_entity> which)
{
    which->first.reset();
    const auto came = co_await which->api.close(use_awaitable);
    co_return outcome_from(came);
}

outcome_later close(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    (void)given.any("timeoutMS");
    given.finish();
    const entity& on = in->named.at(what.object);
    if (const auto* const client = std::get_if<std::shared_ptr<client_entity>>(&on))
        return close_client(*client);
    return close_cursor(in->named.share<cursor_entity>(what.object));
}

constexpr named_operation cursor_operations_table[] = {
    {"createFindCursor", create_find_cursor, true},
    {"createCommandCursor", create_command_cursor, true},
    {"runCursorCommand", run_cursor_command},
    {"iterateUntilDocumentOrError", iterate_until},
    {"iterateOnce", iterate_once},
    {"close", close},
};

}  // namespace

std::span<const named_operation> cursor_operations() noexcept
{
    return cursor_operations_table;
}

}  // namespace holdfast::spec::unified
