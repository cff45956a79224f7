#include "lab/mongo/query/projection.hpp"

#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::projection_test {
namespace {

bson::document doc(std::string_view json)
{
    return bson::from_json(json).value();
}

struct row {
    const char* spec;
    const char* document;
    const char* result;
};

TEST(projection, inclusion_keeps_and_exclusion_drops_fields)
{
    const char* const plain =
        R"({"_id":1,"a":1,"b":{"c":2,"d":3},"e":[{"f":4,"g":5},6,[{"f":7}]]})";
    const row rows[] = {
        {R"({})", R"({"_id":1,"a":1})", R"({"_id":1,"a":1})"},
        {R"({"a":1})", plain, R"({"_id":1,"a":1})"},
        {R"({"a":true,"_id":0})", plain, R"({"a":1})"},
        {R"({"_id":1})", plain, R"({"_id":1})"},
        {R"({"_id":0})", R"({"_id":1,"a":1})", R"({"a":1})"},
        {R"({"a":0})", R"({"_id":1,"a":1,"b":2})", R"({"_id":1,"b":2})"},
        {R"({"a":0,"_id":0})", R"({"_id":1,"a":1,"b":2})", R"({"b":2})"},
        {R"({"a":0,"_id":1})", R"({"_id":1,"a":1,"b":2})", R"({"_id":1,"b":2})"},
        {R"({"b.c":1})", plain, R"({"_id":1,"b":{"c":2}})"},
        {R"({"b":{"c":1}})", plain, R"({"_id":1,"b":{"c":2}})"},
        {R"({"b.c":0,"e":0})", plain, R"({"_id":1,"a":1,"b":{"d":3}})"},
        {R"({"e.f":1})", plain, R"({"_id":1,"e":[{"f":4},[{"f":7}]]})"},
        {R"({"e.f":0})", R"({"e":[{"f":4,"g":5},6]})", R"({"e":[{"g":5},6]})"},
        {R"({"a.x":1})", plain, R"({"_id":1})"},
        {R"({"a.x":0})", R"({"a":1})", R"({"a":1})"},
        {R"({"b.x":1})", plain, R"({"_id":1,"b":{}})"},
        {R"({"zz":1})", plain, R"({"_id":1})"},
        {R"({"b":1,"a":1})", R"({"_id":1,"a":1,"b":2})", R"({"_id":1,"a":1,"b":2})"},
        {R"({"_id.x":1})", R"({"_id":{"x":1,"y":2},"a":1})", R"({"_id":{"x":1}})"},
    };
    for (const row& r : rows) {
        SCOPED_TRACE(std::string{r.spec} + " on " + r.document);
        const auto made = projection::compile(doc(r.spec));
        ASSERT_TRUE(made) << made.error().message();
        const auto done = made->apply(doc(r.document));
        ASSERT_TRUE(done) << done.error().message();
        EXPECT_EQ(bson::to_json(*done).value(), r.result);
    }
    EXPECT_TRUE(projection::compile(doc("{}"))->keeps_everything());
    EXPECT_FALSE(projection::compile(doc(R"({"a":0})"))->keeps_everything());
}

TEST(projection, cuts_arrays)
{
    const char* const list = R"({"_id":1,"a":[1,2,3,4],"b":5})";
    const row rows[] = {
        {R"({"a":{"$slice":2}})", list, R"({"_id":1,"a":[1,2],"b":5})"},
        {R"({"a":{"$slice":-1}})", list, R"({"_id":1,"a":[4],"b":5})"},
        {R"({"a":{"$slice":0}})", list, R"({"_id":1,"a":[],"b":5})"},
        {R"({"a":{"$slice":[1,2]}})", list, R"({"_id":1,"a":[2,3],"b":5})"},
        {R"({"a":{"$slice":[-3,2]}})", list, R"({"_id":1,"a":[2,3],"b":5})"},
        {R"({"a":{"$slice":[-9,2]}})", list, R"({"_id":1,"a":[1,2],"b":5})"},
        {R"({"a":{"$slice":[9,2]}})", list, R"({"_id":1,"a":[],"b":5})"},
        {R"({"a":{"$slice":1},"b":1})", R"({"_id":1,"a":[1,2],"b":5,"c":6})",
         R"({"_id":1,"a":[1],"b":5})"},
        {R"({"a":{"$slice":1},"b":0})", R"({"_id":1,"a":[1,2],"b":5,"c":6})",
         R"({"_id":1,"a":[1],"c":6})"},
        {R"({"b":{"$slice":1}})", R"({"b":5})", R"({"b":5})"},
        {R"({"x.a":{"$slice":1}})", R"({"x":{"a":[1,2],"b":1}})", R"({"x":{"a":[1],"b":1}})"},
        {R"({"a":{"$elemMatch":{"x":2}}})", R"({"_id":1,"b":0,"a":[{"x":1},{"x":2},{"x":2}]})",
         R"({"_id":1,"a":[{"x":2}]})"},
        {R"({"a":{"$elemMatch":{"$gt":1}},"b":1})", R"({"_id":1,"a":[1,2,3],"b":5})",
         R"({"_id":1,"b":5,"a":[2]})"},
        {R"({"a":{"$elemMatch":{"$gt":9}}})", R"({"_id":1,"a":[1]})", R"({"_id":1})"},
        {R"({"a":{"$elemMatch":{"$gt":0}}})", R"({"_id":1,"a":5})", R"({"_id":1})"},
    };
    for (const row& r : rows) {
        SCOPED_TRACE(std::string{r.spec} + " on " + r.document);
        const auto made = projection::compile(doc(r.spec));
        ASSERT_TRUE(made) << made.error().message();
        const auto done = made->apply(doc(r.document));
        ASSERT_TRUE(done) << done.error().message();
        EXPECT_EQ(bson::to_json(*done).value(), r.result);
    }
}

TEST(projection, picks_what_the_filter_found)
{
    const struct {
        const char* filter;
        const char* spec;
        const char* document;
        const char* result;
    } rows[] = {
        {R"({"a":2})", R"({"a.$":1})", R"({"_id":1,"a":[1,2,3],"b":1})", R"({"_id":1,"a":[2]})"},
        {R"({"a.x":2})", R"({"a.$":1,"_id":0})", R"({"_id":1,"a":[{"x":1},{"x":2,"y":3}]})",
         R"({"a":[{"x":2,"y":3}]})"},
        {R"({"a":{"$elemMatch":{"x":{"$gt":1}}}})", R"({"a.$":1})",
         R"({"_id":1,"a":[{"x":1},{"x":5}]})", R"({"_id":1,"a":[{"x":5}]})"},
        {R"({"o.a":{"$gte":2}})", R"({"o.a.$":1})", R"({"_id":1,"o":{"a":[1,2,3],"b":1}})",
         R"({"_id":1,"o":{"a":[2]}})"},
        {R"({"a":2})", R"({"a.$":1,"b":1})", R"({"_id":1,"a":[2],"b":1,"c":1})",
         R"({"_id":1,"a":[2],"b":1})"},
    };
    for (const auto& r : rows) {
        SCOPED_TRACE(std::string{r.spec} + " on " + r.document);
        const auto filter = matcher::compile(doc(r.filter));
        const auto made = projection::compile(doc(r.spec), &*filter);
        ASSERT_TRUE(made) << made.error().message();
        const auto done = made->apply(doc(r.document));
        ASSERT_TRUE(done) << done.error().message();
        EXPECT_EQ(bson::to_json(*done).value(), r.result);
    }
    const auto no_filter = projection::compile(doc(R"({"a.$":1})"));
    ASSERT_TRUE(no_filter);
    EXPECT_EQ(no_filter->apply(doc(R"({"a":[1]})")).error().code().value(), 51246);
}

TEST(projection, computes)
{
    const row rows[] = {
        {R"({"x":"$a"})", R"({"_id":1,"a":2})", R"({"_id":1,"x":2})"},
        {R"({"x":{"$add":["$a",1]},"a":1})", R"({"_id":1,"a":2})", R"({"_id":1,"a":2,"x":3})"},
        {R"({"x":"word"})", R"({"_id":1})", R"({"_id":1,"x":"word"})"},
        {R"({"x":"$missing"})", R"({"_id":1})", R"({"_id":1})"},
        {R"({"a":"$b"})", R"({"_id":1,"a":1,"b":2})", R"({"_id":1,"a":2})"},
        {R"({"a.b":"$c"})", R"({"_id":1,"c":2})", R"({"_id":1,"a":{"b":2}})"},
        {R"({"a":{"$slice":["$b",1]}})", R"({"_id":1,"b":[7,8]})", R"({"_id":1,"a":[7]})"},
    };
    for (const row& r : rows) {
        SCOPED_TRACE(std::string{r.spec} + " on " + r.document);
        const auto made = projection::compile(doc(r.spec));
        ASSERT_TRUE(made) << made.error().message();
        const auto done = made->apply(doc(r.document));
        ASSERT_TRUE(done) << done.error().message();
        EXPECT_EQ(bson::to_json(*done).value(), r.result);
    }
}

TEST(projection, refuses_mixtures)
{
    const struct {
        const char* spec;
        int code;
        const char* message;
    } rows[] = {
        {R"({"a":1,"b":0})", 31254, "Cannot do exclusion on field b in inclusion projection"},
        {R"({"a":0,"b":1})", 31253, "Cannot do inclusion on field b in exclusion projection"},
        {R"({"a":{"$nope":1}})", 31325, "Unknown expression $nope"},
        {R"({"a":{"$add":[{"$nope":1}]}})", 168, "Unrecognized expression '$nope'"},
        {R"({"a":1,"a.b":1})", 31249, "Path collision at a.b remaining portion b"},
        {R"({"a.b":1,"a":1})", 31250, "Path collision at a"},
        {R"({"a.$":1,"b.$":1})", 31276,
         "Cannot specify more than one positional projection per query."},
        {R"({"a.$":0})", 31395, "positional projection cannot be used with exclusion"},
        {R"({"b":0,"a.$":1})", 31395, "positional projection cannot be used with exclusion"},
        {R"({"a.$":1,"b":{"$elemMatch":{"c":1}}})", 31255,
         "Cannot specify positional operator and $elemMatch."},
        {R"({"a.b":{"$elemMatch":{"c":1}}})", 31275,
         "Cannot use $elemMatch projection on a nested field."},
        {R"({"a":{"$elemMatch":1}})", 31274, nullptr},
        {R"({"a":{}})", 51270, nullptr},
        {R"({"a":{"$slice":[1,0]}})", 28724,
         "First argument to $slice must be an array, but is of type: int"},
        {R"({"a":{"$slice":"x"}})", 28667, nullptr},
        {R"({"a..b":1})", 15998, nullptr},
        {R"({"":1})", 40352, nullptr},
        {R"({"a.":1})", 40353, nullptr},
        {R"({"$a":1})", 16410, nullptr},
        {R"({"a":{"$meta":"textScore"}})", 2, nullptr},
        {R"({"a":0,"b":{"$add":[1,2]}})", 31252,
         "Cannot use expression other than $meta in exclusion projection"},
        {R"({"a.$.b":1})", 31394, nullptr},
    };
    for (const auto& r : rows) {
        const auto made = projection::compile(doc(r.spec));
        ASSERT_FALSE(made) << r.spec;
        EXPECT_EQ(made.error().code().value(), r.code) << r.spec;
        if (r.message != nullptr) {
            EXPECT_EQ(made.error().message(), r.message);
        }
    }
}

}  // namespace
}  // namespace holdfast::lab::projection_test
