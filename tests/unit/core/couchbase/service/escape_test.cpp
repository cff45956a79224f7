#include "core/couchbase/service/escape.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::escape_test {
namespace {

TEST(escape, name_of_a_statement_is_quoted_and_its_back_ticks_are_doubled)
{
    EXPECT_EQ(quoted_name("travel-sample"), "`travel-sample`");
    EXPECT_EQ(quoted_name("a`b``"), "`a``b`````");
    EXPECT_EQ(quoted_name(""), "``");
    EXPECT_EQ(quoted_keyspace({.bucket = "b`"}), "`b```");
    EXPECT_EQ(quoted_keyspace({.bucket = "b", .scope = "s", .collection = "c`; DROP"}),
              "`b`.`s`.`c``; DROP`");
}

TEST(escape, query_context_names_bucket_and_scope)
{
    EXPECT_EQ(query_context_of("b", "s"), "default:`b`.`s`");
    EXPECT_EQ(query_context_of("b`", "s"), "default:`b```.`s`");
    EXPECT_EQ(query_context_of("b", ""), "");
    EXPECT_EQ(query_context_of("", ""), "");
}

TEST(escape, form_is_escaped_on_both_sides)
{
    EXPECT_EQ(form_text{}.text(), "");
    EXPECT_TRUE(form_text{}.empty());
    form_text form;
    form.add("name", "a&b=c d+").add("ram", 100).add("on", true).add("k&", "").add("n", -1);
    EXPECT_EQ(form.text(), "name=a%26b%3Dc%20d%2B&ram=100&on=true&k%26=&n=-1");
}

}  // namespace
}  // namespace holdfast::core::couchbase::escape_test
