#include "holdfast/mongo/collection.hpp"

#include "api/mongo/client_impl.hpp"
#include "api/mongo/collection_settings.hpp"

#include <utility>

namespace holdfast::mongo {

const std::string& collection::name() const noexcept
{
    return settings_->collection;
}

std::string collection::namespace_name() const
{
    return database_name() + "." + name();
}

const std::string& collection::database_name() const noexcept
{
    return settings_->database;
}

collection collection::with(defaults options) const
{
    auto space = core::mongo::with(*settings_, options).value();
    return collection{client_, std::make_shared<const collection_settings>(
                                   collection_settings{std::move(space)})};
}

asio::any_io_executor details::handle::executor() const noexcept
{
    return client_->world->executor();
}

}  // namespace holdfast::mongo
