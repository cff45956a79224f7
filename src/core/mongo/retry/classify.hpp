#pragma once
#include "core/mongo/retry/labels.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::core::mongo {

/// Where a failure was made, which decides what it proves.
enum class failure_origin : std::uint8_t {
    network,       // the connection broke or timed out; the command may have run
    server,        // the server answered with an error, or with a write concern error
    pool_cleared,  // nothing was sent, because the server had just failed others
    client,        // nothing was sent: selection, checkout, a limit of our own
};

/// One failed try, as far as the decision to try again is concerned.
struct failed_attempt {
    failure_origin origin = failure_origin::network;
    known_labels labels = {};               // as the server sent them
    std::optional<std::int32_t> code = {};  // of the reply, or of its write concern error
    std::string_view message = {};
    std::int32_t max_wire_version = 0;          // of the connection
    std::optional<duration> base_backoff = {};  // baseBackoffMS
    bool sharded = false;                       // the topology
    bool of_write_concern = false;              // the command itself was done
    bool sent = true;  // false: it failed before that, while connecting or authenticating
};

/// From this wire version on (MongoDB 4.4) servers label their errors; below it codes decide.
inline constexpr std::int32_t labels_decide = 9;

bool is_retryable_write_error(const failed_attempt& f);
bool is_retryable_read_error(const failed_attempt& f);

/// The server says that it has too much to do.
constexpr bool is_overload(const failed_attempt& f) noexcept
{
    return f.labels.system_overloaded;
}
/// ... and that whatever was asked may be asked again.
constexpr bool is_retryable_overload(const failed_attempt& f) noexcept
{
    return f.labels.system_overloaded && f.labels.retryable;
}

/// Whether a server had a part in the failure.
constexpr bool involves_server(const failed_attempt& f) noexcept
{
    return f.origin == failure_origin::network || f.origin == failure_origin::server;
}

/// Whether we add "RetryableWriteError" to what the application sees of a retryable write, because
/// the server does not do it itself.
bool driver_adds_label(const failed_attempt& f);

}  // namespace holdfast::core::mongo
