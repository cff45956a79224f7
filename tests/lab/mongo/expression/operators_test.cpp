// tidy: table of expressions and what the manual says of them
#include "lab/mongo/expression/expression_rows.hpp"

namespace holdfast::lab::operators_test {
namespace {

TEST(lab_expression, arrays)
{
    const computed_row rows[] = {
        {R"({"$size": "$a"})", R"({"a": [1, 2]})", "2"},
        {R"({"$arrayElemAt": ["$a", 0]})", R"({"a": [1, 2]})", "1"},
        {R"({"$arrayElemAt": ["$a", -1]})", R"({"a": [1, 2]})", "2"},
        {R"({"$arrayElemAt": ["$a", 5]})", R"({"a": [1, 2]})", ""},
        {R"({"$arrayElemAt": ["$nope", 0]})", "{}", "null"},
        {R"({"$first": "$a"})", R"({"a": [1, 2]})", "1"},
        {R"({"$last": "$a"})", R"({"a": [1, 2]})", "2"},
        {R"({"$first": [[]]})", "{}", ""},
        {R"({"$in": [2, [1, 2, 3]]})", "{}", "true"},
        {R"({"$in": ["abc", ["xyz", "ab"]]})", "{}", "false"},
        {R"({"$concatArrays": [["a"], ["b", ["c"]], []]})", "{}", R"(["a", "b", ["c"]])"},
        {R"({"$concatArrays": [["a"], null]})", "{}", "null"},
        {R"({"$slice": [[1, 2, 3], 2]})", "{}", "[1, 2]"},
        {R"({"$slice": [[1, 2, 3], -2]})", "{}", "[2, 3]"},
        {R"({"$slice": [[1, 2, 3], 1, 1]})", "{}", "[2]"},
        {R"({"$slice": [[1, 2, 3], -2, 5]})", "{}", "[2, 3]"},
        {R"({"$slice": [[1, 2, 3], 15, 2]})", "{}", "[]"},
        {R"({"$slice": [[1, 2, 3], -15, 2]})", "{}", "[1, 2]"},
        {R"({"$filter": {"input": [1, "a", 2, 3], "as": "n", "cond": {"$gt": ["$$n", 1]}}})", "{}",
         R"(["a", 2, 3])"},
        {R"({"$filter": {"input": [1, 2, 3], "cond": true, "limit": 2}})", "{}", "[1, 2]"},
        {R"({"$map": {"input": "$q", "as": "g", "in": {"$add": ["$$g", 2]}}})", R"({"q": [5, 6]})",
         "[7, 8]"},
        {R"({"$map": {"input": [{"a": 1}, {}], "in": "$$this.a"}})", "{}", "[1, null]"},
        {R"({"$map": {"input": null, "in": 1}})", "{}", "null"},
        {R"({"$reduce": {"input": ["a", "b", "c"], "initialValue": "",
             "in": {"$concat": ["$$value", "$$this"]}}})",
         "{}", R"("abc")"},
        {R"({"$range": [0, 10, 3]})", "{}", "[0, 3, 6, 9]"},
        {R"({"$range": [3, 0, -1]})", "{}", "[3, 2, 1]"},
        {R"({"$range": [0, -5]})", "{}", "[]"},
        {R"({"$reverseArray": [[1, [2, 3]]]})", "{}", "[[2, 3], 1]"},
        {R"({"$isArray": [[1]]})", "{}", "true"},
        {R"({"$isArray": "$a"})", R"({"a": 1})", "false"},
        {R"({"$indexOfArray": [["a", "abc", "b"], "b"]})", "{}", "2"},
        {R"({"$indexOfArray": [["a", "abc", "a"], "a", 1]})", "{}", "2"},
        {R"({"$indexOfArray": [[1, 2], 3]})", "{}", "-1"},
        {R"({"$setUnion": [["b", "a", "b"], ["c"]]})", "{}", R"(["a", "b", "c"])"},
        {R"({"$setIntersection": [[1, 2, 2, 3], [3, 2]]})", "{}", "[2, 3]"},
        {R"({"$setDifference": [["a", "b", "a", "c"], ["b"]]})", "{}", R"(["a", "c"])"},
        {R"({"$setEquals": [["a", "b", "a"], ["b", "a"]]})", "{}", "true"},
        {R"({"$setIsSubset": [["a"], ["b", "a"]]})", "{}", "true"},
        {R"({"$anyElementTrue": [[null, false, 0]]})", "{}", "false"},
        {R"({"$allElementsTrue": [[]]})", "{}", "true"},
        {R"({"$zip": {"inputs": [[1, 2, 3], ["a", "b"]]}})", "{}", R"([[1, "a"], [2, "b"]])"},
        {R"({"$zip": {"inputs": [[1, 2], ["a"]], "useLongestLength": true, "defaults": [0, "z"]}})",
         "{}", R"([[1, "a"], [2, "z"]])"},
        {R"({"$sortArray": {"input": [3, 1, "a", 2], "sortBy": 1}})", "{}", R"([1, 2, 3, "a"])"},
        {R"({"$sortArray": {"input": [{"a": {"b": 1}}, {"a": {"b": 2}}], "sortBy": {"a.b": -1}}})",
         "{}", R"([{"a": {"b": 2}}, {"a": {"b": 1}}])"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_expression, objects)
{
    const computed_row rows[] = {
        {R"({"$mergeObjects": [{"a": 1, "b": 1}, null, {"b": 2, "c": 3}]})", "{}",
         R"({"a": 1, "b": 2, "c": 3})"},
        {R"({"$mergeObjects": "$a"})", R"({"a": [{"x": 1}, {"y": 2}]})", R"({"x": 1, "y": 2})"},
        {R"({"$mergeObjects": []})", "{}", "{}"},
        {R"({"$objectToArray": {"a": 1}})", "{}", R"([{"k": "a", "v": 1}])"},
        {R"({"$arrayToObject": [[["item", "abc"], ["qty", 25]]]})", "{}",
         R"({"item": "abc", "qty": 25})"},
        {R"({"$arrayToObject": {"$literal": [{"k": "a", "v": 1}, {"k": "a", "v": 2}]}})", "{}",
         R"({"a": 2})"},
        {R"({"$getField": "a.b"})", R"({"a.b": 4})", "4"},
        {R"({"$getField": {"field": {"$literal": "$p"}, "input": "$x"}})", R"({"x": {"$p": 7}})",
         "7"},
        {R"({"$getField": {"field": "a", "input": 5}})", "{}", ""},
        {R"({"$setField": {"field": "a.b", "input": "$$ROOT", "value": 2}})", R"({"x": 1})",
         R"({"x": 1, "a.b": 2})"},
        {R"({"$setField": {"field": "x", "input": "$$ROOT", "value": "$$REMOVE"}})",
         R"({"x": 1, "y": 2})", R"({"y": 2})"},
        {R"({"$setField": {"field": "x", "input": null, "value": 1}})", "{}", "null"},
        {R"({"$unsetField": {"field": "x", "input": "$$ROOT"}})", R"({"x": 1, "y": 2})",
         R"({"y": 2})"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_expression, strings)
{
    const computed_row rows[] = {
        {R"({"$concat": ["a", "-", "$b"]})", R"({"b": "c"})", R"("a-c")"},
        {R"({"$concat": ["a", null]})", "{}", "null"},
        {R"({"$toUpper": "aé1"})", "{}", R"("Aé1")"},
        {R"({"$toLower": null})", "{}", R"("")"},
        {R"({"$toLower": 12})", "{}", R"("12")"},
        {R"({"$toLower": 123456789.5})", "{}", R"("1.23457e+08")"},
        {R"({"$toUpper": 1e10})", "{}", R"("1E+10")"},
        {R"({"$toLower": 1.5})", "{}", R"("1.5")"},
        {R"({"$substrCP": ["jalapeño", 6, 2]})", "{}", R"("ño")"},
        {R"({"$substrCP": ["abc", 5, 2]})", "{}", R"("")"},
        {R"({"$substrBytes": ["abcde", 1, 2]})", "{}", R"("bc")"},
        {R"({"$substr": ["abcde", 2, -1]})", "{}", R"("cde")"},
        {R"({"$strLenCP": "jalapeño"})", "{}", "8"},
        {R"({"$strLenBytes": "jalapeño"})", "{}", "9"},
        {R"({"$split": ["June-15-2013", "-"]})", "{}", R"(["June", "15", "2013"])"},
        {R"({"$split": ["astronomical", "stro"]})", "{}", R"(["a", "nomical"])"},
        {R"({"$split": ["banana split", "-"]})", "{}", R"(["banana split"])"},
        {R"({"$trim": {"input": "  \n good  bye \t  "}})", "{}", R"("good  bye")"},
        {R"({"$trim": {"input": " ggggoodbyeeeee", "chars": "ge"}})", "{}", R"(" ggggoodby")"},
        {R"({"$ltrim": {"input": "ggggoodbyeeeee", "chars": "ge "}})", "{}", R"("oodbyeeeee")"},
        {R"({"$rtrim": {"input": "abc  "}})", "{}", R"("abc")"},
        {R"({"$indexOfCP": ["cafeteria", "e"]})", "{}", "3"},
        {R"({"$indexOfCP": ["cafétéria", "é", 4]})", "{}", "5"},
        {R"({"$indexOfBytes": ["cafétéria", "t"]})", "{}", "5"},
        {R"({"$indexOfCP": ["foo", "x"]})", "{}", "-1"},
        {R"({"$replaceOne": {"input": "abcabc", "find": "b", "replacement": "x"}})", "{}",
         R"("axcabc")"},
        {R"({"$replaceAll": {"input": "abcabc", "find": "b", "replacement": "xx"}})", "{}",
         R"("axxcaxxc")"},
        {R"({"$replaceAll": {"input": null, "find": "b", "replacement": "x"}})", "{}", "null"},
        {R"({"$strcasecmp": ["Ab", "aB"]})", "{}", "0"},
        {R"({"$strcasecmp": ["a", "b"]})", "{}", "-1"},
        {R"({"$regexMatch": {"input": "line one", "regex": "LINE", "options": "i"}})", "{}",
         "true"},
        {R"({"$regexMatch": {"input": null, "regex": "a"}})", "{}", "false"},
        {R"({"$regexFind": {"input": "éabc", "regex": "(b)(x)?"}})", "{}",
         R"({"match": "b", "idx": 2, "captures": ["b", null]})"},
        {R"({"$regexFind": {"input": "abc", "regex": "z"}})", "{}", "null"},
        {R"({"$regexFindAll": {"input": "aXbX", "regex": "X"}})", "{}",
         R"([{"match": "X", "idx": 1, "captures": []}, {"match": "X", "idx": 3, "captures": []}])"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_expression, types_and_conversions)
{
    const computed_row rows[] = {
        {R"({"$type": "$a"})", R"({"a": 1})", R"("int")"},
        {R"({"$type": "$a"})", "{}", R"("missing")"},
        {R"({"$type": {"$literal": {"$numberDecimal": "1"}}})", "{}", R"("decimal")"},
        {R"({"$toString": 2.5})", "{}", R"("2.5")"},
        {R"({"$toString": 1.0})", "{}", R"("1")"},
        {R"({"$toString": true})", "{}", R"("true")"},
        {R"({"$toString": {"$oid": "5ab9cbfa31c2ab715d42129e"}})", "{}",
         R"("5ab9cbfa31c2ab715d42129e")"},
        {R"({"$toString": {"$date": {"$numberLong": "1522169931538"}}})", "{}",
         R"("2018-03-27T16:58:51.538Z")"},
        {R"({"$toInt": "-2"})", "{}", "-2"},
        {R"({"$toInt": 5.99})", "{}", "5"},
        {R"({"$toInt": null})", "{}", "null"},
        {R"({"$toLong": true})", "{}", R"({"$numberLong": "1"})"},
        {R"({"$toLong": {"$date": {"$numberLong": "7"}}})", "{}", R"({"$numberLong": "7"})"},
        {R"({"$toDouble": "-5.5"})", "{}", "-5.5"},
        {R"({"$toDouble": {"$numberDecimal": "2.50"}})", "{}", "2.5"},
        {R"({"$toDecimal": "2.50"})", "{}", R"({"$numberDecimal": "2.50"})"},
        {R"({"$toBool": "false"})", "{}", "true"},
        {R"({"$toBool": 0})", "{}", "false"},
        {R"({"$toDate": "2018-03-20"})", "{}", R"({"$date": {"$numberLong": "1521504000000"}})"},
        {R"({"$toDate": "2018-03-20T11:00:06Z"})", "{}",
         R"({"$date": {"$numberLong": "1521543606000"}})"},
        {R"({"$toDate": {"$numberLong": "120"}})", "{}", R"({"$date": {"$numberLong": "120"}})"},
        {R"({"$toDate": {"$oid": "5ab9c3da31c2ab715d421285"}})", "{}",
         R"({"$date": {"$numberLong": "1522123738000"}})"},
        {R"({"$toObjectId": "5ab9cbfa31c2ab715d42129e"})", "{}",
         R"({"$oid": "5ab9cbfa31c2ab715d42129e"})"},
        {R"({"$convert": {"input": "x", "to": "int", "onError": "bad"}})", "{}", R"("bad")"},
        {R"({"$convert": {"input": null, "to": 16, "onNull": 0}})", "{}", "0"},
        {R"({"$convert": {"input": "3", "to": 16}})", "{}", "3"},
        {R"({"$isNumber": "$a"})", R"({"a": 1.5})", "true"},
        {R"({"$isNumber": "1"})", "{}", "false"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_expression, dates)
{
    // 2014-01-01T08:15:39.736Z, the date of the manual's examples: a Wednesday.
    const char* const day = R"({"d": {"$date": "2014-01-01T08:15:39.736Z"}})";
    const computed_row rows[] = {
        {R"({"$year": "$d"})", day, "2014"},
        {R"({"$month": "$d"})", day, "1"},
        {R"({"$dayOfMonth": "$d"})", day, "1"},
        {R"({"$hour": "$d"})", day, "8"},
        {R"({"$minute": "$d"})", day, "15"},
        {R"({"$second": "$d"})", day, "39"},
        {R"({"$millisecond": "$d"})", day, "736"},
        {R"({"$dayOfYear": "$d"})", day, "1"},
        {R"({"$dayOfWeek": "$d"})", day, "4"},
        {R"({"$week": "$d"})", day, "0"},
        {R"({"$isoWeek": "$d"})", day, "1"},
        {R"({"$hour": {"date": "$d", "timezone": "+01:00"}})", day, "9"},
        {R"({"$year": null})", day, "null"},
        {R"({"$year": {"$date": {"$numberLong": "-1"}}})", day, "1969"},
        {R"({"$dateToString": {"date": "$d"}})", day, R"("2014-01-01T08:15:39.736Z")"},
        {R"({"$dateToString": {"date": "$d", "format": "%d/%m/%Y %H:%M %j %%"}})", day,
         R"("01/01/2014 08:15 001 %")"},
        {R"({"$dateToString": {"date": "$d", "format": "%H%z", "timezone": "-0500"}})", day,
         R"("03-0500")"},
        {R"({"$dateToString": {"date": null, "onNull": "never"}})", day, R"("never")"},
        {R"({"$dateAdd": {"startDate": {"$date": "2021-01-31T12:00:00Z"}, "unit": "month",
             "amount": 1}})",
         day, R"({"$date": "2021-02-28T12:00:00Z"})"},
        {R"({"$dateAdd": {"startDate": "$d", "unit": "day", "amount": 3}})", day,
         R"({"$date": "2014-01-04T08:15:39.736Z"})"},
        {R"({"$dateSubtract": {"startDate": "$d", "unit": "hour", "amount": 9}})", day,
         R"({"$date": "2013-12-31T23:15:39.736Z"})"},
    };
    for (const auto& row : rows)
        check(row);
}

}  // namespace
}  // namespace holdfast::lab::operators_test
