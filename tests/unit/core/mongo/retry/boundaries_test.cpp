#include "core/mongo/retry/decide.hpp"

#include <gtest/gtest.h>

/// Cases on the border between two rules.
namespace holdfast::core::mongo::boundaries_test {
namespace {

constexpr time_point now{std::chrono::hours{1}};

failed_attempt answered(std::int32_t code, bool labelled, std::int32_t wire)
{
    failed_attempt f{.origin = failure_origin::server, .code = code};
    f.labels.retryable_write = labelled;
    f.max_wire_version = wire;
    return f;
}

bool retries(retry_kind kind, const failed_attempt& f)
{
    const retry_policy policy{.kind = kind, .repeatable = true};
    return decide(policy, {}, f, token_bucket{}, now, 0.5).retries();
}

TEST(retry_boundaries, read_and_write_errors_are_classified_separately)
{
    const failed_attempt out_of_time = answered(262, false, 21);
    EXPECT_TRUE(retries(retry_kind::read, out_of_time));
    EXPECT_FALSE(retries(retry_kind::write, out_of_time));
    const failed_attempt labelled = answered(112, true, 21);
    EXPECT_FALSE(retries(retry_kind::read, labelled));
    EXPECT_TRUE(retries(retry_kind::write, labelled));
    EXPECT_TRUE(retries(retry_kind::end_transaction, labelled));
}

TEST(retry_boundaries, retryable_write_error_label_comes_from_wire_version_9)
{
    EXPECT_FALSE(driver_adds_label(answered(91, true, 9)));
    EXPECT_TRUE(driver_adds_label(answered(91, false, 8)));
    EXPECT_FALSE(is_retryable_write_error(answered(91, false, 9)));
    EXPECT_TRUE(is_retryable_write_error(answered(91, false, 8)));
}

}  // namespace
}  // namespace holdfast::core::mongo::boundaries_test
