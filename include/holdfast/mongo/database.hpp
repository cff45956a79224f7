#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/mongo/admin_options.hpp"
#include "holdfast/mongo/client_options.hpp"
#include "holdfast/mongo/collection.hpp"
#include "holdfast/mongo/cursor.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mongo {

/// A database of a deployment: a handle, made without I/O, cheap to copy, for any number of
/// threads.
class database : details::handle {
public:
    const std::string& name() const noexcept;
    database with(defaults options) const;

    mongo::collection operator[](std::string_view collection) const;
    mongo::collection collection(std::string_view name, defaults options = {}) const;

    /// Sends a command as it is. Its read preference is primary unless the options say otherwise.
    template <class Token = throw_on_error>
    auto run_command(bson::view command, command_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::run_command_operation{command, options},
                   std::forward<Token>(token));
    }
    /// The same for a command that is answered with a cursor.
    cursor run_cursor_command(bson::view command, cursor_command_options options = {}) const;

    cursor aggregate(bson::array_view pipeline, aggregate_options options = {}) const;

    template <class Token = throw_on_error>
    auto create_collection(std::string_view name, create_collection_options options = {},
                           Token&& token = {}) const
    {
        return run(core::mongo::create_collection_operation{name, options},
                   std::forward<Token>(token));
    }
    /// collMod: `changes` are its fields.
    template <class Token = throw_on_error>
    auto modify_collection(std::string_view name, bson::view changes, drop_options options = {},
                           Token&& token = {}) const
    {
        return run(core::mongo::modify_collection_operation{name, changes, options},
                   std::forward<Token>(token));
    }
    cursor list_collections(list_options options = {}) const;
    template <class Token = throw_on_error>
    auto list_collection_names(list_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::list_collection_names_operation{options},
                   std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto drop(drop_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::drop_database_operation{options}, std::forward<Token>(token));
    }

    using handle::executor;

private:
    friend struct access;

    database(std::shared_ptr<client_impl> client,
             std::shared_ptr<const collection_settings> settings) noexcept
        : handle{std::move(client), std::move(settings)}
    {
    }
};

}  // namespace holdfast::mongo
