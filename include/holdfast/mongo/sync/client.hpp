#pragma once
#include "holdfast/blocking.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/client.hpp"
#include "holdfast/mongo/sync/collection.hpp"
#include "holdfast/mongo/sync/cursor.hpp"
#include "holdfast/mongo/sync/database.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mongo::sync {

/// A MongoDB client whose calls block: the same operations, retries, errors and events as
/// mongo::client, for programs that have threads instead of coroutines. May be used by any number
/// of threads at a time. One thread of its own watches the servers and opens connections; an
/// operation runs, sends and receives on the thread that called it.
///
///     mongo::sync::client db{"mongodb://localhost"};
///     auto accounts = db["bank"]["accounts"];
///     accounts.insert_one(ada);
///     for (bson::view one : accounts.find(gt("balance", 100)))
///         ...
///
/// Every call comes in two forms: one throws `failure`, its twin `try_...` gives a result.
/// Databases, collections and cursors may outlive the client that they come from; their operations
/// fail then.
class client : blocking_handle<mongo::client> {
public:
    /// Parses the string, and throws `failure` if it is wrong. Does no I/O yet.
    explicit client(std::string_view uri, mongo::client_options options = {});
    static result<client> create(std::string_view uri, mongo::client_options options = {});

    client(client&&) noexcept = default;
    client& operator=(client&& other) noexcept;
    ~client();  // closes it

    sync::database operator[](std::string_view database) const
    {
        return sync::database{bridge_, inner_[database]};
    }
    sync::database database(std::string_view name, mongo::defaults options = {}) const
    {
        return sync::database{bridge_, inner_.database(name, options)};
    }
    /// That of the connection string; "test" if it names none.
    sync::database default_database() const
    {
        return sync::database{bridge_, inner_.default_database()};
    }

    /// Sends a command as it is, and waits for the reply. See mongo::client::run_command.
    bson::document run_command(std::string_view database, bson::view command,
                               mongo::command_options options = {}) const
    {
        return try_run_command(database, command, options).value();
    }
    result<bson::document> try_run_command(std::string_view database, bson::view command,
                                           mongo::command_options options = {}) const
    {
        return wait(inner_.run_command(database, command, options, asio::use_awaitable));
    }

    /// Writes to any number of collections; needs servers from 8.0 on.
    mongo::client_bulk_write_result bulk_write(mongo::client_bulk_writes work,
                                               mongo::bulk_write_options options = {}) const
    {
        return try_bulk_write(std::move(work), options).value();
    }
    result<mongo::client_bulk_write_result> try_bulk_write(
        mongo::client_bulk_writes work, mongo::bulk_write_options options = {}) const
    {
        return wait(inner_.bulk_write(std::move(work), options, asio::use_awaitable));
    }

    /// One document for each database: name, sizeOnDisk, empty.
    std::vector<bson::document> list_databases(mongo::list_options options = {}) const
    {
        return try_list_databases(options).value();
    }
    result<std::vector<bson::document>> try_list_databases(mongo::list_options options = {}) const
    {
        return wait(inner_.list_databases(options, asio::use_awaitable));
    }
    std::vector<std::string> list_database_names(mongo::list_options options = {}) const
    {
        return try_list_database_names(options).value();
    }
    result<std::vector<std::string>> try_list_database_names(mongo::list_options options = {}) const
    {
        return wait(inner_.list_database_names(options, asio::use_awaitable));
    }

    /// See mongo::client. Does no I/O.
    bson::object_id new_id() const { return inner_.new_id(); }
    mongo::session start_session(mongo::session_options options = {}) const;
    result<mongo::session> try_start_session(mongo::session_options options = {}) const;
    void append_metadata(std::string_view name, std::string_view version = {},
                         std::string_view platform = {}) const;

    /// Waits until the deployment has been looked up.
    void ready() const { try_ready().value(); }
    result<void> try_ready() const { return bridge_->open(); }

    /// Ends the operations of other threads, and waits until nothing runs any more. Later calls
    /// fail. With `{.drain = 5s}` these operations have that long to end by themselves.
    void close(mongo::close_options options = {}) const;

    /// The topology and its pools in a few lines, for people.
    std::string dump_state() const { return inner_.dump_state(); }

private:
    client(std::shared_ptr<blocking_bridge> on, mongo::client inner)
        : blocking_handle{std::move(on), std::move(inner)}
    {
    }
};

}  // namespace holdfast::mongo::sync
