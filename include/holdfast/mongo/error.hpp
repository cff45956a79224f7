#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/results.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What went wrong with an operation, for programs that want to act on it. Every error also has its
/// message, its labels, the server, and the history of its attempts: see holdfast/error.hpp.
///
///     } catch (const holdfast::failure& failed) {
///         if (mongo::kind_of(failed.error()) == mongo::error_kind::write &&
///             mongo::server_code(failed.error()) == 11000)
///             ...                                  // there is such a document already
///     }
namespace holdfast::mongo {

enum class error_kind : std::uint8_t {
    network,  // a connection could not be opened, or broke
    server,  // the server refused the command
    write,  // the server carried out the command, but not the write, or not safely enough
    bulk_write,  // ... and some writes of several may have been done: see write_failure
    selection,  // no server was found that could do it
    timeout,  // the time that the operation had was up
    authentication,  // the server does not accept the login
    cancelled,  // by the application, or because the client was closed
    client,  // the operation makes no sense, or this library cannot do it: nothing was sent
};

error_kind kind_of(const error& why) noexcept;
std::string_view name_of(error_kind kind) noexcept;  // "bulk write"

/// What the server calls it: 11000 and "DuplicateKey". Nothing if it was not the server's error.
std::optional<std::int32_t> server_code(const error& why) noexcept;
std::string_view server_code_name(const error& why) noexcept;

/// Whether a write that failed may have been applied all the same, or a part of it: it was sent,
/// and no reply says that it was not.
bool may_have_been_applied(const error& why) noexcept;

/// One write that the server refused.
struct write_error {
    std::int64_t index = 0;  // of the write, as it was given
    std::int32_t code = 0;
    std::string message = {};
    bson::document details = {};  // "errInfo", if there was one
};

/// The writes were done, but not as safely as they should be.
struct write_concern_error {
    std::int32_t code = 0;
    std::string code_name = {};
    std::string message = {};
    bson::document details = {};
};

/// The reply of a server that refused a command.
struct server_failure final : error_detail {
    explicit server_failure(bson::view from) : reply{from} {}
    bson::document reply;
};

/// What is known about writes that failed, in errors of the kinds `write` and `bulk_write`.
struct write_failure final : error_detail {
    std::vector<write_error> write_errors = {};
    std::vector<write_concern_error> write_concern_errors = {};
    std::optional<bulk_write_result> partial_result = {};  // of writes that were done
    std::optional<client_bulk_write_result> partial_client_result = {};
    std::optional<error> ended_by = {};  // what kept the rest from being sent
    /// A refused write to many documents may have changed some of them before; or writes were done
    /// and their results could not be read.
    bool partly_done = false;
    bson::document reply = {};  // of a single write
};

/// The details of such an error, or null.
const server_failure* server_failure_of(const error& why) noexcept;
const write_failure* write_failure_of(const error& why) noexcept;

}  // namespace holdfast::mongo
