#include "support/verifies.hpp"

#include <gtest/gtest-spi.h>

namespace holdfast::proof::verifies_test {
namespace {

// None of these tests may name a real requirement, or `make trace` would count it. Ids of the
// form ZZ-000 are known to tools/trace.py as examples.

TEST(verifies, only_well_formed_ids_are_accepted)
{
    EXPECT_TRUE(is_requirement_id("SD-144"));
    for (const char* wrong : {"", "SD-14", "SD-1444", "sd-144", "SD144", "SD-14x", " SD-144"})
        EXPECT_FALSE(is_requirement_id(wrong)) << wrong;
}

TEST(verifies, malformed_id_fails_the_test)
{
    EXPECT_NONFATAL_FAILURE(VERIFIES("ZZ-1"), "not a requirement id: \"ZZ-1\"");
}

TEST(verifies, fourth_id_fails_the_test)
{
    VERIFIES("ZZ-001");
    VERIFIES("ZZ-002");
    VERIFIES("ZZ-002");  // a repetition is not a further id
    VERIFIES("ZZ-003");
    EXPECT_NONFATAL_FAILURE(VERIFIES("ZZ-004"), "at most 3 requirements, and ZZ-004");
}

TEST(verifies, traffic_counts_towards_the_limit)
{
    VERIFIES("ZZ-001");
    VERIFIES_BY_TRAFFIC("ZZ-002");
    VERIFIES_BY_TRAFFIC("ZZ-003");
    EXPECT_NONFATAL_FAILURE(VERIFIES_BY_TRAFFIC("ZZ-004"), "at most 3 requirements, and ZZ-004");
}

TEST(verifies, verifies_row_has_no_limit)
{
    for (const char* id : {"ZZ-001", "ZZ-002", "ZZ-003", "ZZ-004", "ZZ-005"})
        VERIFIES_ROW(id);
    for (const char* id : {"ZZ-006", "ZZ-007", "ZZ-008", "ZZ-009"})
        VERIFIES_ROW_BY_TRAFFIC(id);
    EXPECT_EQ(ids_recorded_by_this_test(), 0);
}

}  // namespace
}  // namespace holdfast::proof::verifies_test
