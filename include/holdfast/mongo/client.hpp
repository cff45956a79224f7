#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/bulk.hpp"
#include "holdfast/mongo/client_options.hpp"
#include "holdfast/mongo/database.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mongo {

/// A client of one deployment: pools of connections to its servers, and monitors that watch them,
/// all on the executor of the application; it starts no thread. A handle: copies are the same
/// client. May be used by several threads.
///
/// What gcc 12.2 makes of coroutines forces a rule on callers: name an aggregate with strings or
/// documents in it before the co_await that uses it.
class client : details::handle {
public:
    /// Does no I/O; throws `failure` if the connection string cannot be understood. Call ready(),
    /// or just begin: the first operation waits until a server is found.
    client(asio::any_io_executor on, std::string_view uri, client_options options = {});

    /// The same without exceptions.
    static result<client> create(asio::any_io_executor on, std::string_view uri,
                                 client_options options = {});

    mongo::database operator[](std::string_view database) const;
    mongo::database database(std::string_view name, defaults options = {}) const;
    /// That of the connection string; "test" if it names none.
    mongo::database default_database() const;

    /// Sends a command as it is, to a database; `command` is copied before this returns.
    template <class Token = throw_on_error>
    auto run_command(std::string_view database, bson::view command, command_options options = {},
                     Token&& token = {}) const
    {
        return run(core::mongo::run_command_operation{command, options, database},
                   std::forward<Token>(token));
    }

    /// Writes to any number of collections, in as few commands as the server's limits allow. Needs
    /// servers from 8.0 on.
    template <class Token = throw_on_error>
    auto bulk_write(client_bulk_writes work, bulk_write_options options = {},
                    Token&& token = {}) const
    {
        return run(core::mongo::client_bulk_write_operation{std::move(work), options},
                   std::forward<Token>(token));
    }

    /// One document for each database: name, sizeOnDisk, empty.
    template <class Token = throw_on_error>
    auto list_databases(list_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::list_databases_operation{options}, std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto list_database_names(list_options options = {}, Token&& token = {}) const
    {
        return run(core::mongo::list_database_names_operation{options}, std::forward<Token>(token));
    }

    /// A fresh id, as documents without an _id get one. Does no I/O.
    bson::object_id new_id() const;

    /// A session of this client. Does no I/O; throws `failure` if the options contradict each
    /// other.
    session start_session(session_options options = {}) const;

    /// A library that wraps this one adds itself to the client metadata of the handshake, on
    /// connections that are opened from now on. Throws `failure` if a text holds a '|'.
    void append_metadata(std::string_view name, std::string_view version = {},
                         std::string_view platform = {}) const;

    /// Waits until the deployment has been looked up; throws `failure` if that fails.
    asio::awaitable<void> ready() const;

    /// Ends all operations, waits until nothing of the client runs any more, and delivers the last
    /// events. Without it, destroying the last copy stops everything and returns at once. With
    /// `{.drain = 5s}` new operations are refused at once, and those under way have that long to
    /// end by themselves; a cursor is under way until it has no more, is closed or destroyed.
    asio::awaitable<void> close(close_options options = {}) const;

    /// The topology and its pools in a few lines, for people.
    std::string dump_state() const;

    using handle::executor;

private:
    friend struct access;

    explicit client(const std::shared_ptr<client_impl>& made) noexcept;
};

}  // namespace holdfast::mongo
