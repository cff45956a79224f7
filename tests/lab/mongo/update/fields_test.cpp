#include "lab/mongo/update/update_row.hpp"

namespace holdfast::lab::fields_test {
namespace {

TEST(lab_update, sets_and_unsets)
{
    expect_rows({
        {R"({"_id":1,"a":1})", R"({"$set":{"a":2}})", R"({"_id":1,"a":2})"},
        {R"({"_id":1,"a":1})", R"({"$set":{"b":2}})", R"({"_id":1,"a":1,"b":2})"},
        {R"({"_id":1,"a":1})", R"({"$set":{}})", R"({"_id":1,"a":1})"},
        {R"({"_id":1,"a":1,"b":2})", R"({"$set":{"a":"x"}})", R"({"_id":1,"a":"x","b":2})"},
        // New fields come in the order of their names, numbers among them by value.
        {R"({"_id":1})", R"({"$set":{"c":1,"a":2,"b":3}})", R"({"_id":1,"a":2,"b":3,"c":1})"},
        {R"({"_id":1})", R"({"$set":{"10":1,"9":2}})", R"({"_id":1,"9":2,"10":1})"},
        {R"({"_id":1})", R"({"$set":{"b":1},"$inc":{"a":1}})", R"({"_id":1,"a":1,"b":1})"},
        {R"({"_id":1})", R"({"$set":{"a.b.c":1}})", R"({"_id":1,"a":{"b":{"c":1}}})"},
        {R"({"_id":1,"a":{"x":1}})", R"({"$set":{"a.b":2}})", R"({"_id":1,"a":{"x":1,"b":2}})"},
        {R"({"_id":1,"a":{"x":1}})", R"({"$set":{"a":{}}})", R"({"_id":1,"a":{}})"},
        {R"({"_id":1})", R"({"$set":{"a.0":1}})", R"({"_id":1,"a":{"0":1}})"},
        {R"({"_id":1,"a":[1,2,3]})", R"({"$set":{"a.1":9}})", R"({"_id":1,"a":[1,9,3]})"},
        {R"({"_id":1,"a":[1]})", R"({"$set":{"a.3":9}})", R"({"_id":1,"a":[1,null,null,9]})"},
        {R"({"_id":1,"a":[]})", R"({"$set":{"a.0.b":9}})", R"({"_id":1,"a":[{"b":9}]})"},
        {R"({"_id":1,"a":[{"b":1},{"b":2}]})", R"({"$set":{"a.1.b":9,"a.3.b":7}})",
         R"({"_id":1,"a":[{"b":1},{"b":9},null,{"b":7}]})"},
        {R"({"_id":1,"a":1})", R"({"$set":{"_id":1}})", R"({"_id":1,"a":1})"},
        {R"({"_id":1,"a":1,"b":2})", R"({"$unset":{"a":""}})", R"({"_id":1,"b":2})"},
        {R"({"_id":1,"a":1})", R"({"$unset":{"x.y":1}})", R"({"_id":1,"a":1})"},
        {R"({"_id":1,"a":1})", R"({"$unset":{"a.b":1}})", R"({"_id":1,"a":1})"},
        {R"({"_id":1,"a":{"b":1,"c":2}})", R"({"$unset":{"a.b":1}})", R"({"_id":1,"a":{"c":2}})"},
        {R"({"_id":1,"a":{"b":1}})", R"({"$unset":{"a.b":1}})", R"({"_id":1,"a":{}})"},
        {R"({"_id":1,"a":[1,2,3]})", R"({"$unset":{"a.1":1}})", R"({"_id":1,"a":[1,null,3]})"},
        {R"({"_id":1,"a":[1]})", R"({"$unset":{"a.2000000":1}})", R"({"_id":1,"a":[1]})"},
        {R"({"_id":1,"a":[1]})", R"({"$unset":{"a.3":1}})", R"({"_id":1,"a":[1]})"},
        {R"({"_id":1,"a":[]})", R"({"$set":{"a.1":1,"a.3":3}})",
         R"({"_id":1,"a":[null,1,null,3]})"},
        {R"({"_id":1,"a":1})", R"({"$setOnInsert":{"b":1}})", R"({"_id":1,"a":1})"},
        {R"({"_id":1,"a":1})", R"({"$setOnInsert":{"a.b":1}})", R"({"_id":1,"a":1})"},
        {R"({"_id":1})", R"({"$set":{"a":{"$x":1}}})", R"({"_id":1,"a":{"$x":1}})"},
        {R"({"_id":1,"a":{}})", R"({"$set":{"a.$id":1}})", R"({"_id":1,"a":{"$id":1}})"},
        {R"({"_id":1})", R"({"$set":{"a.b":1,"a.c":2},"$unset":{"a.d":1}})",
         R"({"_id":1,"a":{"b":1,"c":2}})"},
    });
}

TEST(lab_update, computes_with_numbers)
{
    expect_rows({
        {R"({"_id":1,"a":1})", R"({"$inc":{"a":2}})", R"({"_id":1,"a":3})"},
        {R"({"_id":1,"a":1})", R"({"$inc":{"a":-2}})", R"({"_id":1,"a":-1})"},
        {R"({"_id":1})", R"({"$inc":{"a.b":2}})", R"({"_id":1,"a":{"b":2}})"},
        {R"({"_id":1,"a":2147483647})", R"({"$inc":{"a":1}})",
         R"({"_id":1,"a":{"$numberLong":"2147483648"}})"},
        {R"({"_id":1,"a":{"$numberLong":"1"}})", R"({"$inc":{"a":1}})",
         R"({"_id":1,"a":{"$numberLong":"2"}})"},
        {R"({"_id":1,"a":1})", R"({"$inc":{"a":{"$numberLong":"1"}}})",
         R"({"_id":1,"a":{"$numberLong":"2"}})"},
        {R"({"_id":1,"a":1})", R"({"$inc":{"a":0.5}})", R"({"_id":1,"a":1.5})"},
        {R"({"_id":1,"a":1.5})", R"({"$inc":{"a":1}})", R"({"_id":1,"a":2.5})"},
        {R"({"_id":1,"a":{"$numberDecimal":"1.50"}})", R"({"$inc":{"a":1}})",
         R"({"_id":1,"a":{"$numberDecimal":"2.50"}})"},
        {R"({"_id":1,"a":{"$numberDecimal":"0.1"}})", R"({"$inc":{"a":{"$numberDecimal":"-0.3"}}})",
         R"({"_id":1,"a":{"$numberDecimal":"-0.2"}})"},
        {R"({"_id":1,"a":{"$numberDecimal":"9999999999999999999999999999999999"}})",
         R"({"$inc":{"a":1}})",
         R"({"_id":1,"a":{"$numberDecimal":"1.000000000000000000000000000000000E+34"}})"},
        {R"({"_id":1,"a":{"$numberDecimal":"1E+6000"}})", R"({"$inc":{"a":1}})",
         R"({"_id":1,"a":{"$numberDecimal":"1.000000000000000000000000000000000E+6000"}})"},
        {R"({"_id":1,"a":{"$numberDecimal":"1.5"}})", R"({"$mul":{"a":{"$numberDecimal":"-2"}}})",
         R"({"_id":1,"a":{"$numberDecimal":"-3.0"}})"},
        {R"({"_id":1,"a":{"$numberDecimal":"9E+6144"}})", R"({"$mul":{"a":10}})",
         R"({"_id":1,"a":{"$numberDecimal":"Infinity"}})"},
        {R"({"_id":1,"a":{"$numberDecimal":"Infinity"}})",
         R"({"$inc":{"a":{"$numberDecimal":"-Infinity"}}})",
         R"({"_id":1,"a":{"$numberDecimal":"NaN"}})"},
        {R"({"_id":1,"a":3})", R"({"$mul":{"a":4}})", R"({"_id":1,"a":12})"},
        {R"({"_id":1,"a":3})", R"({"$mul":{"a":0.5}})", R"({"_id":1,"a":1.5})"},
        {R"({"_id":1,"a":65536})", R"({"$mul":{"a":65536}})",
         R"({"_id":1,"a":{"$numberLong":"4294967296"}})"},
        {R"({"_id":1})", R"({"$mul":{"a":5}})", R"({"_id":1,"a":0})"},
        {R"({"_id":1})", R"({"$mul":{"a":{"$numberLong":"5"}}})",
         R"({"_id":1,"a":{"$numberLong":"0"}})"},
        {R"({"_id":1})", R"({"$mul":{"a":1.5}})", R"({"_id":1,"a":0.0})"},
        {R"({"_id":1})", R"({"$mul":{"a":{"$numberDecimal":"0.5"}}})",
         R"({"_id":1,"a":{"$numberDecimal":"0.0"}})"},
        {R"({"_id":1,"a":{"$numberLong":"9223372036854775807"}})", R"({"$inc":{"a":1}})",
         "2: Failed to apply $inc operations to current value "
         "((NumberLong)9223372036854775807) for document {_id: 1}"},
        {R"({"_id":1,"a":{"$numberLong":"9223372036854775807"}})", R"({"$mul":{"a":2}})",
         "2: Failed to apply $mul operations to current value "
         "((NumberLong)9223372036854775807) for document {_id: 1}"},
        {R"({"_id":1,"a":"x"})", R"({"$inc":{"a":1}})",
         "14: Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of "
         "non-numeric type string"},
        {R"({"_id":"k","a":null})", R"({"$mul":{"a":1}})",
         "14: Cannot apply $mul to a value of non-numeric type. {_id: \"k\"} has the field 'a' of "
         "non-numeric type null"},
        {R"({"_id":1})", R"({"$inc":{"a":"x"}})",
         "14: Cannot increment with non-numeric argument: {a: \"x\"}"},
        {R"({"_id":1})", R"({"$mul":{"a":"x"}})",
         "14: Cannot multiply with non-numeric argument: {a: \"x\"}"},
        {R"({"_id":1,"a":13})", R"({"$bit":{"a":{"and":10}}})", R"({"_id":1,"a":8})"},
        {R"({"_id":1,"a":3})", R"({"$bit":{"a":{"or":5}}})", R"({"_id":1,"a":7})"},
        {R"({"_id":1,"a":1})", R"({"$bit":{"a":{"xor":5}}})", R"({"_id":1,"a":4})"},
        {R"({"_id":1,"a":1})", R"({"$bit":{"a":{"or":{"$numberLong":"2"}}}})",
         R"({"_id":1,"a":{"$numberLong":"3"}})"},
        {R"({"_id":1})", R"({"$bit":{"a":{"or":5}}})", R"({"_id":1,"a":5})"},
        {R"({"_id":1,"a":1.5})", R"({"$bit":{"a":{"or":5}}})",
         "2: Cannot apply $bit to a value of non-integral type._id: 1 has the field a of "
         "non-integer type double"},
        {R"({"_id":1})", R"({"$bit":{"a":{"not":5}}})",
         "9: The $bit modifier only supports 'and', 'or', and 'xor', not 'not' which is an unknown "
         "operator: {not: 5}"},
        {R"({"_id":1})", R"({"$bit":{"a":{"or":1.5}}})",
         "9: The $bit modifier field must be an Integer(32/64 bit); a 'double' is not supported "
         "here: {or: 1.5}"},
    });
}

TEST(lab_update, min_and_max_keep_the_smaller_or_greater_value)
{
    expect_rows({
        {R"({"_id":1,"a":5})", R"({"$min":{"a":3}})", R"({"_id":1,"a":3})"},
        {R"({"_id":1,"a":5})", R"({"$min":{"a":7}})", R"({"_id":1,"a":5})"},
        {R"({"_id":1,"a":5})", R"({"$max":{"a":7}})", R"({"_id":1,"a":7})"},
        {R"({"_id":1,"a":5})", R"({"$max":{"a":3}})", R"({"_id":1,"a":5})"},
        {R"({"_id":1,"a":5})", R"({"$max":{"a":5.0}})", R"({"_id":1,"a":5})"},
        {R"({"_id":1})", R"({"$min":{"a":3}})", R"({"_id":1,"a":3})"},
        {R"({"_id":1})", R"({"$max":{"a.b":3}})", R"({"_id":1,"a":{"b":3}})"},
        // Across types by the order of BSON: null, numbers, text.
        {R"({"_id":1,"a":"x"})", R"({"$max":{"a":100}})", R"({"_id":1,"a":"x"})"},
        {R"({"_id":1,"a":5})", R"({"$min":{"a":null}})", R"({"_id":1,"a":null})"},
    });
}

TEST(lab_update, renames)
{
    expect_rows({
        {R"({"_id":1,"a":1,"z":2})", R"({"$rename":{"a":"b"}})", R"({"_id":1,"z":2,"b":1})"},
        {R"({"_id":1,"a":1,"b":2})", R"({"$rename":{"a":"b"}})", R"({"_id":1,"b":1})"},
        {R"({"_id":1,"b":2})", R"({"$rename":{"a":"b"}})", R"({"_id":1,"b":2})"},
        {R"({"_id":1,"a":{"x":1,"y":2}})", R"({"$rename":{"a.x":"b.c"}})",
         R"({"_id":1,"a":{"y":2},"b":{"c":1}})"},
        {R"({"_id":1,"a":1,"b":2})", R"({"$rename":{"a":"c","b":"d"}})",
         R"({"_id":1,"c":1,"d":2})"},
        {R"({"_id":1,"a":1})", R"({"$rename":{"a":"a"}})",
         "2: The source and target field for $rename must differ: a: \"a\""},
        {R"({"_id":1,"a":1})", R"({"$rename":{"a":"a.b"}})",
         "2: The source and target field for $rename must not be on the same path: a: \"a.b\""},
        {R"({"_id":1,"a":1})", R"({"$rename":{"a":5}})",
         "2: The 'to' field for $rename must be a string: a: 5"},
        {R"({"_id":1,"a":[1]})", R"({"$rename":{"a.0":"b"}})",
         "2: The source field cannot be an array element, 'a.0' in doc with _id: 1 has an array "
         "field called 'a'"},
        {R"({"_id":1,"a":1,"b":[1]})", R"({"$rename":{"a":"b.0"}})",
         "2: The destination field cannot be an array element, 'b.0' in doc with _id: 1 has an "
         "array field called 'b'"},
        {R"({"_id":1,"a":1,"b":2})", R"({"$rename":{"a":"b.c"}})",
         "28: Cannot create field 'c' in element {b: 2}"},
        {R"({"_id":1,"b":2})", R"({"$rename":{"a":"b.c"}})", R"({"_id":1,"b":2})"},
        {R"({"_id":1,"a":1})", R"({"$rename":{"a":"b"},"$set":{"b":1}})",
         "40: Updating the path 'b' would create a conflict at 'b'"},
        {R"({"_id":1,"a":1})", R"({"$rename":{"a.$[]":"b"}})",
         "2: The source field for $rename may not be dynamic: a.$[]"},
        {R"({"_id":1,"a":1})", R"({"$rename":{"a":"b.$"}})",
         "2: The destination field for $rename may not be dynamic: b.$"},
    });
}

TEST(lab_update, current_date_writes_the_given_time)
{
    expression_context context;
    context.now = bson::datetime{std::chrono::milliseconds{1500}};
    context.cluster_time = {7, 3};
    const auto change = wrapped(
        R"({"$currentDate":{"a":true,"b":{"$type":"timestamp"},"c":{"$type":"date"}}})");
    const auto made = update::compile({change["u"]}, {}, context);
    ASSERT_TRUE(made);
    const auto done = made->apply(json(R"({"_id":1})"), {});
    ASSERT_TRUE(done);
    EXPECT_EQ(canonical(done->document),
              canonical(json(R"({"_id":1,"a":{"$date":{"$numberLong":"1500"}},
                                 "b":{"$timestamp":{"t":7,"i":3}},
                                 "c":{"$date":{"$numberLong":"1500"}}})")));
    expect_rows({
        {R"({"_id":1})", R"({"$currentDate":{"a":"x"}})",
         "2: string is not valid type for $currentDate. Please use a boolean ('true') or a $type "
         "expression ({$type: 'timestamp/date'})."},
        {R"({"_id":1})", R"({"$currentDate":{"a":{"$type":"x"}}})",
         "2: The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: "
         "{field : {$type: 'date'}}}"},
        {R"({"_id":1})", R"({"$currentDate":{"a":{"x":1}}})",
         "2: Unrecognized $currentDate option: x"},
    });
}

}  // namespace
}  // namespace holdfast::lab::fields_test
