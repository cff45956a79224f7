#include "core/mongo/retry/applied.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/retry/labels.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace holdfast::core::mongo {

namespace {

/// Errors that may come after a part of the work, or all of it, was done: the server was
/// interrupted or lost its role meanwhile, a router lost the shard, or only the write concern was
/// not met.
constexpr std::array proves_nothing = {
    1,      // InternalError
    6,      // HostUnreachable
    7,      // HostNotFound
    8,      // UnknownError
    50,     // MaxTimeMSExpired
    64,     // WriteConcernFailed
    79,     // UnknownReplWriteConcern
    89,     // NetworkTimeout
    90,     // CallbackCanceled
    91,     // ShutdownInProgress
    96,     // OperationFailed
    100,    // UnsatisfiableWriteConcern
    189,    // PrimarySteppedDown
    202,    // NetworkInterfaceExceededTimeLimit
    262,    // ExceededTimeLimit
    279,    // ClientDisconnect
    9001,   // SocketException
    10058,  // LegacyNotPrimary
    10107,  // NotWritablePrimary
    11600,  // InterruptedAtShutdown
    11601,  // Interrupted
    11602,  // InterruptedDueToReplStateChange
    13435,  // NotPrimaryNoSecondaryOk
    13436,  // NotPrimaryOrSecondary
};

/// Errors that only the execution of a statement can find. A server looks first whether it knows
/// the transaction number already, so nothing that was sent under it before has been applied.
constexpr std::array proves_all = {
    121,    // DocumentValidationFailure
    11000,  // DuplicateKey
};

template <std::size_t N>
bool is_among(const std::array<int, N>& codes, int code) noexcept
{
    return std::ranges::find(codes, code) != codes.end();
}

bool is_label_of(std::span<const std::string> labels, std::string_view wanted) noexcept
{
    return std::ranges::find(labels, wanted) != labels.end();
}

}  // namespace

bool possibly_applied_after_reply(bool before, error_code cause,
                                  std::span<const std::string> labels) noexcept
{
    // The server says so, or has rejected the command unread: this attempt has written nothing.
    const bool rejected = is_label_of(labels, label::system_overloaded) &&
                          is_label_of(labels, label::retryable);
    if (rejected || is_label_of(labels, label::no_writes_performed))
        return before;
    if (cause.category() != server_category())
        return true;  // there was a reply, and we do not understand it
    if (is_among(proves_all, cause.value()))
        return false;
    return before || is_label_of(labels, label::retryable_write) ||
           is_among(proves_nothing, cause.value());
}

bool possibly_applied(bool before, const attempt& failed) noexcept
{
    switch (failed.phase) {
    case dispatch_phase::not_sent:
        break;
    case dispatch_phase::in_flight:
        return true;
    case dispatch_phase::answered:
        return possibly_applied_after_reply(before, failed.cause, failed.labels);
    }
    return before;
}

}  // namespace holdfast::core::mongo
