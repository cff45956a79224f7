#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/mongo/admin_options.hpp"
#include "holdfast/mongo/client_options.hpp"
#include "holdfast/mongo/collection.hpp"
#include "holdfast/mongo/completion.hpp"
#include "holdfast/mongo/cursor.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mongo {

struct client_parts;
struct collection_settings;

/// A database of a deployment: a handle, made without I/O, cheap to copy, for any number of
/// threads.
class database {
public:
    const std::string& name() const noexcept;
    database with(defaults how) const;

    mongo::collection operator[](std::string_view collection) const;
    mongo::collection collection(std::string_view name, defaults how = {}) const;

    /// Sends a command as it is. Its read preference is primary unless the options say otherwise.
    template <class Token = throwing>
    auto run_command(bson::view command, command_options how = {}, Token&& token = {}) const
    {
        using given = details::given<bson::document, Token>;
        return details::deliver(executor(), run_command_as<given>(command, how),
                                std::forward<Token>(token));
    }
    /// The same for a command that is answered with a cursor.
    cursor run_cursor_command(bson::view command, cursor_command_options how = {}) const;

    cursor aggregate(bson::array_view pipeline, aggregate_options how = {}) const;

    template <class Token = throwing>
    auto create_collection(std::string_view name, create_collection_options how = {},
                           Token&& token = {}) const
    {
        using given = details::given<mongo::collection, Token>;
        return details::deliver(executor(), create_collection_as<given>(name, how),
                                std::forward<Token>(token));
    }
    /// collMod: `changes` are its fields.
    template <class Token = throwing>
    auto modify_collection(std::string_view name, bson::view changes, drop_options how = {},
                           Token&& token = {}) const
    {
        using given = details::given<bson::document, Token>;
        return details::deliver(executor(), modify_collection_as<given>(name, changes, how),
                                std::forward<Token>(token));
    }
    cursor list_collections(list_options how = {}) const;
    template <class Token = throwing>
    auto list_collection_names(list_options how = {}, Token&& token = {}) const
    {
        using given = details::given<std::vector<std::string>, Token>;
        return details::deliver(executor(), list_collection_names_as<given>(how),
                                std::forward<Token>(token));
    }
    template <class Token = throwing>
    auto drop(drop_options how = {}, Token&& token = {}) const
    {
        using given = details::given<void, Token>;
        return details::deliver(executor(), drop_as<given>(how), std::forward<Token>(token));
    }

    asio::any_io_executor executor() const noexcept;

    database(std::shared_ptr<client_parts> of,
             std::shared_ptr<const collection_settings> settings) noexcept
        : parts_{std::move(of)}, settings_{std::move(settings)}
    {
    }

private:
    template <class Given>
    asio::awaitable<Given> run_command_as(bson::view, const command_options&) const;
    template <class Given>
    asio::awaitable<Given> create_collection_as(std::string_view,
                                                const create_collection_options&) const;
    template <class Given>
    asio::awaitable<Given> modify_collection_as(std::string_view, bson::view,
                                                const drop_options&) const;
    template <class Given>
    asio::awaitable<Given> list_collection_names_as(const list_options&) const;
    template <class Given>
    asio::awaitable<Given> drop_as(const drop_options&) const;

    std::shared_ptr<client_parts> parts_;
    std::shared_ptr<const collection_settings> settings_;  // its collection has no name
};

}  // namespace holdfast::mongo
