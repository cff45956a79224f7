#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"
#include "api/mongo/collection_settings.hpp"
#include "core/mongo/operation/admin.hpp"
#include "holdfast/mongo/client.hpp"

#include <utility>

namespace holdfast::mongo {
namespace {

using core::mongo::command;

std::shared_ptr<const collection_settings> settings_of(core::mongo::operation_space space,
                                                       std::string_view database)
{
    space.database = database;
    return std::make_shared<const collection_settings>(collection_settings{std::move(space)});
}

result<std::vector<bson::document>> read_databases(result<bson::document> outcome, const command&)
{
    return core::mongo::read_databases(std::move(outcome));
}

result<std::vector<std::string>> read_names(result<bson::document> outcome, const command&)
{
    return core::mongo::read_database_names(std::move(outcome));
}

}  // namespace

mongo::database client::operator[](std::string_view database) const
{
    return access::make<mongo::database>(impl_, settings_of(impl_->everywhere(), database));
}

mongo::database client::database(std::string_view name, defaults options) const
{
    return access::make<mongo::database>(
        impl_, settings_of(core::mongo::with(impl_->everywhere(), options).value(), name));
}

mongo::database client::default_database() const
{
    return (*this)[impl_->source.settings.database.value_or("test")];
}

template <class Outcome>
asio::awaitable<Outcome> client::list_databases_as(const list_options& options) const
{
    return impl_->run_and_read<Outcome, std::vector<bson::document>>(
        core::mongo::list_databases(impl_->everywhere(), options), options.session, read_databases);
}
template asio::awaitable<std::vector<bson::document>> client::list_databases_as(
    const list_options&) const;
template asio::awaitable<result<std::vector<bson::document>>> client::list_databases_as(
    const list_options&) const;

template <class Outcome>
asio::awaitable<Outcome> client::list_database_names_as(const list_options& options) const
{
    return impl_->run_and_read<Outcome, std::vector<std::string>>(
        core::mongo::list_databases(impl_->everywhere(), core::mongo::names_only(options)),
        options.session, read_names);
}
template asio::awaitable<std::vector<std::string>> client::list_database_names_as(
    const list_options&) const;
template asio::awaitable<result<std::vector<std::string>>> client::list_database_names_as(
    const list_options&) const;

}  // namespace holdfast::mongo
