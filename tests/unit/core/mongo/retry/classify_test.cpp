#include "core/mongo/retry/classify.hpp"

#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::classify_test {
namespace {

failed_attempt server_error(std::optional<int> code, std::string_view message, int wire)
{
    return {.origin = failure_origin::server,
            .code = code,
            .message = message,
            .max_wire_version = wire};
}

struct code_row {
    const char* id;
    std::optional<int> code;
    const char* message;
    bool write, read;
};

const code_row codes[] = {
    {"RW-005", 11600, "", true, true},
    {"RW-005", 11602, "", true, true},
    {"RW-005", 10107, "", true, true},
    {"RW-005", 13435, "", true, true},
    {"RW-005", 13436, "", true, true},
    {"RW-005", 189, "", true, true},
    {"RW-005", 91, "", true, true},
    {"RW-006", 6, "", true, true},
    {"RW-006", 7, "", true, true},
    {"RW-006", 89, "", true, true},
    {"RW-006", 9001, "", true, true},
    {"RW-007", std::nullopt, "not master", true, true},
    {"RW-007", std::nullopt, "the node is recovering now", true, true},
    {"RW-007", 1, "not master so no", true, false},
    {"RW-007", 1, "node is recovering", true, false},
    {"RW-009", 64, "waiting for replication timed out", false, false},
    {"RW-009", 11000, "E11000 duplicate key", false, false},
    {"RW-009", std::nullopt, "something else", false, false},
    {"RW-009", 262, "", false, true},
    {"RW-009", 134, "", false, true},
    {"RW-010", 10058, "", true, true},
};

TEST(retryable_write_error, below_wire_version_9_code_or_message_decides)
{
    for (const code_row& r : codes) {
        VERIFIES_ROW(r.id);
        for (const int wire : {6, 7, 8}) {
            EXPECT_EQ(is_retryable_write_error(server_error(r.code, r.message, wire)), r.write)
                << r.code.value_or(0) << ' ' << r.message;
        }
    }
}

TEST(retryable_write_error, from_wire_version_9_only_the_label_decides)
{
    for (const code_row& r : codes) {
        for (const int wire : {9, 27}) {
            failed_attempt f = server_error(r.code, r.message, wire);
            EXPECT_FALSE(is_retryable_write_error(f));
            f.labels.retryable_write = true;
            EXPECT_TRUE(is_retryable_write_error(f));
        }
    }
}

TEST(retryable_read_error, codes_decide_at_every_wire_version)
{
    for (const code_row& r : codes) {
        for (const int wire : {6, 27}) {
            failed_attempt f = server_error(r.code, r.message, wire);
            EXPECT_EQ(is_retryable_read_error(f), r.read) << r.code.value_or(0) << ' ' << r.message;
        }
    }
}

TEST(retryable_error, network_and_pool_cleared_are_retryable_client_errors_are_not)
{
    VERIFIES("RW-004");
    struct row {
        failure_origin origin;
        bool expected;
    };
    const row table[] = {
        {failure_origin::network, true},
        {failure_origin::pool_cleared, true},
        {failure_origin::client, false},
    };
    for (const row& r : table) {
        for (const int wire : {0, 6, 27}) {
            const failed_attempt f{.origin = r.origin, .max_wire_version = wire};
            EXPECT_EQ(is_retryable_write_error(f), r.expected);
            EXPECT_EQ(is_retryable_read_error(f), r.expected);
        }
    }
}

TEST(overload_error, requires_both_labels_whatever_the_code)
{
    VERIFIES("BP-003");
    VERIFIES("BP-012");
    VERIFIES("BP-004");
    struct row {
        bool overloaded, retryable, expected;
    };
    const row table[] = {
        {false, false, false}, {true, false, false}, {false, true, false}, {true, true, true}};
    for (const row& r : table) {
        for (const int code : {462, 2}) {
            failed_attempt f = server_error(code, "", 27);
            f.labels.system_overloaded = r.overloaded;
            f.labels.retryable = r.retryable;
            EXPECT_EQ(is_retryable_overload(f), r.expected);
            EXPECT_EQ(is_overload(f), r.overloaded);
        }
    }
}

TEST(known_labels, labels_are_read_from_the_error)
{
    VERIFIES("BP-001");
    VERIFIES("BP-002");
    const error plain{error_code{}, "x"};
    EXPECT_FALSE(known_labels::of(plain).retryable);
    const error busy =
        error{error_code{}, "x"}.with_label("SystemOverloadedError").with_label("RetryableError");
    const known_labels labels = known_labels::of(busy);
    EXPECT_TRUE(labels.system_overloaded);
    EXPECT_TRUE(labels.retryable);
    EXPECT_FALSE(labels.retryable_write);
    EXPECT_FALSE(labels.no_writes_performed);
    EXPECT_TRUE(known_labels::of(error{error_code{}, "x"}.with_label("RetryableWriteError"))
                    .retryable_write);
    EXPECT_TRUE(known_labels::of(error{error_code{}, "x"}.with_label("NoWritesPerformed"))
                    .no_writes_performed);
}

TEST(driver_labels, driver_adds_retryable_write_error_where_the_server_does_not)
{
    EXPECT_TRUE(driver_adds_label({.origin = failure_origin::network, .max_wire_version = 27}));
    EXPECT_TRUE(driver_adds_label({.origin = failure_origin::pool_cleared}));
    EXPECT_TRUE(driver_adds_label(server_error(10107, "", 8)));
    EXPECT_FALSE(driver_adds_label(server_error(10107, "", 9)));
    EXPECT_FALSE(driver_adds_label(server_error(11000, "", 8)));
    EXPECT_FALSE(driver_adds_label({.origin = failure_origin::client}));
}

}  // namespace
}  // namespace holdfast::core::mongo::classify_test
