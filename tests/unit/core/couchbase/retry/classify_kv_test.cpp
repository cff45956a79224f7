#include "core/couchbase/retry/classify_kv.hpp"

#include "support/verifies.hpp"

#include <optional>
#include <set>

namespace holdfast::core::couchbase::classify_kv_test {
namespace {

constexpr kv_status status(int number)
{
    return static_cast<kv_status>(number);
}
constexpr kv_opcode opcode(int number)
{
    return static_cast<kv_opcode>(number);
}

struct retry_row { const char* id; int status; retry_reason reason; };

constexpr retry_row retried[] = {
    {"CR-081", 0x07, retry_reason::kv_not_my_vbucket},
    {"CR-082", 0x88, retry_reason::kv_collection_outdated},
    {"CR-082", 0x8c, retry_reason::kv_collection_outdated},
    {"CR-083", 0x09, retry_reason::kv_locked},
    {"CR-057", 0x0d, retry_reason::service_response_code_indicated},
    {"CR-084", 0x86, retry_reason::kv_temporary_failure},
    {"CR-084", 0xa2, retry_reason::kv_sync_write_in_progress},
    {"CR-084", 0xa4, retry_reason::kv_sync_write_re_commit_in_progress},
};

TEST(classify_kv, retryable_statuses_have_their_reason_for_every_opcode)
{
    for (const retry_row& row : retried) {
        SCOPED_TRACE(row.status);
        VERIFIES_ROW(row.id);
        for (const kv_opcode command : {kv_opcode::get, kv_opcode::upsert, kv_opcode::remove,
                                        kv_opcode::subdoc_multi_lookup, opcode(0xff)})
            EXPECT_EQ(classify_kv(command, status(row.status)).reason, row.reason);
    }
    EXPECT_EQ(std::size(kv_retry_rules), std::size(retried));
}

TEST(classify_kv, all_other_statuses_are_not_retried)
{
    VERIFIES("CR-080");
    std::set<int> listed;
    for (const retry_row& row : retried)
        listed.insert(row.status);
    for (int number = 0; number <= 0xffff; ++number)
        ASSERT_EQ(classify_kv(kv_opcode::upsert, status(number)).reason.has_value(),
                  listed.contains(number))
            << number;
}

TEST(classify_kv, get_collection_id_reports_unknown_collection)
{
    VERIFIES("CR-082");
    const classification meant = classify_kv(kv_opcode::get_collection_id,
                                             kv_status::unknown_collection);
    EXPECT_FALSE(meant.reason);
    EXPECT_EQ(meant.code, errc::collection_not_found);
    const classification scope = classify_kv(kv_opcode::get_collection_id,
                                             kv_status::unknown_scope);
    EXPECT_FALSE(scope.reason);
    EXPECT_EQ(scope.code, errc::scope_not_found);
    EXPECT_TRUE(classify_kv(kv_opcode::get_collection_id, kv_status::temporary_failure).reason);
}

TEST(classify_kv, node_without_the_bucket_means_that_the_configuration_is_old)
{
    const classification meant = classify_kv(kv_opcode::upsert, kv_status::config_only);
    EXPECT_EQ(meant.reason, retry_reason::service_response_code_indicated);
    EXPECT_TRUE(meant.fetch_config);
    EXPECT_FALSE(classify_kv(kv_opcode::upsert, kv_status::temporary_failure).fetch_config);
    const auto map = kv_error_map::parse(R"({"version": 2, "revision": 1, "errors": {
        "7ff0": {"name": "n", "desc": "d", "attrs": ["fetch-config", "retry-now"]}}})");
    EXPECT_TRUE(classify_kv(kv_opcode::upsert, status(0x7ff0), &*map).fetch_config);
}

TEST(classify_kv, throttled_and_cancelled_commands_are_retried_as_the_error_map_says)
{
    VERIFIES("CR-071");
    const auto map = kv_error_map::parse(R"({"version": 2, "revision": 1, "errors": {
        "c":  {"name": "WOULD_THROTTLE", "desc": "d", "attrs": ["temp", "retry-later"]},
        "51": {"name": "CANCELLED", "desc": "d", "attrs": ["retry-now"]}}})");
    for (const kv_status each : {kv_status::would_throttle, kv_status::cancelled}) {
        EXPECT_EQ(classify_kv(kv_opcode::upsert, each, &*map).reason,
                  retry_reason::kv_error_map_retry_indicated);
        EXPECT_EQ(classify_kv(kv_opcode::upsert, each).reason, std::nullopt);
    }
}

TEST(classify_kv, unlock_reports_locked_as_cas_mismatch)
{
    VERIFIES("CR-083");
    const classification meant = classify_kv(kv_opcode::unlock, kv_status::locked);
    EXPECT_FALSE(meant.reason);
    EXPECT_EQ(meant.code, errc::cas_mismatch);
    EXPECT_TRUE(classify_kv(kv_opcode::unlock, kv_status::temporary_failure).reason);
    EXPECT_EQ(classify_kv(kv_opcode::get_and_lock, kv_status::locked).reason,
              retry_reason::kv_locked);
}

TEST(classify_kv, dcp_opcodes_are_never_retried)
{
    VERIFIES("CR-085");
    const auto map = kv_error_map::parse(R"({"version": 1, "revision": 1, "errors": {
        "7ff0": {"name": "n", "desc": "d", "attrs": ["retry-now"]}}})");
    ASSERT_TRUE(map);
    for (int command = 0; command <= 0xff; ++command) {
        const bool dcp = command >= 0x50 && command <= 0x6f;
        SCOPED_TRACE(command);
        ASSERT_EQ(is_dcp(opcode(command)), dcp);
        for (const int number : {0x07, 0x86, 0xa2, 0x7ff0})
            EXPECT_EQ(classify_kv(opcode(command), status(number), &*map).reason.has_value(), !dcp);
    }
}

struct error_row { int status; errc code; };

// RFC 0058, for an insert.
constexpr error_row errors[] = {
    {0x01, errc::document_not_found},
    {0x02, errc::document_exists},
    {0x03, errc::value_too_large},
    {0x04, errc::invalid_argument},
    {0x05, errc::document_not_found},
    {0x06, errc::delta_invalid},
    {0x07, errc::request_canceled},
    {0x08, errc::bucket_not_found},
    {0x09, errc::document_locked},
    {0x0d, errc::request_canceled},
    {0x0e, errc::document_not_locked},
    {0x1f, errc::authentication_failure},
    {0x20, errc::authentication_failure},
    {0x22, errc::invalid_argument},
    {0x24, errc::authentication_failure},
    {0x25, errc::temporary_failure},
    {0x30, errc::rate_limited},
    {0x31, errc::rate_limited},
    {0x32, errc::rate_limited},
    {0x33, errc::rate_limited},
    {0x34, errc::quota_limited},
    {0x80, errc::invalid_argument},
    {0x81, errc::unsupported_operation},
    {0x82, errc::temporary_failure},
    {0x83, errc::unsupported_operation},
    {0x84, errc::internal_server_failure},
    {0x85, errc::temporary_failure},
    {0x86, errc::temporary_failure},
    {0x87, errc::invalid_argument},
    {0x88, errc::collection_not_found},
    {0x8c, errc::scope_not_found},
    {0xa0, errc::durability_level_not_available},
    {0xa1, errc::durability_impossible},
    {0xa2, errc::durable_write_in_progress},
    {0xa3, errc::durability_ambiguous},
    {0xa4, errc::durable_write_re_commit_in_progress},
    {0xc0, errc::path_not_found},
    {0xc1, errc::path_mismatch},
    {0xc2, errc::path_invalid},
    {0xc3, errc::path_too_big},
    {0xc4, errc::path_too_deep},
    {0xc5, errc::value_invalid},
    {0xc6, errc::document_not_json},
    {0xc7, errc::number_too_big},
    {0xc8, errc::delta_invalid},
    {0xc9, errc::path_exists},
    {0xca, errc::value_too_deep},
    {0xcb, errc::invalid_argument},
    {0xcc, errc::generic_failure},
    {0xce, errc::invalid_argument},
    {0xcf, errc::xattr_invalid_key_combo},
    {0xd0, errc::xattr_unknown_macro},
    {0xd1, errc::xattr_unknown_virtual_attribute},
    {0xd2, errc::xattr_cannot_modify_virtual_attribute},
    {0xd3, errc::generic_failure},
    {0xd4, errc::invalid_argument},
    {0xd5, errc::xattr_unknown_macro},
    {0xd6, errc::cannot_revive_living_document},
    {0xd7, errc::invalid_argument},
    {0xd8, errc::path_mismatch},
};

TEST(classify_kv, every_known_status_has_its_error_code)
{
    std::set<int> known;
    for (const error_row& row : errors) {
        SCOPED_TRACE(row.status);
        known.insert(row.status);
        const classification meant = classify_kv(kv_opcode::insert, status(row.status));
        EXPECT_EQ(meant.code, row.code);
        EXPECT_EQ(meant.as_error().code(), row.code);
        EXPECT_TRUE(is_known(status(row.status)));
    }
    for (const int good : {0x00, 0x21, 0xcd}) {  // success, "go on", success on a deleted document
        known.insert(good);
        EXPECT_TRUE(is_known(status(good)));
        EXPECT_FALSE(classify_kv(kv_opcode::get, status(good)).code.failed());
    }
    for (int number = 0; number <= 0xffff; ++number)
        ASSERT_EQ(is_known(status(number)), known.contains(number)) << number;
    EXPECT_EQ(classify_kv(kv_opcode::replace, kv_status::exists).code, errc::cas_mismatch);
    EXPECT_EQ(classify_kv(kv_opcode::get, status(0x86)).message, "status 0x86: temporary failure");
    EXPECT_EQ(classify_kv(kv_opcode::get, status(0x07)).message, "status 0x07: not my vbucket");
}

TEST(classify_kv, error_map_is_used_for_unknown_statuses_only)
{
    VERIFIES("CR-070");
    VERIFIES("CR-071");
    VERIFIES("CR-072");
    const auto map = kv_error_map::parse(R"({"version": 1, "revision": 1, "errors": {
        "1":    {"name": "ENOENT", "desc": "d", "attrs": ["retry-now"]},
        "86":   {"name": "ETMPFAIL", "desc": "d", "attrs": []},
        "100":  {"name": "NOW", "desc": "right away", "attrs": ["temp", "retry-now"]},
        "7ff0": {"name": "LATER", "desc": "d", "attrs": ["retry-later"]},
        "7ff1": {"name": "AUTO", "desc": "d", "attrs": ["auto-retry"]},
        "7ff2": {"name": "NOT", "desc": "d", "attrs": ["temp", "item-only"]}}})");
    ASSERT_TRUE(map) << map.error().message();
    const auto reason = [&](int number) {
        return classify_kv(kv_opcode::upsert, status(number), &*map).reason;
    };
    EXPECT_EQ(reason(0x01), std::nullopt);  // known, whatever the map says
    EXPECT_EQ(reason(0x86), retry_reason::kv_temporary_failure);
    EXPECT_EQ(reason(0x100), retry_reason::kv_error_map_retry_indicated);
    EXPECT_EQ(reason(0x7ff0), retry_reason::kv_error_map_retry_indicated);
    EXPECT_EQ(reason(0x7ff1), retry_reason::kv_error_map_retry_indicated);
    EXPECT_EQ(reason(0x7ff2), std::nullopt);
    EXPECT_EQ(reason(0x7ff3), std::nullopt);  // not in the map either

    const classification received = classify_kv(kv_opcode::upsert, status(0x100), &*map);
    EXPECT_EQ(received.message, "status 0x0100, NOW: right away");
    EXPECT_EQ(received.code, errc::generic_failure);
    const classification unlisted = classify_kv(kv_opcode::upsert, status(0x7ff0));
    EXPECT_EQ(unlisted.message, "unknown status 0x7ff0");
    EXPECT_EQ(unlisted.code, errc::generic_failure);
    EXPECT_FALSE(unlisted.reason);
}

}  // namespace
}  // namespace holdfast::core::couchbase::classify_kv_test
