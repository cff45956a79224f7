#include "lab/couchbase/n1ql/evaluate.hpp"
#include "lab/couchbase/n1ql/memory_store.hpp"
#include "lab/couchbase/n1ql/operators.hpp"
#include "lab/couchbase/n1ql/tokens.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql::expression_test {
namespace {

struct value_row {
    std::string_view expression;
    std::string_view gives;
};

void expect_values(std::span<const value_row> table, std::string_view parameters = "{}")
{
    memory_store store;
    for (const value_row& one : table) {
        SCOPED_TRACE(one.expression);
        const std::string text = "SELECT RAW [" + std::string{one.expression} + "]";
        const auto rows = rows_of(store, text, parameters);
        ASSERT_EQ(rows.size(), 1U);
        const std::string list = rows.front();
        EXPECT_EQ(list.starts_with('[') ? list.substr(1, list.size() - 2) : list, one.gives);
    }
}

TEST(lab_couchbase_n1ql, literals_are_what_they_say)
{
    constexpr value_row table[] = {
        {"1", "1"},
        {"-7", "-7"},
        {"1.5", "1.5"},
        {"2e3", "2000"},
        {"1.0", "1"},
        {"1e300", "1e+300"},
        {"18446744073709551615", "18446744073709551616"},
        {"TRUE", "true"},
        {"false", "false"},
        {"Null", "null"},
        {R"("a\n\"b\"")", R"("a\n\"b\"")"},
        {"'it''s'", R"("it's")"},
        {"'say \"x\"'", R"("say \"x\"")"},
        {R"("\u00e9")", "\"\xc3\xa9\""},
        {"[1, [2], {}]", "[1,[2],{}]"},
        {R"({"a": 1, "b": {"c": [true]}})", R"({"a":1,"b":{"c":[true]}})"},
        {"-- nothing\n 3 /* four */", "3"},
    };
    expect_values(table);
}

TEST(lab_couchbase_n1ql, operators_compute_with_numbers_and_texts)
{
    constexpr value_row table[] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"7 - 2 - 1", "4"},
        {"7 / 2", "3.5"},
        {"6 / 2", "3"},
        {"7 % 4", "3"},
        {"1 / 0", "null"},
        {"1 % 0", "null"},
        {"- - 3", "3"},
        {"9223372036854775807 + 1", "9223372036854775808"},
        {"'a' || 'b' || 'c'", R"("abc")"},
        {"'a' || 1", "null"},
        {"1 + 'a'", "null"},
        {"1 + NULL", "null"},
        {"TYPE(1 + MISSING)", R"("missing")"},
    };
    expect_values(table);
}

TEST(lab_couchbase_n1ql, comparisons_follow_the_order_of_kinds)
{
    constexpr value_row table[] = {
        {"1 = 1.0", "true"},
        {"1 == 2", "false"},
        {"1 != 2", "true"},
        {"1 <> 1", "false"},
        {"'a' < 'b'", "true"},
        {"1 < 'a'", "true"},
        {"'a' < []", "true"},
        {"[] < {}", "true"},
        {"FALSE < TRUE", "true"},
        {"TRUE < 0", "true"},
        {"[1, 2] < [1, 3]", "true"},
        {"[1] < [1, 0]", "true"},
        {"{'a': 2} < {'a': 1, 'b': 1}", "true"},
        {"{'a': 1, 'b': 2} = {'b': 2, 'a': 1}", "true"},
        {"1 = '1'", "false"},
        {"1 = NULL", "null"},
        {"TYPE(1 = MISSING)", R"("missing")"},
        {"TYPE(NULL < MISSING)", R"("missing")"},
        {"2 BETWEEN 1 AND 3", "true"},
        {"2 NOT BETWEEN 1 AND 3", "false"},
        {"0 BETWEEN 1 AND NULL", "false"},
        {"2 BETWEEN 1 AND NULL", "null"},
        {"2 IN [1, 2]", "true"},
        {"2 IN [1, NULL]", "null"},
        {"2 NOT IN [1]", "true"},
        {"2 IN 2", "null"},
        {"'abc' LIKE 'a%'", "true"},
        {"'abc' LIKE '_b_'", "true"},
        {"'abc' NOT LIKE 'b%'", "true"},
        {"'\xc3\xa9' LIKE '_'", "true"},
        {R"('a%' LIKE 'a\\%')", "true"},
        {R"('ab' LIKE 'a\\%')", "false"},
        {"1 LIKE 'a'", "null"},
    };
    expect_values(table);
}

TEST(lab_couchbase_n1ql, logic_has_four_values)
{
    constexpr value_row table[] = {
        {"TRUE AND TRUE", "true"},
        {"TRUE AND FALSE", "false"},
        {"NULL AND FALSE", "false"},
        {"MISSING AND FALSE", "false"},
        {"NULL AND TRUE", "null"},
        {"TYPE(MISSING AND NULL)", R"("missing")"},
        {"TYPE(MISSING AND TRUE)", R"("missing")"},
        {"NULL OR TRUE", "true"},
        {"MISSING OR TRUE", "true"},
        {"MISSING OR NULL", "null"},
        {"TYPE(MISSING OR FALSE)", R"("missing")"},
        {"FALSE OR FALSE", "false"},
        {"NOT TRUE", "false"},
        {"NOT NULL", "null"},
        {"TYPE(NOT MISSING)", R"("missing")"},
        {"NOT 0 = 1 AND TRUE", "true"},
        {"1 AND 'a'", "true"},
        {"0 OR ''", "false"},
        {"NULL IS NULL", "true"},
        {"1 IS NOT NULL", "true"},
        {"TYPE(MISSING IS NULL)", R"("missing")"},
        {"MISSING IS MISSING", "true"},
        {"NULL IS MISSING", "false"},
        {"NULL IS NOT MISSING", "true"},
        {"NULL IS VALUED", "false"},
        {"0 IS VALUED", "true"},
        {"MISSING IS NOT VALUED", "true"},
    };
    expect_values(table);
}

TEST(lab_couchbase_n1ql, functions_compute)
{
    constexpr value_row table[] = {
        {"LOWER('ABc')", R"("abc")"},
        {"upper('ABc')", R"("ABC")"},
        {"LENGTH('abc')", "3"},
        {"LENGTH(1)", "null"},
        {"TO_STRING(12)", R"("12")"},
        {"TO_STRING(TRUE)", R"("true")"},
        {"TO_NUMBER('1.5')", "1.5"},
        {"NOW_MILLIS()", "1700000000000"},
        {"CONTAINS('abc', 'b')", "true"},
        {"TRIM('  a ')", R"("a")"},
        {"SUBSTR('abcd', 1, 2)", R"("bc")"},
        {"SUBSTR('abcd', -1)", R"("d")"},
        {"SUBSTR('\xc3\xa9', 1)", "null"},
        {"REPEAT('ab', 3)", R"("ababab")"},
        {"ARRAY_LENGTH([1, 2])", "2"},
        {"ARRAY_CONTAINS([1, 2], 2)", "true"},
        {"ARRAY_APPEND([1], 2, 3)", "[1,2,3]"},
        {"ARRAY_RANGE(0, 3)", "[0,1,2]"},
        {"ARRAY_RANGE(3, 0, -2)", "[3,1]"},
        {"ARRAY_RANGE(0, 3, 0)", "null"},
        {"OBJECT_NAMES({'b': 1, 'a': 2})", R"(["a","b"])"},
        {"ABS(-2)", "2"},
        {"ROUND(2.5)", "3"},
        {"IFMISSING(MISSING, NULL, 1)", "null"},
        {"IFMISSINGORNULL(MISSING, NULL, 1)", "1"},
        {"TYPE({})", R"("object")"},
        {"TYPE(LOWER(MISSING))", R"("missing")"},
        {"REPEAT('ab', 1000000000)", "error 5500"},
        {"REPEAT('', 1000000000)", R"("")"},
        {"LENGTH(REPEAT('a', 40000000) || REPEAT('a', 40000000))", "error 5500"},
        {"ARRAY_RANGE(0, 1e18)", "error 5010"},
    };
    expect_values(table);
}

TEST(lab_couchbase_n1ql, paths_go_into_values)
{
    constexpr value_row table[] = {
        {"{'a': {'b': [1, 2]}}.a.b[1]", "2"},
        {"[1, 2, 3][-1]", "3"},
        {"TYPE([1][5])", R"("missing")"},
        {"TYPE({'a': 1}.b)", R"("missing")"},
        {"TYPE({'a': 1}.b.c)", R"("missing")"},
        {"{'a': 1}.a.b", "null"},
        {"1[0]", "null"},
        {"{'a': 1}['a']", "1"},
    };
    expect_values(table);
}

TEST(lab_couchbase_n1ql, parameters_are_named_or_counted)
{
    constexpr value_row named[] = {{"$x + 1", "3"}, {"$y", "error 5010"}};
    expect_values(named, R"({"x": 2})");
    constexpr value_row counted[] = {{"$2", R"("b")"}, {"? || ?", R"("ab")"}, {"$3", "error 5010"}};
    expect_values(counted, R"(["a", "b"])");
}

TEST(lab_couchbase_n1ql, large_parameter_cannot_be_named_without_end)
{
    memory_store store;
    std::string text = "SELECT RAW [$1";
    for (int n = 0; n != 1000; ++n)
        text += ", $1";
    const std::string parameters = "[\"" + std::string(100'000, 'x') + "\"]";
    EXPECT_EQ(joined(rows_of(store, text + "]", parameters)), "error 5500");
}

TEST(lab_couchbase_n1ql, likeness_takes_no_exponential_time)
{
    const std::string text(5000, 'a');
    std::string pattern;
    for (int n = 0; n != 100; ++n)
        pattern += "%a";
    EXPECT_FALSE(is_like(text, pattern + "b"));
    EXPECT_TRUE(is_like(text, pattern));
}

TEST(lab_couchbase_n1ql, big_numbers_are_compared_exactly)
{
    const json::value cas{std::uint64_t{1'700'000'000'000'000'001}};
    EXPECT_GT(compare(cas, json::value{std::int64_t{1'700'000'000'000'000'000}}), 0);
    EXPECT_LT(compare(json::value{std::int64_t{-1}}, json::value{~std::uint64_t{0}}), 0);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::n1ql::expression_test
