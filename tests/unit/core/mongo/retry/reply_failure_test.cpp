#include "core/mongo/retry/reply_failure.hpp"

#include "core/mongo/retry/decide.hpp"
#include "core/mongo/retry/eligibility.hpp"
#include "holdfast/bson/json.hpp"
#include "support/json.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::reply_failure_test {
namespace {

TEST(failure_in, reply_with_ok_1_is_no_failure)
{
    for (const char* reply : {R"({"ok": 1})", R"({"ok": 1.0, "n": 2})", R"({"ok": true})",
                              R"({"ok": 1, "writeConcernError": null})"})
        EXPECT_FALSE(failure_in(json(reply), 27)) << reply;
}

TEST(failure_in, code_message_labels_and_base_backoff_ms_are_read)
{
    const auto reply = json(R"({"ok": 0.0, "errmsg": "rate exceeded", "code": 462,
        "errorLabels": ["SystemOverloadedError", "RetryableError", "Other", 3],
        "baseBackoffMS": 20})");
    const auto found = failure_in(reply, 27, true);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->origin, failure_origin::server);
    EXPECT_EQ(found->code, 462);
    EXPECT_EQ(found->message, "rate exceeded");
    EXPECT_TRUE(is_retryable_overload(*found));
    EXPECT_FALSE(found->labels.retryable_write || found->labels.no_writes_performed);
    EXPECT_EQ(found->base_backoff, std::chrono::milliseconds{20});
    EXPECT_EQ(found->max_wire_version, 27);
    EXPECT_TRUE(found->sharded);
    const auto other = json(R"({"ok": 0, "errorLabels": ["RetryableWriteError",
                                                         "NoWritesPerformed"]})");
    EXPECT_TRUE(failure_in(other, 27)->labels.retryable_write);
    EXPECT_TRUE(failure_in(other, 27)->labels.no_writes_performed);
}

TEST(failure_in, write_concern_error_is_classified_like_a_command_error)
{
    VERIFIES("RW-008");
    const auto decided = [](const char* concern, int wire) {
        const auto reply = json(std::string{R"({"ok": 1, "n": 1, "writeConcernError": )"} +
                                concern + "}");
        return is_retryable_write_error(failure_in(reply, wire).value());
    };
    EXPECT_TRUE(decided(R"({"code": 91, "errmsg": "shutting down"})", 8));
    EXPECT_TRUE(decided(R"({"code": 1, "errmsg": "not master"})", 8));
    EXPECT_FALSE(decided(R"({"code": 64, "errmsg": "waiting timed out"})", 8));
    EXPECT_FALSE(decided(R"({"code": 91, "errmsg": "shutting down"})", 9));
    const auto labelled = json(R"({"ok": 1, "errorLabels": ["RetryableWriteError"],
                                   "writeConcernError": {"code": 91}})");
    EXPECT_TRUE(is_retryable_write_error(failure_in(labelled, 27).value()));
}

TEST(failure_in, mongos_write_concern_error_below_wire_9_is_final)
{
    const auto concern = json(R"({"ok": 1, "n": 1, "writeConcernError": {"code": 91}})");
    EXPECT_FALSE(is_retryable_write_error(failure_in(concern, 8, true).value()));
    EXPECT_FALSE(driver_adds_label(failure_in(concern, 8, true).value()));
    const auto command = json(R"({"ok": 0, "code": 91})");
    EXPECT_TRUE(is_retryable_write_error(failure_in(command, 8, true).value()));
    const auto labelled = json(R"({"ok": 1, "errorLabels": ["RetryableWriteError"],
                                   "writeConcernError": {"code": 91}})");
    EXPECT_TRUE(is_retryable_write_error(failure_in(labelled, 9, true).value()));
}

TEST(failure_in, write_errors_are_results_not_failures)
{
    VERIFIES("RW-023");
    EXPECT_FALSE(failure_in(
        json(R"({"ok": 1, "n": 0, "writeErrors": [{"index": 0, "code": 91, "errmsg": "x"}]})"), 8));
}

TEST(failure_in, illegal_operation_20_means_no_txn_number_support)
{
    VERIFIES("RD-021");
    const auto reply = json(R"({"ok": 0, "code": 20, "codeName": "IllegalOperation", "errmsg":
        "Transaction numbers are only allowed on a replica set member or mongos"})");
    const retry_policy write{.kind = retry_kind::write, .repeatable = true};
    for (const int wire : {6, 8, 9, 27}) {
        EXPECT_TRUE(supports_retryable_writes(server_type::rs_primary, wire, 30))
            << "hello does not show it";
        const auto found = failure_in(reply, wire);
        ASSERT_TRUE(found);
        const retry_decision d = decide(write, {}, *found, token_bucket{}, {}, 0.5);
        EXPECT_EQ(d.outcome, retry_outcome::final_error);
        EXPECT_TRUE(d.reports_this);
        EXPECT_FALSE(driver_adds_label(*found)) << "it reaches the user as it is";
    }
}

TEST(failure_in, malformed_reply_is_a_failure_without_a_code)
{
    for (const char* reply : {"{}", R"({"ok": "1"})", R"({"ok": 0, "code": "91", "errmsg": 5})"}) {
        const auto found = failure_in(json(reply), 27);
        ASSERT_TRUE(found) << reply;
        EXPECT_EQ(found->code, std::nullopt);
        EXPECT_EQ(found->message, "");
    }
}

TEST(retry_decision, overload_ignores_wire_version_and_command)
{
    VERIFIES("BP-005");
    VERIFIES("BP-006");
    VERIFIES("BP-012");
    const auto reply = json(R"({"ok": 0, "code": 2,
                                "errorLabels": ["SystemOverloadedError", "RetryableError"]})");
    const auto half = json(R"({"ok": 0, "code": 2, "errorLabels": ["SystemOverloadedError"]})");
    for (const retry_kind kind : {retry_kind::read, retry_kind::write, retry_kind::generic}) {
        const retry_policy policy{.kind = kind, .repeatable = false};
        for (const int wire : {0, 6, 27}) {
            EXPECT_TRUE(
                decide(policy, {}, *failure_in(reply, wire), token_bucket{}, {}, 0.5).retries());
            EXPECT_FALSE(
                decide(policy, {}, *failure_in(half, wire), token_bucket{}, {}, 0.5).retries());
        }
    }
}

}  // namespace
}  // namespace holdfast::core::mongo::reply_failure_test
