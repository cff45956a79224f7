#include "tools/holdfast/drill/mongo/connector.hpp"

#include <utility>

namespace holdfast::drill {
namespace {

std::string with_option(std::string uri, const std::string& option)
{
    const std::size_t hosts = uri.find("://") + 3;
    if (uri.find('?') != std::string::npos)
        return uri + (uri.ends_with('?') || uri.ends_with('&') ? "" : "&") + option;
    return uri + (uri.find('/', hosts) != std::string::npos ? "?" : "/?") + option;
}

}  // namespace

mongo_connector::mongo_connector(mongo_connector_options options) : options_{std::move(options)} {}

result<client_ptr> mongo_connector::connect(runtime::world& in)
{
    return connect_to(options_.retryable_writes ? options_.uri
                                                : with_option(options_.uri, "retryWrites=false"),
                      in);
}

result<client_ptr> mongo_connector::connect_reader(runtime::world& in)
{
    return connect_to(options_.uri, in);
}

result<client_ptr> mongo_connector::connect_to(const std::string& uri, runtime::world& in)
{
    mongo::client_options settings;
    watchers_.push_back(std::make_shared<watcher>(counts_));
    settings.listeners.push_back(watchers_.back());
    auto made = mongo::client::create(in.executor(), uri, std::move(settings));
    if (!made)
        return std::move(made).error();
    return client_ptr{std::make_shared<mongo_client>(in, *std::move(made), options_.client)};
}

std::string mongo_connector::leader() const
{
    return watchers_.empty() ? std::string{} : watchers_.front()->primary();
}

}  // namespace holdfast::drill
