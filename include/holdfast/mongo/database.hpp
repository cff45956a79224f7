#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/completion.hpp"
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

struct access;
struct client_impl;
struct collection_settings;

/// A database of a deployment: a handle, made without I/O, cheap to copy, for any number of
/// threads.
class database {
public:
    const std::string& name() const noexcept;
    database with(defaults options) const;

    mongo::collection operator[](std::string_view collection) const;
    mongo::collection collection(std::string_view name, defaults options = {}) const;

    /// Sends a command as it is. Its read preference is primary unless the options say otherwise.
    template <class Token = throw_on_error>
    auto run_command(bson::view command, command_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<bson::document, Token>;
        return initiate(executor(), run_command_as<outcome>(command, options),
                        std::forward<Token>(token));
    }
    /// The same for a command that is answered with a cursor.
    cursor run_cursor_command(bson::view command, cursor_command_options options = {}) const;

    cursor aggregate(bson::array_view pipeline, aggregate_options options = {}) const;

    template <class Token = throw_on_error>
    auto create_collection(std::string_view name, create_collection_options options = {},
                           Token&& token = {}) const
    {
        using outcome = completion_result_t<mongo::collection, Token>;
        return initiate(executor(), create_collection_as<outcome>(name, options),
                        std::forward<Token>(token));
    }
    /// collMod: `changes` are its fields.
    template <class Token = throw_on_error>
    auto modify_collection(std::string_view name, bson::view changes, drop_options options = {},
                           Token&& token = {}) const
    {
        using outcome = completion_result_t<bson::document, Token>;
        return initiate(executor(), modify_collection_as<outcome>(name, changes, options),
                        std::forward<Token>(token));
    }
    cursor list_collections(list_options options = {}) const;
    template <class Token = throw_on_error>
    auto list_collection_names(list_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<std::vector<std::string>, Token>;
        return initiate(executor(), list_collection_names_as<outcome>(options),
                        std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto drop(drop_options options = {}, Token&& token = {}) const
    {
        using outcome = completion_result_t<void, Token>;
        return initiate(executor(), drop_as<outcome>(options), std::forward<Token>(token));
    }

    asio::any_io_executor executor() const noexcept;

private:
    friend struct access;

    database(std::shared_ptr<client_impl> of,
             std::shared_ptr<const collection_settings> settings) noexcept
        : impl_{std::move(of)}, settings_{std::move(settings)}
    {
    }

    template <class Outcome>
    asio::awaitable<Outcome> run_command_as(bson::view, const command_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> create_collection_as(std::string_view,
                                                  const create_collection_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> modify_collection_as(std::string_view, bson::view,
                                                  const drop_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> list_collection_names_as(const list_options&) const;
    template <class Outcome>
    asio::awaitable<Outcome> drop_as(const drop_options&) const;

    std::shared_ptr<client_impl> impl_;
    std::shared_ptr<const collection_settings> settings_;  // its collection has no name
};

}  // namespace holdfast::mongo
