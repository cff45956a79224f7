#include "holdfast/mongo/database.hpp"

#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"
#include "api/mongo/collection_settings.hpp"
#include "api/mongo/make_cursor.hpp"
#include "api/mongo/plain_replies.hpp"
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
    return database{impl_, settings_of(core::mongo::with(*settings_, options).value())};
}

mongo::collection database::operator[](std::string_view collection) const
{
    core::mongo::operation_space space = *settings_;
    space.collection = collection;
    return access::make<mongo::collection>(impl_, settings_of(std::move(space)));
}

mongo::collection database::collection(std::string_view name, defaults options) const
{
    auto space = core::mongo::with(*settings_, options).value();
    space.collection = name;
    return access::make<mongo::collection>(impl_, settings_of(std::move(space)));
}

asio::any_io_executor database::executor() const noexcept
{
    return impl_->world->executor();
}

template <class Outcome>
asio::awaitable<Outcome> database::run_command_as(bson::view command,
                                                  const command_options& options) const
{
    command_options here = options;
    if (!here.timeout)
        here.timeout = settings_->timeout;
    return impl_->run_and_read<Outcome, bson::document>(
        impl_->command_for(settings_->database, command, here), options.session, read_reply);
}
template asio::awaitable<bson::document> database::run_command_as(bson::view,
                                                                  const command_options&) const;
template asio::awaitable<result<bson::document>> database::run_command_as(
    bson::view, const command_options&) const;

cursor database::run_cursor_command(bson::view command, cursor_command_options options) const
{
    const command_options first{.session = options.session,
                                .timeout = options.timeout ? options.timeout : settings_->timeout,
                                .read_preference = options.read_preference};
    return make_cursor(impl_,
                       as_query(impl_->command_for(settings_->database, command, first), options),
                       options.session);
}

cursor database::aggregate(bson::array_view pipeline, aggregate_options options) const
{
    return make_cursor(impl_, core::mongo::aggregate(*settings_, pipeline, options),
                       options.session);
}

template <class Outcome>
asio::awaitable<Outcome> database::create_collection_as(
    std::string_view name, const create_collection_options& options) const
{
    return once_created<Outcome>(
        impl_->run_and_read<result<void>, void>(
            core::mongo::create_collection(*settings_, name, options), options.session, read_done),
        (*this)[name]);
}
template asio::awaitable<mongo::collection> database::create_collection_as(
    std::string_view, const create_collection_options&) const;
template asio::awaitable<result<mongo::collection>> database::create_collection_as(
    std::string_view, const create_collection_options&) const;

template <class Outcome>
asio::awaitable<Outcome> database::modify_collection_as(std::string_view name, bson::view changes,
                                                        const drop_options& options) const
{
    return impl_->run_and_read<Outcome, bson::document>(
        core::mongo::modify_collection(*settings_, name, changes, options), options.session,
        read_reply);
}
template asio::awaitable<bson::document> database::modify_collection_as(std::string_view,
                                                                        bson::view,
                                                                        const drop_options&) const;
template asio::awaitable<result<bson::document>> database::modify_collection_as(
    std::string_view, bson::view, const drop_options&) const;

cursor database::list_collections(list_options options) const
{
    return make_cursor(impl_, core::mongo::list_collections(*settings_, options), options.session);
}

template <class Outcome>
asio::awaitable<Outcome> database::list_collection_names_as(const list_options& options) const
{
    return names_in<Outcome>(list_collections(core::mongo::names_only(options)));
}
template asio::awaitable<std::vector<std::string>> database::list_collection_names_as(
    const list_options&) const;
template asio::awaitable<result<std::vector<std::string>>> database::list_collection_names_as(
    const list_options&) const;

template <class Outcome>
asio::awaitable<Outcome> database::drop_as(const drop_options& options) const
{
    return impl_->run_and_read<Outcome, void>(core::mongo::drop_database(*settings_, options),
                                              options.session, read_drop);
}
template asio::awaitable<void> database::drop_as(const drop_options&) const;
template asio::awaitable<result<void>> database::drop_as(const drop_options&) const;

}  // namespace holdfast::mongo
