#pragma once
#include "holdfast/mongo/database.hpp"
#include "holdfast/sync/bridge.hpp"
#include "holdfast/sync/collection.hpp"
#include "holdfast/sync/cursor.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// A database whose operations block: see mongo::database, and sync::collection for the two forms
/// of each operation.
class database : blocking<mongo::database> {
public:
    database(std::shared_ptr<bridge> on, mongo::database inner)
        : blocking{std::move(on), std::move(inner)}
    {
    }

    const std::string& name() const noexcept { return inner_.name(); }
    database with(mongo::defaults how) const { return database{bridge_, inner_.with(how)}; }

    sync::collection operator[](std::string_view collection) const
    {
        return sync::collection{bridge_, inner_[collection]};
    }
    sync::collection collection(std::string_view name, mongo::defaults how = {}) const
    {
        return sync::collection{bridge_, inner_.collection(name, how)};
    }

    /// Sends a command as it is. Its read preference is primary unless the options say otherwise.
    bson::document run_command(bson::view command, mongo::command_options how = {}) const
    {
        return try_run_command(command, how).value();
    }
    result<bson::document> try_run_command(bson::view command,
                                           mongo::command_options how = {}) const
    {
        return wait(inner_.run_command(command, how, asio::use_awaitable));
    }
    /// The same for a command that is answered with a cursor.
    cursor run_cursor_command(bson::view command, mongo::cursor_command_options how = {}) const
    {
        return cursor{bridge_, inner_.run_cursor_command(command, how)};
    }
    cursor aggregate(bson::array_view pipeline, mongo::aggregate_options how = {}) const
    {
        return cursor{bridge_, inner_.aggregate(pipeline, how)};
    }

    sync::collection create_collection(std::string_view name,
                                       mongo::create_collection_options how = {}) const
    {
        return try_create_collection(name, how).value();
    }
    result<sync::collection> try_create_collection(std::string_view name,
                                                   mongo::create_collection_options how = {}) const
    {
        auto made = wait(inner_.create_collection(name, how, asio::use_awaitable));
        if (!made)
            return std::move(made).error();
        return sync::collection{bridge_, *std::move(made)};
    }
    /// collMod: `changes` are its fields.
    bson::document modify_collection(std::string_view name, bson::view changes,
                                     mongo::drop_options how = {}) const
    {
        return try_modify_collection(name, changes, how).value();
    }
    result<bson::document> try_modify_collection(std::string_view name, bson::view changes,
                                                 mongo::drop_options how = {}) const
    {
        return wait(inner_.modify_collection(name, changes, how, asio::use_awaitable));
    }
    cursor list_collections(mongo::list_options how = {}) const
    {
        return cursor{bridge_, inner_.list_collections(how)};
    }
    std::vector<std::string> list_collection_names(mongo::list_options how = {}) const
    {
        return try_list_collection_names(how).value();
    }
    result<std::vector<std::string>> try_list_collection_names(mongo::list_options how = {}) const
    {
        return wait(inner_.list_collection_names(how, asio::use_awaitable));
    }
    void drop(mongo::drop_options how = {}) const { return try_drop(how).value(); }
    result<void> try_drop(mongo::drop_options how = {}) const
    {
        return wait(inner_.drop(how, asio::use_awaitable));
    }
};

}  // namespace holdfast::sync
