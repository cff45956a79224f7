// tidy: table of all statuses, with their names and attributes in error maps
#include "lab/couchbase/kv/exchange.hpp"

#include <charconv>

namespace holdfast::lab::couchbase {

namespace {

struct status_row {
    unsigned code;
    bool in_version_1;
    std::string_view name;
    std::string_view attributes;  // separated by spaces
};

constexpr status_row status_rows[] = {
    {0x00, true, "SUCCESS", "success"},
    {0x01, true, "KEY_ENOENT", "item-only"},
    {0x02, true, "KEY_EEXISTS", "item-only"},
    {0x03, true, "E2BIG", "item-only invalid-input"},
    {0x04, true, "EINVAL", "internal invalid-input"},
    {0x05, true, "NOT_STORED", "internal item-only"},
    {0x06, true, "DELTA_BADVAL", "item-only invalid-input"},
    {0x07, true, "NOT_MY_VBUCKET", "fetch-config invalid-input"},
    {0x08, true, "NO_BUCKET", "conn-state-invalidated"},
    {0x09, true, "LOCKED", "item-locked item-only retry-now"},
    {0x0c, false, "EWOULD_THROTTLE", "temp retry-later rate-limit"},
    {0x0d, false, "ECONFIG_ONLY", "fetch-config retry-now"},
    {0x0e, false, "NOT_LOCKED", "item-only"},
    {0x0f, false, "CAS_VALUE_INVALID", "item-only"},
    {0x1f, true, "AUTH_STALE", "conn-state-invalidated auth"},
    {0x20, true, "AUTH_ERROR", "conn-state-invalidated auth"},
    {0x21, true, "AUTH_CONTINUE", "special-handling"},
    {0x22, true, "ERANGE", "invalid-input"},
    {0x23, true, "ROLLBACK", "dcp special-handling"},
    {0x24, true, "EACCESS", "support"},
    {0x25, true, "NOT_INITIALIZED", "conn-state-invalidated"},
    {0x28, false, "EXPIRY_OVERFLOW", "item-only system-constraint no-retry"},
    {0x29, false, "LOCK_EXPIRY_OVERFLOW", "item-only system-constraint no-retry"},
    {0x30, false, "RATE_LIMITED_NETWORK_INGRESS", "temp retry-later rate-limit"},
    {0x31, false, "RATE_LIMITED_NETWORK_EGRESS", "temp retry-later rate-limit"},
    {0x32, false, "RATE_LIMITED_MAX_CONNECTIONS", "conn-state-invalidated rate-limit"},
    {0x33, false, "RATE_LIMITED_MAX_COMMANDS", "temp retry-later rate-limit"},
    {0x35, false, "BUCKET_SIZE_LIMIT_EXCEEDED", "item-only system-constraint no-retry"},
    {0x36, false, "BUCKET_RESIDENT_RATIO_TOO_LOW", "item-only system-constraint no-retry"},
    {0x37, false, "BUCKET_DATA_SIZE_TOO_BIG", "item-only system-constraint no-retry"},
    {0x38, false, "BUCKET_DISK_SPACE_TOO_LOW", "item-only system-constraint no-retry"},
    {0x50, false, "BUCKET_PAUSED", "support"},
    {0x51, false, "CANCELLED", "item-only retry-now"},
    {0x80, true, "UNKNOWN_FRAME_INFO", "support"},
    {0x81, true, "UNKNOWN_COMMAND", "support"},
    {0x82, true, "ENOMEM", "temp retry-later"},
    {0x83, true, "NOT_SUPPORTED", "support"},
    {0x84, true, "EINTERNAL", "internal conn-state-invalidated"},
    {0x85, true, "EBUSY", "temp retry-now"},
    {0x86, true, "ETMPFAIL", "temp retry-now"},
    {0x87, true, "XATTR_EINVAL", "invalid-input"},
    {0x88, true, "UNKNOWN_COLLECTION", "invalid-input"},
    {0x8a, true, "CANNOT_APPLY_COLLECTIONS_MANIFEST", "invalid-input"},
    {0x8c, true, "UNKNOWN_SCOPE", "invalid-input"},
    {0xa0, true, "DurabilityInvalidLevel", "invalid-input"},
    {0xa1, true, "DurabilityImpossible", "item-only invalid-input"},
    {0xa2, true, "SyncWriteInProgress", "item-only retry-later"},
    {0xa3, true, "SyncWriteAmbiguous", "item-only"},
    {0xa4, true, "SyncWriteReCommitInProgress", "item-only retry-later"},
    {0xa5, false, "RangeScanCancelled", "success"},
    {0xa6, false, "RangeScanMore", "success"},
    {0xa7, false, "RangeScanComplete", "success"},
    {0xa8, false, "VbUuidNotEqual", "invalid-input"},
    {0xc0, true, "SUBDOC_PATH_ENOENT", "subdoc item-only"},
    {0xc1, true, "SUBDOC_PATH_MISMATCH", "subdoc item-only"},
    {0xc2, true, "SUBDOC_PATH_EINVAL", "subdoc invalid-input"},
    {0xc3, true, "SUBDOC_PATH_E2BIG", "subdoc invalid-input"},
    {0xc4, true, "SUBDOC_PATH_E2DEEP", "subdoc invalid-input"},
    {0xc5, true, "SUBDOC_VALUE_CANTINSERT", "subdoc invalid-input"},
    {0xc6, true, "SUBDOC_DOC_NOTJSON", "subdoc item-only"},
    {0xc7, true, "SUBDOC_NUM_ERANGE", "subdoc item-only"},
    {0xc8, true, "SUBDOC_DELTA_EINVAL", "subdoc item-only"},
    {0xc9, true, "SUBDOC_PATH_EEXISTS", "subdoc item-only"},
    {0xca, true, "SUBDOC_VALUE_ETOODEEP", "subdoc invalid-input item-only"},
    {0xcb, true, "SUBDOC_INVALID_COMBO", "subdoc invalid-input"},
    {0xcc, true, "SUBDOC_MULTI_PATH_FAILURE", "subdoc special-handling"},
    {0xcd, true, "SUBDOC_SUCCESS_DELETED", "item-deleted success subdoc"},
    {0xce, true, "SUBDOC_XATTR_INVALID_FLAG_COMBO", "subdoc invalid-input"},
    {0xcf, true, "SUBDOC_XATTR_INVALID_KEY_COMBO", "subdoc invalid-input"},
    {0xd0, true, "SUBDOC_XATTR_UNKNOWN_MACRO", "subdoc invalid-input"},
    {0xd1, true, "SUBDOC_XATTR_UNKNOWN_VATTR", "subdoc invalid-input"},
    {0xd2, true, "SUBDOC_XATTR_CANT_MODIFY_VATTR", "subdoc invalid-input"},
    {0xd3, true, "SUBDOC_MULTI_PATH_FAILURE_DELETED", "item-deleted subdoc special-handling"},
    {0xd4, true, "SUBDOC_INVALID_XATTR_ORDER", "subdoc invalid-input"},
    {0xd5, true, "SUBDOC_XATTR_UNKNOWN_VATTR_MACRO", "subdoc invalid-input"},
    {0xd6, false, "SUBDOC_CAN_ONLY_REVIVE_DELETED_DOCUMENTS", "subdoc item-only"},
    {0xd7, false, "SUBDOC_DELETED_DOCUMENT_CANT_HAVE_VALUE", "subdoc item-only"},
    {0xd8, false, "SUBDOC_FIELD_NOT_BINARY_VALUE", "subdoc item-only"},
};

std::string hexadecimal_code(unsigned code)
{
    char digits[8];
    const auto [end, problem] = std::to_chars(digits, digits + sizeof digits, code, 16);
    (void)problem;
    return {digits, end};
}

std::string attribute_list(std::string_view attributes)
{
    std::string list = "\"";
    for (const char c : attributes) {
        if (c == ' ')
            list += "\",\"";
        else
            list += c;
    }
    return list + '"';
}

}  // namespace

std::string error_map_text(int version)
{
    std::string json = R"({"version":)" + std::to_string(version) + R"(,"revision":1,"errors":{)";
    bool first = true;
    for (const status_row& one : status_rows) {
        if (version == 1 && !one.in_version_1)
            continue;
        json += std::string{first ? "" : ","} + '"' + hexadecimal_code(one.code) +
                R"(":{"name":")" + std::string{one.name} + R"(","desc":")" + std::string{one.name} +
                R"(","attrs":[)" + attribute_list(one.attributes) + "]}";
        first = false;
    }
    return json + "}}";
}

}  // namespace holdfast::lab::couchbase
