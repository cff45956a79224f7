#include "lab/mongo/node/labels.hpp"

namespace holdfast::lab::mongo {

bool is_retryable_write_code(int code) noexcept
{
    switch (code) {
    case 6:      // HostUnreachable
    case 7:      // HostNotFound
    case 89:     // NetworkTimeout
    case 91:     // ShutdownInProgress
    case 189:    // PrimarySteppedDown
    case 262:    // ExceededTimeLimit
    case 9001:   // SocketException
    case 10107:  // NotWritablePrimary
    case 11600:  // InterruptedAtShutdown
    case 11602:  // InterruptedDueToReplStateChange
    case 13435:  // NotPrimaryNoSecondaryOk
    case 13436:  // NotPrimaryOrSecondary
        return true;
    default:
        return false;
    }
}

bool is_state_change_code(int code) noexcept
{
    switch (code) {
    case 91:
    case 189:
    case 10058:
    case 10107:
    case 11600:
    case 11602:
    case 13435:
    case 13436:
        return true;
    default:
        return false;
    }
}

bool is_not_primary_code(int code) noexcept
{
    switch (code) {
    case 189:
    case 10107:
    case 11602:
    case 13435:
    case 13436:
        return true;
    default:
        return false;
    }
}

bool earns_retryable_label(const request& what, int code) noexcept
{
    return what.txn_number && !what.in_transaction && !what.labels_given &&
           is_retryable_write_code(code);
}

}  // namespace holdfast::lab::mongo
