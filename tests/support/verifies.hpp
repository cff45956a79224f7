#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>

/// Names a requirement that the running test proves: VERIFIES("SD-144"). The id goes into the
/// test's JSON result, where `make trace` finds it, and counts only if the test passes. A test that
/// claims to prove more than three things proves none of them well.
#define VERIFIES(id) ::holdfast::proof::record_proof(id, "test")

/// The same for a table-driven test, which proves one requirement per row and may have many rows.
#define VERIFIES_ROW(id) ::holdfast::proof::record_proof(id, "row")

/// The same for tests in which a client and a server exchanged the bytes that the requirement
/// speaks of. Tests of values prove that a decision is right; only these prove that it is obeyed.
#define VERIFIES_BY_TRAFFIC(id) ::holdfast::proof::record_proof(id, "traffic test")
#define VERIFIES_ROW_BY_TRAFFIC(id) ::holdfast::proof::record_proof(id, "traffic row")

namespace holdfast::proof {

inline constexpr int max_ids_per_test = 3;

/// Two capitals, a dash, three digits.
constexpr bool is_requirement_id(std::string_view id)
{
    constexpr auto capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    constexpr auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return id.size() == 6 && capital(id[0]) && capital(id[1]) && id[2] == '-' && digit(id[3]) &&
           digit(id[4]) && digit(id[5]);
}

/// GoogleTest keeps the properties of the running test for us: no state of our own is needed.
inline int ids_recorded_by_this_test()
{
    const ::testing::TestResult& so_far =
        *::testing::UnitTest::GetInstance()->current_test_info()->result();
    int ids = 0;
    for (int i = 0; i < so_far.test_property_count(); ++i)
        ids += std::string_view{so_far.GetTestProperty(i).value()}.ends_with("test");
    return ids;
}

inline void record_proof(std::string_view id, const char* kind)
{
    if (!is_requirement_id(id)) {
        ADD_FAILURE() << "not a requirement id: \"" << id << "\"";
        return;
    }
    ::testing::Test::RecordProperty(std::string{id}, kind);
    if (ids_recorded_by_this_test() > max_ids_per_test)
        ADD_FAILURE() << "a test names at most " << max_ids_per_test << " requirements, and " << id
                      << " is one more; a table-driven test uses VERIFIES_ROW";
}

}  // namespace holdfast::proof
