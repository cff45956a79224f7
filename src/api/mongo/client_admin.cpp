#include "api/mongo/access.hpp"
#include "api/mongo/start_operation.hpp"
#include "holdfast/mongo/client.hpp"

#include <utility>

namespace holdfast::mongo {
namespace {

std::shared_ptr<const collection_settings> settings_of(core::mongo::operation_space space,
                                                       std::string_view database)
{
    space.database = database;
    return std::make_shared<const collection_settings>(collection_settings{std::move(space)});
}

}  // namespace

mongo::database client::operator[](std::string_view database) const
{
    return access::make<mongo::database>(client_, settings_of(client_->everywhere(), database));
}

mongo::database client::database(std::string_view name, defaults options) const
{
    return access::make<mongo::database>(
        client_, settings_of(core::mongo::with(client_->everywhere(), options).value(), name));
}

mongo::database client::default_database() const
{
    return (*this)[client_->source.settings.database.value_or("test")];
}

namespace details {

template struct starter<core::mongo::run_command_operation>;
template struct starter<core::mongo::list_databases_operation>;
template struct starter<core::mongo::list_database_names_operation>;

}  // namespace details

}  // namespace holdfast::mongo
