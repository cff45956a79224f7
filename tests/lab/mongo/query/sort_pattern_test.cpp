#include "lab/mongo/query/sort_pattern.hpp"

#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace holdfast::lab::sort_pattern_test {
namespace {

bson::document doc(std::string_view json)
{
    return bson::from_json(json).value();
}

/// The _ids of the documents, sorted.
std::string sorted(const char* spec, const std::vector<const char*>& documents,
                   const std::optional<collation>& by = {})
{
    const auto pattern = sort_pattern::compile(doc(spec), by);
    if (!pattern)
        return pattern.error().message();
    struct keyed {
        std::vector<value> key;
        int id;
    };
    std::vector<keyed> all;
    for (const char* one : documents)
        all.push_back({pattern->key_of(doc(one)), doc(one).get<int>("_id").value()});
    std::ranges::sort(all, [&](const keyed& a, const keyed& b) {
        const auto order = pattern->compare(a.key, b.key);
        return order == 0 ? a.id < b.id : order < 0;
    });
    std::string ids;
    for (const keyed& one : all)
        ids += std::to_string(one.id);
    return ids;
}

TEST(sort_pattern, array_in_id_alone_is_compared_as_a_whole)
{
    const auto order = [](const char* spec) {
        const auto pattern = sort_pattern::compile(doc(spec), {}).value();
        return pattern.compare(pattern.key_of(doc(R"({"_id": [3, 1]})")),
                               pattern.key_of(doc(R"({"_id": [2, 9]})")));
    };
    EXPECT_TRUE(order(R"({"_id": 1})") > 0);
    EXPECT_TRUE(order(R"({"_id": -1})") < 0);
    EXPECT_TRUE(order(R"({"_id": 1, "a": 1})") < 0) << "by the least element";
}

TEST(sort_pattern, orders)
{
    const std::vector<const char*> plain = {R"({"_id":1,"a":3})", R"({"_id":2,"a":1})",
                                            R"({"_id":3})", R"({"_id":4,"a":"x"})"};
    EXPECT_EQ(sorted(R"({"a":1})", plain), "3214");
    EXPECT_EQ(sorted(R"({"a":-1})", plain), "4123");
    EXPECT_EQ(sorted(R"({})", plain), "1234");
    EXPECT_EQ(sorted(R"({"$natural":1})", plain), "1234");

    const std::vector<const char*> two = {R"({"_id":1,"a":1,"b":1})", R"({"_id":2,"a":1,"b":2})",
                                          R"({"_id":3,"a":0,"b":0})"};
    EXPECT_EQ(sorted(R"({"a":1,"b":-1})", two), "321");
    EXPECT_EQ(sorted(R"({"a":-1,"b":1})", two), "123");
}

TEST(sort_pattern, array_sorts_by_its_least_or_greatest_element)
{
    const std::vector<const char*> arrays = {R"({"_id":1,"a":[5,1]})", R"({"_id":2,"a":[2,9]})",
                                             R"({"_id":3,"a":3})"};
    EXPECT_EQ(sorted(R"({"a":1})", arrays), "123");
    EXPECT_EQ(sorted(R"({"a":-1})", arrays), "213");

    const std::vector<const char*> empty = {R"({"_id":1,"a":null})", R"({"_id":2,"a":[]})",
                                            R"({"_id":3,"a":0})"};
    EXPECT_EQ(sorted(R"({"a":1})", empty), "213");

    const std::vector<const char*> deep = {R"({"_id":1,"a":[{"b":4},{"b":2}]})",
                                           R"({"_id":2,"a":{"b":3}})",
                                           R"({"_id":3,"a":[{"b":9},{}]})"};
    EXPECT_EQ(sorted(R"({"a.b":1})", deep), "312");
    EXPECT_EQ(sorted(R"({"a.b":-1})", deep), "312");
    EXPECT_EQ(sorted(R"({"a.0.b":1})", deep), "213");
}

TEST(sort_pattern, knows_languages)
{
    const std::vector<const char*> text = {R"({"_id":1,"a":"b"})", R"({"_id":2,"a":"A"})",
                                           R"({"_id":3,"a":"a"})", R"({"_id":4,"a":"B"})"};
    EXPECT_EQ(sorted(R"({"a":1})", text), "2431");
    EXPECT_EQ(sorted(R"({"a":1})", text, collation{.strength = 3}), "3214");
    EXPECT_EQ(sorted(R"({"a":1})", text, collation{.strength = 2}), "2314");
}

TEST(sort_pattern, refuses)
{
    const struct {
        const char* spec;
        int code;
    } rows[] = {
        {R"({"a":0})", 15975},          {R"({"a":2})", 15975},    {R"({"a":"asc"})", 15974},
        {R"({"a":1.5})", 15975},        {R"({"":1})", 40352},     {R"({"a.":1})", 40353},
        {R"({"a..b":1})", 15998},       {R"({"$a":1})", 16410},   {R"({"a":{"b":1}})", 17312},
        {R"({"$natural":1,"a":1})", 2}, {R"({"a":null})", 15974},
    };
    for (const auto& r : rows) {
        const auto made = sort_pattern::compile(doc(r.spec));
        ASSERT_FALSE(made) << r.spec;
        EXPECT_EQ(made.error().code().value(), r.code) << r.spec;
    }
}

}  // namespace
}  // namespace holdfast::lab::sort_pattern_test
