#include "core/couchbase/service/service_idempotent.hpp"

#include "support/verifies.hpp"

namespace holdfast::core::couchbase::service_idempotent_test {
namespace {

TEST(service_idempotent, statements_are_idempotent_only_if_readonly)
{
    VERIFIES("CR-077");
    EXPECT_TRUE(is_idempotent(query_request{.readonly = true}));
    EXPECT_FALSE(is_idempotent(query_request{.readonly = false}));
    EXPECT_FALSE(is_idempotent(query_request{}));
    EXPECT_TRUE(is_idempotent(analytics_request{.readonly = true}));
    EXPECT_FALSE(is_idempotent(analytics_request{.readonly = false}));
    EXPECT_FALSE(is_idempotent(analytics_request{}));
}

TEST(service_idempotent, search_and_view_requests_are_idempotent)
{
    VERIFIES("CR-078");
    EXPECT_TRUE(is_idempotent(search_request{}));
    EXPECT_TRUE(is_idempotent(view_request{}));
}

TEST(service_idempotent, management_requests_are_idempotent_only_for_get)
{
    VERIFIES("CR-079");
    using enum http_method;
    EXPECT_TRUE(is_idempotent(management_request{get}));
    for (const http_method other : {post, put, patch, remove})
        EXPECT_FALSE(is_idempotent(management_request{other}));
}

}  // namespace
}  // namespace holdfast::core::couchbase::service_idempotent_test
