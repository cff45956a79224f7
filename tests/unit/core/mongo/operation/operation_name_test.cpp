#include "core/mongo/operation/operation_name.hpp"

#include "holdfast/bson.hpp"
#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::operation_name_test {
namespace {

command a_command(const char* body)
{
    command made;
    made.database = "shop";
    made.body = command_message{json(body)};
    return made;
}

error duplicate()
{
    return error{error_code{11000, server_category()}, "E11000 duplicate key"};
}

TEST(operation_name, error_begins_with_the_operation_and_its_namespace)
{
    struct row {
        const char* command;
        const char* summary;
    };
    const row table[] = {
        {R"({"insert": "orders"})", "insert into shop.orders: E11000 duplicate key"},
        {R"({"delete": "orders"})", "delete from shop.orders: E11000 duplicate key"},
        {R"({"find": "orders"})", "find in shop.orders: E11000 duplicate key"},
        {R"({"getMore": 7, "collection": "orders"})",
         "getMore in shop.orders: E11000 duplicate key"},
        {R"({"aggregate": 1})", "aggregate in shop: E11000 duplicate key"},
        {R"({"createUser": "ada"})", "createUser in shop: E11000 duplicate key"},
        {R"({"renameCollection": "lake.orders", "to": "lake.old"})",
         "renameCollection in lake.orders: E11000 duplicate key"},
    };
    for (const row& r : table)
        EXPECT_EQ(with_operation(duplicate(), a_command(r.command)).summary(), r.summary);
}

TEST(operation_name, explanation_has_it_in_the_first_line_alone)
{
    const error why = with_operation(duplicate(), a_command(R"({"insert": "orders"})"));
    EXPECT_EQ(why.explain(),
              "insert into shop.orders: E11000 duplicate key\n"
              "  code: mongo.server:11000 DuplicateKey");
    EXPECT_EQ(why.message(), "E11000 duplicate key") << "the server's text alone";
    EXPECT_EQ(why.context("namespace"), "shop.orders");
    EXPECT_STREQ(failure{why}.what(), "insert into shop.orders: E11000 duplicate key");
}

TEST(operation_name, operation_without_a_command_is_named_by_its_space)
{
    operation_space in;
    in.database = "shop";
    EXPECT_EQ(with_operation(duplicate(), "dropDatabase", in).summary(),
              "dropDatabase in shop: E11000 duplicate key");
    in.collection = "orders";
    const error why = with_operation(duplicate(), "insert", in);
    EXPECT_EQ(why.summary(), "insert into shop.orders: E11000 duplicate key");
    EXPECT_EQ(why.context("namespace"), "shop.orders");
    EXPECT_EQ(with_operation(why, "find", std::string{"a.b"}).summary(), why.summary());
}

TEST(operation_name, error_that_has_an_operation_keeps_it)
{
    const error first = with_operation(duplicate(), a_command(R"({"insert": "orders"})"));
    const error second = with_operation(first, a_command(R"({"find": "others"})"));
    EXPECT_EQ(second.context("operation"), "insert into shop.orders");
}

}  // namespace
}  // namespace holdfast::core::mongo::operation_name_test
