#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/mongo/database.hpp"
#include "holdfast/mongo/sync/collection.hpp"
#include "holdfast/mongo/sync/cursor.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mongo::sync {

/// A database whose operations block: see mongo::database, and sync::collection for the two forms
/// of each operation.
class database : blocking_handle<mongo::database> {
public:
    const std::string& name() const noexcept { return inner_.name(); }
    database with(mongo::defaults options) const { return database{bridge_, inner_.with(options)}; }

    sync::collection operator[](std::string_view collection) const
    {
        return sync::collection{bridge_, inner_[collection]};
    }
    sync::collection collection(std::string_view name, mongo::defaults options = {}) const
    {
        return sync::collection{bridge_, inner_.collection(name, options)};
    }

    /// Sends a command as it is. Its read preference is primary unless the options say otherwise.
    bson::document run_command(bson::view command, mongo::command_options options = {}) const
    {
        return try_run_command(command, options).value();
    }
    result<bson::document> try_run_command(bson::view command,
                                           mongo::command_options options = {}) const
    {
        return wait(inner_.run_command(command, options, asio::use_awaitable));
    }
    /// The same for a command that is answered with a cursor.
    cursor run_cursor_command(bson::view command, mongo::cursor_command_options options = {}) const
    {
        return cursor{bridge_, inner_.run_cursor_command(command, options)};
    }
    cursor aggregate(bson::array_view pipeline, mongo::aggregate_options options = {}) const
    {
        return cursor{bridge_, inner_.aggregate(pipeline, options)};
    }

    sync::collection create_collection(std::string_view name,
                                       mongo::create_collection_options options = {}) const
    {
        return try_create_collection(name, options).value();
    }
    result<sync::collection> try_create_collection(
        std::string_view name, mongo::create_collection_options options = {}) const
    {
        auto made = wait(inner_.create_collection(name, options, asio::use_awaitable));
        if (!made)
            return std::move(made).error();
        return sync::collection{bridge_, *std::move(made)};
    }
    /// collMod: `changes` are its fields.
    bson::document modify_collection(std::string_view name, bson::view changes,
                                     mongo::drop_options options = {}) const
    {
        return try_modify_collection(name, changes, options).value();
    }
    result<bson::document> try_modify_collection(std::string_view name, bson::view changes,
                                                 mongo::drop_options options = {}) const
    {
        return wait(inner_.modify_collection(name, changes, options, asio::use_awaitable));
    }
    cursor list_collections(mongo::list_options options = {}) const
    {
        return cursor{bridge_, inner_.list_collections(options)};
    }
    std::vector<std::string> list_collection_names(mongo::list_options options = {}) const
    {
        return try_list_collection_names(options).value();
    }
    result<std::vector<std::string>> try_list_collection_names(
        mongo::list_options options = {}) const
    {
        return wait(inner_.list_collection_names(options, asio::use_awaitable));
    }
    void drop(mongo::drop_options options = {}) const { return try_drop(options).value(); }
    result<void> try_drop(mongo::drop_options options = {}) const
    {
        return wait(inner_.drop(options, asio::use_awaitable));
    }

private:
    friend class client;

    database(std::shared_ptr<blocking_bridge> on, mongo::database inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::mongo::sync
