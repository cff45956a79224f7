#include "core/mongo/retry/classify.hpp"

#include <algorithm>
#include <array>

namespace holdfast::core::mongo {

namespace {

/// State changes and routing errors: the server did nothing, and another one may do it.
constexpr std::array state_and_routing = {
    11600,  // InterruptedAtShutdown
    11602,  // InterruptedDueToReplStateChange
    10107,  // NotWritablePrimary
    13435,  // NotPrimaryNoSecondaryOk
    13436,  // NotPrimaryOrSecondary
    189,    // PrimarySteppedDown
    91,     // ShutdownInProgress
    10058,  // LegacyNotPrimary
    6,      // HostUnreachable
    7,      // HostNotFound
    89,     // NetworkTimeout
    9001,   // SocketException
};

/// Reads may also be repeated when the server ran out of time or was not ready for the concern.
constexpr std::array only_for_reads = {
    262,  // ExceededTimeLimit
    134,  // ReadConcernMajorityNotAvailableYet
};

template <std::size_t N>
bool contains(const std::array<int, N>& codes, std::optional<std::int32_t> code)
{
    return code && std::ranges::find(codes, *code) != codes.end();
}

/// Old servers may name a state change only in the message, with or without a code.
bool names_state_change(std::string_view message)
{
    return message.find("not master") != message.npos ||
           message.find("node is recovering") != message.npos;
}

}  // namespace

bool is_retryable_write_error(const failed_attempt& f)
{
    switch (f.origin) {
    case failure_origin::network:
    case failure_origin::pool_cleared:
        return true;
    case failure_origin::client:
        return false;
    case failure_origin::server:
        if (f.max_wire_version >= labels_decide)
            return f.labels.retryable_write;
        // What an old router says of the write concern may be a summary of several shards.
        if (f.of_write_concern && f.sharded)
            return false;
        return contains(state_and_routing, f.code) || names_state_change(f.message);
    }
    return false;
}

bool is_retryable_read_error(const failed_attempt& f)
{
    switch (f.origin) {
    case failure_origin::network:
    case failure_origin::pool_cleared:
        return true;
    case failure_origin::client:
        return false;
    case failure_origin::server:
        return contains(state_and_routing, f.code) || contains(only_for_reads, f.code) ||
               (!f.code && names_state_change(f.message));
    }
    return false;
}

bool driver_adds_label(const failed_attempt& f)
{
    const bool server_does = f.origin == failure_origin::server &&
                             f.max_wire_version >= labels_decide;
    return !server_does && is_retryable_write_error(f);
}

}  // namespace holdfast::core::mongo
