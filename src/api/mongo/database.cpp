#include "holdfast/mongo/database.hpp"

#include "api/mongo/access.hpp"
#include "api/mongo/make_cursor.hpp"
#include "api/mongo/start_operation.hpp"
#include "core/mongo/operation/admin.hpp"

#include <utility>

namespace holdfast::mongo {
namespace {

using core::mongo::command;
using core::mongo::query;

std::shared_ptr<const collection_settings> settings_of(core::mongo::operation_space space)
{
    return std::make_shared<const collection_settings>(collection_settings{std::move(space)});
}

/// How a command that the application has written goes on, once it has opened a cursor.
result<query> as_query(result<command> first, const cursor_command_options& options)
{
    if (!first)
        return std::move(first).error();
    query made{*std::move(first), {}};
    made.rules.batch_size = options.batch_size.value_or(0);
    made.rules.max_time = options.max_time;
    made.rules.tailable = options.cursor != cursor_kind::plain;
    if (!options.comment.empty()) {
        bson::byte_buffer bytes;
        bson::builder kept{bytes};
        options.comment.write(kept, "comment");
        if (auto written = kept.finish(); !written)
            return std::move(written).error();
        made.rules.comment = bson::document::adopt(std::move(bytes));
    }
    return made;
}

/// Gives the collection once it has been created.
template <class Outcome>
asio::awaitable<Outcome> once_created(asio::awaitable<result<void>> running, mongo::collection made)
{
    auto done = co_await std::move(running);
    if (!done)
        co_return details::give<Outcome>(result<mongo::collection>{std::move(done).error()});
    co_return details::give<Outcome>(result<mongo::collection>{std::move(made)});
}

template <class Outcome>
asio::awaitable<Outcome> names_in(cursor listed)
{
    using names = std::vector<std::string>;
    names found;
    for (;;) {
        auto more = co_await listed.next_batch(asio::use_awaitable);
        if (!more)
            co_return details::give<Outcome>(result<names>{std::move(more).error()});
        if (!*more)
            break;
        for (const bson::view one : listed.batch()) {
            const bson::element name = one.find("name");
            if (name.type() == bson::type::string)
                found.emplace_back(name.as_string());
        }
    }
    co_return details::give<Outcome>(result<names>{std::move(found)});
}

}  // namespace

const std::string& database::name() const noexcept
{
    return settings_->database;
}

database database::with(defaults options) const
{
    return database{client_, settings_of(core::mongo::with(*settings_, options).value())};
}

mongo::collection database::operator[](std::string_view collection) const
{
    core::mongo::operation_space space = *settings_;
    space.collection = collection;
    return access::make<mongo::collection>(client_, settings_of(std::move(space)));
}

mongo::collection database::collection(std::string_view name, defaults options) const
{
    auto space = core::mongo::with(*settings_, options).value();
    space.collection = name;
    return access::make<mongo::collection>(client_, settings_of(std::move(space)));
}

cursor database::run_cursor_command(bson::view command, cursor_command_options options) const
{
    const command_options first{.session = options.session,
                                .timeout = options.timeout ? options.timeout : settings_->timeout,
                                .read_preference = options.read_preference};
    const core::mongo::run_command_operation opening{command, first};
    const std::string name{command.empty() ? "run_cursor_command" : (*command.begin()).key()};
    return make_cursor({client_, settings_, name},
                       as_query(opening.build(*settings_, client_->everywhere()), options),
                       options.session);
}

cursor database::aggregate(bson::array_view pipeline, aggregate_options options) const
{
    return make_cursor({client_, settings_, "aggregate"},
                       core::mongo::aggregate(*settings_, pipeline, options), options.session);
}

cursor database::list_collections(list_options options) const
{
    return make_cursor({client_, settings_, "listCollections"},
                       core::mongo::list_collections(*settings_, options), options.session);
}

template <class Outcome>
asio::awaitable<Outcome> start_as(const std::shared_ptr<client_impl>& client,
                                  const collection_settings& in,
                                  core::mongo::create_collection_operation&& operation)
{
    core::mongo::operation_space space = in;
    space.collection = operation.name;
    auto written = operation.build(in);
    if (!written)
        written = unwritten(std::move(written).error(), operation, in);
    return once_created<Outcome>(
        client->run_and_read<result<void>, void>(std::move(written), operation.options.session,
                                                 &operation.read),
        access::make<mongo::collection>(client, settings_of(std::move(space))));
}

template <class Outcome>
asio::awaitable<Outcome> start_as(const std::shared_ptr<client_impl>& client,
                                  const collection_settings& in,
                                  core::mongo::list_collection_names_operation&& operation)
{
    const list_options options = core::mongo::names_only(operation.options);
    return names_in<Outcome>(make_cursor(
        {client, std::make_shared<const collection_settings>(in), "listCollections"},
        core::mongo::list_collections(in, options), options.session));
}

namespace details {

template struct starter<core::mongo::create_collection_operation>;
template struct starter<core::mongo::modify_collection_operation>;
template struct starter<core::mongo::list_collection_names_operation>;
template struct starter<core::mongo::drop_database_operation>;

}  // namespace details

}  // namespace holdfast::mongo
