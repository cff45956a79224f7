#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/client.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::sync {

/// A MongoDB client whose calls block: the same operations, retries, errors and events as
/// mongo::client, for programs that have threads instead of coroutines. May be used by any number
/// of threads at a time. One thread of its own watches the servers and opens connections; an
/// operation runs, sends and receives on the thread that called it.
///
/// Every call comes in two forms: one throws `failure`, its twin `try_...` gives a result.
class client {
public:
    /// Parses the string, and throws `failure` if it is wrong. Does no I/O yet.
    explicit client(std::string_view uri, mongo::client_options options = {});
    static result<client> create(std::string_view uri, mongo::client_options options = {});

    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    ~client();  // closes it

    /// Sends a command as it is, and waits for the reply. See mongo::client::run_command.
    bson::document run_command(std::string_view database, bson::view command,
                               mongo::command_options options = {}) const;
    result<bson::document> try_run_command(std::string_view database, bson::view command,
                                           mongo::command_options options = {}) const;

    /// See mongo::client.
    mongo::session start_session() const;
    void append_metadata(std::string_view name, std::string_view version = {},
                         std::string_view platform = {}) const;

    /// Waits until the deployment has been looked up.
    void ready() const;
    result<void> try_ready() const;

    /// Ends the operations of other threads, and waits until nothing runs any more. Later calls
    /// fail.
    void close() const;

    /// The topology and its pools in a few lines, for people.
    std::string dump_state() const;

private:
    struct parts;
    explicit client(std::unique_ptr<parts> made) noexcept;
    std::unique_ptr<parts> parts_;
};

}  // namespace holdfast::sync
