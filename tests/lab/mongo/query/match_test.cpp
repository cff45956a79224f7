// tidy: table of filters and of documents that they match, or do not
#include "holdfast/bson/json.hpp"
#include "lab/mongo/query/matcher.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab::match_test {
namespace {

struct row {
    const char* filter;
    const char* document;
    bool matches;
};

void check(const row& r, const std::optional<collation>& by = {})
{
    SCOPED_TRACE(std::string{r.filter} + " on " + r.document);
    const auto filter = bson::from_json(r.filter);
    const auto document = bson::from_json(r.document);
    ASSERT_TRUE(filter) << filter.error().message();
    ASSERT_TRUE(document) << document.error().message();
    const auto made = matcher::compile(*filter, by);
    ASSERT_TRUE(made) << made.error().message();
    const auto yes = made->matches(*document);
    ASSERT_TRUE(yes) << yes.error().message();
    EXPECT_EQ(*yes, r.matches);
}

TEST(match, equality)
{
    const row rows[] = {
        {R"({})", R"({"a":1})", true},
        {R"({"a":1})", R"({"a":1})", true},
        {R"({"a":1})", R"({"a":2})", false},
        {R"({"a":1})", R"({"b":1})", false},
        {R"({"a":1})", R"({"a":1.0})", true},
        {R"({"a":1})", R"({"a":{"$numberLong":"1"}})", true},
        {R"({"a":1})", R"({"a":{"$numberDecimal":"1.00"}})", true},
        {R"({"a":0.1})", R"({"a":{"$numberDecimal":"0.1"}})", false},
        {R"({"a":0.5})", R"({"a":{"$numberDecimal":"0.5"}})", true},
        {R"({"a":1})", R"({"a":"1"})", false},
        {R"({"a":1})", R"({"a":true})", false},
        {R"({"a":{"$numberLong":"9007199254740993"}})", R"({"a":9007199254740992.0})", false},
        {R"({"a":{"$numberDouble":"NaN"}})", R"({"a":{"$numberDouble":"NaN"}})", true},
        {R"({"a":{"$numberDouble":"NaN"}})", R"({"a":{"$numberDecimal":"NaN"}})", true},
        {R"({"a":{"$numberDouble":"NaN"}})", R"({"a":0})", false},
        {R"({"a":0})", R"({"a":{"$numberDouble":"-0.0"}})", true},
        {R"({"a":"x"})", R"({"a":"x"})", true},
        {R"({"a":"x"})", R"({"a":"X"})", false},
        {R"({"a":"x"})", R"({"a":"xy"})", false},
        {R"({"a":""})", R"({"a":""})", true},
        {R"({"a":1,"b":2})", R"({"b":2,"a":1})", true},
        {R"({"a":1,"b":2})", R"({"a":1})", false},
        {R"({"a":{"b":1}})", R"({"a":{"b":1}})", true},
        {R"({"a":{"b":1}})", R"({"a":{"b":1,"c":1}})", false},
        {R"({"a":{"b":1,"c":2}})", R"({"a":{"c":2,"b":1}})", false},
        {R"({"a":{}})", R"({"a":{}})", true},
        {R"({"a":{}})", R"({"a":{"b":1}})", false},
        {R"({"a":{"$eq":1}})", R"({"a":1})", true},
        {R"({"a":{"$eq":{"b":1}}})", R"({"a":{"b":1}})", true},
        {R"({"a":{"$ref":"c","$id":1}})", R"({"a":{"$ref":"c","$id":1}})", true},
        {R"({"a.$id":1})", R"({"a":{"$ref":"c","$id":1}})", true},
        {R"({"_id":{"$oid":"64b64c1e2f8fb814c56fa181"}})",
         R"({"_id":{"$oid":"64b64c1e2f8fb814c56fa181"}})", true},
        {R"({"a":{"$minKey":1}})", R"({"a":{"$minKey":1}})", true},
        {R"({"a":{"$minKey":1}})", R"({"a":1})", false},
        {R"({"":1})", R"({"":1})", true},
    };
    for (const row& r : rows)
        check(r);
}

TEST(match, null_and_missing)
{
    const row rows[] = {
        {R"({"a":null})", R"({"a":null})", true},
        {R"({"a":null})", R"({})", true},
        {R"({"a":null})", R"({"a":0})", false},
        {R"({"a":null})", R"({"a":[]})", false},
        {R"({"a":null})", R"({"a":[1,null]})", true},
        {R"({"a":null})", R"({"a":{"$undefined":true}})", false},
        {R"({"a.b":null})", R"({"a":{}})", true},
        {R"({"a.b":null})", R"({"a":1})", true},
        {R"({"a.b":null})", R"({})", true},
        {R"({"a.b":null})", R"({"a":[]})", false},
        {R"({"a.b":null})", R"({"a":[1]})", false},
        {R"({"a.b":null})", R"({"a":[{"b":1},{}]})", true},
        {R"({"a.b":null})", R"({"a":[{"b":1}]})", false},
        {R"({"a":{"$ne":null}})", R"({"a":1})", true},
        {R"({"a":{"$ne":null}})", R"({})", false},
        {R"({"a":{"$gte":null}})", R"({})", true},
        {R"({"a":{"$lte":null}})", R"({"a":null})", true},
        {R"({"a":{"$gt":null}})", R"({"a":1})", false},
        {R"({"a":{"$in":[null]}})", R"({})", true},
        {R"({"a":{"$in":[1,null]}})", R"({"a":2})", false},
        {R"({"a":{"$nin":[null]}})", R"({})", false},
        {R"({"a":{"$exists":true}})", R"({"a":null})", true},
        {R"({"a":{"$exists":true}})", R"({})", false},
        {R"({"a":{"$exists":false}})", R"({})", true},
        {R"({"a":{"$exists":0}})", R"({"a":1})", false},
        {R"({"a":{"$exists":1}})", R"({"a":[]})", true},
        {R"({"a.b":{"$exists":false}})", R"({"a":[1]})", true},
        {R"({"a.b":{"$exists":true}})", R"({"a":[{},{"b":null}]})", true},
        {R"({"a.1":{"$exists":true}})", R"({"a":[1]})", false},
        {R"({"a.1":{"$exists":true}})", R"({"a":[1,2]})", true},
    };
    for (const row& r : rows)
        check(r);
}

TEST(match, arrays_and_paths)
{
    const row rows[] = {
        {R"({"a":1})", R"({"a":[2,1]})", true},
        {R"({"a":1})", R"({"a":[2]})", false},
        {R"({"a":1})", R"({"a":[[1]]})", false},
        {R"({"a":[1,2]})", R"({"a":[1,2]})", true},
        {R"({"a":[1,2]})", R"({"a":[2,1]})", false},
        {R"({"a":[1,2]})", R"({"a":[[1,2],3]})", true},
        {R"({"a":[]})", R"({"a":[]})", true},
        {R"({"a":{"b":1}})", R"({"a":[{"b":1}]})", true},
        {R"({"a.b":1})", R"({"a":{"b":1}})", true},
        {R"({"a.b":1})", R"({"a":{"b":[0,1]}})", true},
        {R"({"a.b":1})", R"({"a":[{"b":2},{"b":1}]})", true},
        {R"({"a.b":1})", R"({"a":[[{"b":1}]]})", false},
        {R"({"a.b":1})", R"({"a.b":1})", false},
        {R"({"a.b.c":1})", R"({"a":[{"b":[{"c":0},{"c":1}]}]})", true},
        {R"({"a.0":1})", R"({"a":[1,2]})", true},
        {R"({"a.0":2})", R"({"a":[1,2]})", false},
        {R"({"a.0":1})", R"({"a":{"0":1}})", true},
        {R"({"a.0":1})", R"({"a":[{"0":1}]})", true},
        {R"({"a.00":1})", R"({"a":[1]})", false},
        {R"({"a.0.b":1})", R"({"a":[{"b":1},{"b":2}]})", true},
        {R"({"a.0.b":2})", R"({"a":[{"b":1},{"b":2}]})", false},
        {R"({"a.0.1":2})", R"({"a":[[1,2]]})", true},
        {R"({"a.b.1":5})", R"({"a":{"b":[4,5]}})", true},
        {R"({"a.b.1.c":5})", R"({"a":{"b":[4,{"c":5}]}})", true},
        {R"({"a.-1":1})", R"({"a":[1]})", false},
        {R"({"a":{"$gt":1,"$lt":3}})", R"({"a":[0,5]})", true},  // each by another element
        {R"({"a":{"$ne":1}})", R"({"a":[1,2]})", false},
        {R"({"a":{"$ne":3}})", R"({"a":[1,2]})", true},
        {R"({"a":{"$nin":[2,9]}})", R"({"a":[1,2]})", false},
        {R"({"a":{"$gt":[1]}})", R"({"a":[1,0]})", true},
    };
    for (const row& r : rows)
        check(r);
}

TEST(match, order_and_types)
{
    const row rows[] = {
        {R"({"a":{"$gt":1}})", R"({"a":2})", true},
        {R"({"a":{"$gt":1}})", R"({"a":1})", false},
        {R"({"a":{"$gt":1}})", R"({"a":1.5})", true},
        {R"({"a":{"$gt":1}})", R"({"a":"2"})", false},
        {R"({"a":{"$gt":1}})", R"({})", false},
        {R"({"a":{"$gte":1}})", R"({"a":1.0})", true},
        {R"({"a":{"$lt":1}})", R"({"a":0})", true},
        {R"({"a":{"$lt":1}})", R"({"a":true})", false},
        {R"({"a":{"$lte":1}})", R"({"a":{"$numberDecimal":"1"}})", true},
        {R"({"a":{"$lt":{"$numberDecimal":"0.2"}}})", R"({"a":0.2})", false},
        {R"({"a":{"$gt":{"$numberDecimal":"0.2"}}})", R"({"a":0.2})", true},
        {R"({"a":{"$gt":{"$numberLong":"9223372036854775807"}}})", R"({"a":1e300})", true},
        {R"({"a":{"$lt":0}})", R"({"a":{"$numberDouble":"NaN"}})", false},
        {R"({"a":{"$gte":{"$numberDouble":"NaN"}}})", R"({"a":{"$numberDouble":"NaN"}})", true},
        {R"({"a":{"$lt":{"$numberDouble":"Infinity"}}})", R"({"a":1})", true},
        {R"({"a":{"$gt":"a"}})", R"({"a":"b"})", true},
        {R"({"a":{"$gt":"a"}})", R"({"a":1})", false},
        {R"({"a":{"$gte":{"$date":"2020-01-01T00:00:00Z"}}})",
         R"({"a":{"$date":"2021-01-01T00:00:00Z"}})", true},
        {R"({"a":{"$lt":{"$date":"2020-01-01T00:00:00Z"}}})",
         R"({"a":{"$timestamp":{"t":1,"i":1}}})", false},
        {R"({"a":{"$gt":false}})", R"({"a":true})", true},
        {R"({"a":{"$gt":{"b":1}}})", R"({"a":{"b":2}})", true},
        {R"({"a":{"$lt":{"$maxKey":1}}})", R"({"a":"x"})", true},
        {R"({"a":{"$gt":{"$minKey":1}}})", R"({"a":null})", true},
        {R"({"a":{"$gt":{"$maxKey":1}}})", R"({"a":1})", false},
        {R"({"a":{"$gt":1,"$lt":3}})", R"({"a":2})", true},
        {R"({"a":{"$gt":1,"$lt":3}})", R"({"a":3})", false},
        {R"({"a":{"$in":[1,2]}})", R"({"a":2.0})", true},
        {R"({"a":{"$in":[1,2]}})", R"({"a":3})", false},
        {R"({"a":{"$in":[]}})", R"({"a":1})", false},
        {R"({"a":{"$in":[[1,2]]}})", R"({"a":[1,2]})", true},
        {R"({"a":{"$in":["x",{"$regularExpression":{"pattern":"^y","options":""}}]}})",
         R"({"a":"yes"})", true},
        {R"({"a":{"$nin":["x",{"$regularExpression":{"pattern":"^y","options":""}}]}})",
         R"({"a":"yes"})", false},
        {R"({"a":{"$nin":[1]}})", R"({})", true},
        {R"({"a":{"$type":"string"}})", R"({"a":"x"})", true},
        {R"({"a":{"$type":2}})", R"({"a":"x"})", true},
        {R"({"a":{"$type":"number"}})", R"({"a":{"$numberDecimal":"1"}})", true},
        {R"({"a":{"$type":"number"}})", R"({"a":"1"})", false},
        {R"({"a":{"$type":"null"}})", R"({"a":null})", true},
        {R"({"a":{"$type":"null"}})", R"({})", false},
        {R"({"a":{"$type":"array"}})", R"({"a":[]})", true},
        {R"({"a":{"$type":"int"}})", R"({"a":["x",1]})", true},
        {R"({"a":{"$type":["bool","long"]}})", R"({"a":{"$numberLong":"1"}})", true},
        {R"({"a":{"$type":["bool",16]}})", R"({"a":1.5})", false},
        {R"({"a":{"$type":-1}})", R"({"a":{"$minKey":1}})", true},
        {R"({"a":{"$type":"maxKey"}})", R"({"a":{"$maxKey":1}})", true},
        {R"({"a":{"$type":"undefined"}})", R"({"a":{"$maxKey":1}})", false},
    };
    for (const row& r : rows)
        check(r);
}

TEST(match, text_and_numbers)
{
    const row rows[] = {
        {R"({"a":{"$regularExpression":{"pattern":"b+","options":""}}})", R"({"a":"abbc"})", true},
        {R"({"a":{"$regularExpression":{"pattern":"^b","options":""}}})", R"({"a":"abc"})", false},
        {R"({"a":{"$regularExpression":{"pattern":"B","options":"i"}}})", R"({"a":"abc"})", true},
        {R"({"a":{"$regularExpression":{"pattern":"b","options":""}}})", R"({"a":5})", false},
        {R"({"a":{"$regularExpression":{"pattern":"b","options":""}}})",
         R"({"a":{"$regularExpression":{"pattern":"b","options":""}}})", true},
        {R"({"a":{"$regularExpression":{"pattern":"b","options":""}}})", R"({"a":["x","b"]})",
         true},
        {R"({"a":{"$eq":{"$regularExpression":{"pattern":"b","options":""}}}})", R"({"a":"b"})",
         false},
        {R"({"a":{"$regex":"^x.z$","$options":"s","$exists":true}})", R"({"a":"x\nz"})", true},
        {R"({"a":{"$options":"i","$regex":"ABC","$exists":true}})", R"({"a":"abc"})", true},
        {R"({"a":{"$regex":"^z","$options":"m","$exists":true}})", R"({"a":"x\nz"})", true},
        {R"({"a":{"$regex":"a b # c","$options":"x","$exists":true}})", R"({"a":"ab"})", true},
        {R"({"a":{"$exists":true,"$regex":"^.$"}})", R"({"a":"ü"})", true},
        {R"({"a":{"$exists":true,"$regex":"Ü","$options":"i"}})", R"({"a":"ü"})", true},
        {R"({"a":{"$exists":true,"$regex":""}})", R"({"a":""})", true},
        {R"({"a":{"$not":{"$regularExpression":{"pattern":"b","options":""}}}})", R"({"a":"c"})",
         true},
        {R"({"a":{"$not":{"$regularExpression":{"pattern":"b","options":""}}}})", R"({})", true},
        {R"({"a":{"$mod":[4,0]}})", R"({"a":8})", true},
        {R"({"a":{"$mod":[4,0]}})", R"({"a":9})", false},
        {R"({"a":{"$mod":[4,1]}})", R"({"a":9.7})", true},
        {R"({"a":{"$mod":[4,-1]}})", R"({"a":-5})", true},
        {R"({"a":{"$mod":[4.9,1]}})", R"({"a":5})", true},
        {R"({"a":{"$mod":[-1,0]}})", R"({"a":{"$numberLong":"-9223372036854775808"}})", true},
        {R"({"a":{"$mod":[3,0]}})", R"({"a":"3"})", false},
        {R"({"a":{"$mod":[3,0]}})", R"({"a":{"$numberDouble":"NaN"}})", false},
        {R"({"a":{"$mod":[3,0]}})", R"({"a":{"$numberDecimal":"9"}})", true},
        {R"({"a":{"$bitsAllSet":[1,5]}})", R"({"a":54})", true},
        {R"({"a":{"$bitsAllSet":50}})", R"({"a":54})", true},
        {R"({"a":{"$bitsAllSet":[0,1]}})", R"({"a":54})", false},
        {R"({"a":{"$bitsAnySet":[0,1]}})", R"({"a":54})", true},
        {R"({"a":{"$bitsAllClear":[0,3]}})", R"({"a":54})", true},
        {R"({"a":{"$bitsAllClear":[1,3]}})", R"({"a":54})", false},
        {R"({"a":{"$bitsAnyClear":[1,3]}})", R"({"a":54})", true},
        {R"({"a":{"$bitsAllSet":[200]}})", R"({"a":-1})", true},  // the sign goes on
        {R"({"a":{"$bitsAllClear":[64]}})", R"({"a":1})", true},
        {R"({"a":{"$bitsAllSet":[0]}})", R"({"a":1.5})", false},
        {R"({"a":{"$bitsAllSet":[8]}})", R"({"a":{"$binary":{"base64":"AAE=","subType":"00"}}})",
         true},
        {R"({"a":{"$bitsAllSet":{"$binary":{"base64":"AQ==","subType":"00"}}}})", R"({"a":3})",
         true},
        {R"({"a":{"$bitsAnySet":[1]}})", R"({"a":"x"})", false},
    };
    for (const row& r : rows)
        check(r);
}

TEST(match, conditions_on_arrays)
{
    const row rows[] = {
        {R"({"a":{"$size":2}})", R"({"a":[1,2]})", true},
        {R"({"a":{"$size":2}})", R"({"a":[1]})", false},
        {R"({"a":{"$size":0}})", R"({"a":[]})", true},
        {R"({"a":{"$size":0}})", R"({})", false},
        {R"({"a":{"$size":1}})", R"({"a":"x"})", false},
        {R"({"a":{"$size":2}})", R"({"a":[[1,2]]})", false},
        {R"({"a.b":{"$size":1}})", R"({"a":[{"b":[]},{"b":[1]}]})", true},
        {R"({"a":{"$all":[1,2]}})", R"({"a":[3,2,1]})", true},
        {R"({"a":{"$all":[1,2]}})", R"({"a":[1]})", false},
        {R"({"a":{"$all":[1]}})", R"({"a":1})", true},
        {R"({"a":{"$all":[]}})", R"({"a":[]})", false},
        {R"({"a":{"$all":[[1,2]]}})", R"({"a":[1,2]})", true},
        {R"({"a":{"$all":[{"$regularExpression":{"pattern":"^x","options":""}},"y"]}})",
         R"({"a":["y","xx"]})", true},
        {R"({"a":{"$all":[{"$elemMatch":{"b":1}},{"$elemMatch":{"b":2}}]}})",
         R"({"a":[{"b":1},{"b":2}]})", true},
        {R"({"a":{"$all":[{"$elemMatch":{"b":1}},{"$elemMatch":{"b":3}}]}})",
         R"({"a":[{"b":1},{"b":2}]})", false},
        {R"({"a":{"$elemMatch":{"$gt":1,"$lt":3}}})", R"({"a":[0,5]})", false},
        {R"({"a":{"$elemMatch":{"$gt":1,"$lt":3}}})", R"({"a":[0,2,5]})", true},
        {R"({"a":{"$elemMatch":{"$gt":1}}})", R"({"a":2})", false},
        {R"({"a":{"$elemMatch":{"$in":[2,3]}}})", R"({"a":[1,3]})", true},
        {R"({"a":{"$elemMatch":{"$ne":1}}})", R"({"a":[1,1]})", false},
        {R"({"a":{"$elemMatch":{"$not":{"$gt":1}}}})", R"({"a":[5,0]})", true},
        {R"({"a":{"$elemMatch":{"$elemMatch":{"$gt":3}}}})", R"({"a":[[1],[4]]})", true},
        {R"({"a":{"$elemMatch":{"b":1,"c":2}}})", R"({"a":[{"b":1},{"c":2}]})", false},
        {R"({"a":{"$elemMatch":{"b":1,"c":2}}})", R"({"a":[{"b":1,"c":2}]})", true},
        {R"({"a":{"$elemMatch":{"b":{"$gt":1}}}})", R"({"a":[1,{"b":2}]})", true},
        {R"({"a":{"$elemMatch":{}}})", R"({"a":[{}]})", true},
        {R"({"a":{"$elemMatch":{}}})", R"({"a":[1]})", false},
        {R"({"a":{"$elemMatch":{"$or":[{"b":1},{"c":1}]}}})", R"({"a":[{"c":1}]})", true},
        {R"({"a":{"$elemMatch":{"0":5}}})", R"({"a":[[5]]})", true},
        {R"({"a.b":{"$elemMatch":{"$gt":2}}})", R"({"a":[{"b":[1]},{"b":[3]}]})", true},
        {R"({"a":{"$not":{"$elemMatch":{"$gt":2}}}})", R"({"a":[1,2]})", true},
        {R"({"a":{"$not":{"$size":2}}})", R"({"a":[1,2]})", false},
    };
    for (const row& r : rows)
        check(r);
}

TEST(match, logic)
{
    const row rows[] = {
        {R"({"$and":[{"a":1},{"b":2}]})", R"({"a":1,"b":2})", true},
        {R"({"$and":[{"a":1},{"b":2}]})", R"({"a":1,"b":3})", false},
        {R"({"$or":[{"a":1},{"b":2}]})", R"({"b":2})", true},
        {R"({"$or":[{"a":1},{"b":2}]})", R"({"c":2})", false},
        {R"({"$or":[{}]})", R"({"c":2})", true},
        {R"({"$nor":[{"a":1},{"b":2}]})", R"({"c":2})", true},
        {R"({"$nor":[{"a":1},{"b":2}]})", R"({"a":1})", false},
        {R"({"$nor":[{}]})", R"({})", false},
        {R"({"$or":[{"$and":[{"a":1},{"b":1}]},{"c":1}],"d":1})", R"({"a":1,"b":1,"d":1})", true},
        {R"({"$or":[{"$and":[{"a":1},{"b":1}]},{"c":1}],"d":1})", R"({"a":1,"b":1})", false},
        {R"({"a":{"$not":{"$gt":1}}})", R"({"a":1})", true},
        {R"({"a":{"$not":{"$gt":1}}})", R"({"a":2})", false},
        {R"({"a":{"$not":{"$gt":1}}})", R"({})", true},
        {R"({"a":{"$not":{"$not":{"$gt":1}}}})", R"({"a":2})", true},
        {R"({"a":{"$not":{"$gt":1,"$lt":5}}})", R"({"a":7})", true},
        {R"({"a":{"$not":{"$gt":1,"$lt":5}}})", R"({"a":3})", false},
        {R"({"a":1,"$comment":"why"})", R"({"a":1})", true},
        {R"({"a":{"$eq":1,"$comment":"why"}})", R"({"a":2})", false},
        {R"({"$alwaysFalse":1})", R"({})", false},
        {R"({"$alwaysTrue":1})", R"({})", true},
        {R"({"$where":"sleep(10) || true"})", R"({})", true},
    };
    for (const row& r : rows)
        check(r);
}

TEST(match, schemas)
{
    const row rows[] = {
        {R"({"$jsonSchema":{}})", R"({"a":1})", true},
        {R"({"$jsonSchema":{"required":["a"]}})", R"({"a":null})", true},
        {R"({"$jsonSchema":{"required":["a","b"]}})", R"({"a":1})", false},
        {R"({"$jsonSchema":{"bsonType":"object"}})", R"({})", true},
        {R"({"$jsonSchema":{"bsonType":"array"}})", R"({})", false},
        {R"({"$jsonSchema":{"properties":{"a":{"bsonType":"string"}}}})", R"({"a":1})", false},
        {R"({"$jsonSchema":{"properties":{"a":{"bsonType":"string"}}}})", R"({})", true},
        {R"({"$jsonSchema":{"properties":{"a":{"bsonType":["int","null"]}}}})", R"({"a":null})",
         true},
        {R"({"$jsonSchema":{"properties":{"a":{"type":"number"}}}})", R"({"a":1.5})", true},
        {R"({"$jsonSchema":{"properties":{"a":{"type":"boolean"}}}})", R"({"a":1})", false},
        {R"({"$jsonSchema":{"properties":{"a":{"minimum":3}}}})", R"({"a":3})", true},
        {R"({"$jsonSchema":{"properties":{"a":{"minimum":3,"exclusiveMinimum":true}}}})",
         R"({"a":3})", false},
        {R"({"$jsonSchema":{"properties":{"a":{"maximum":3}}}})", R"({"a":4})", false},
        {R"({"$jsonSchema":{"properties":{"a":{"maximum":3}}}})", R"({"a":"long"})", true},
        {R"({"$jsonSchema":{"properties":{"a":{"enum":["x",1]}}}})", R"({"a":1})", true},
        {R"({"$jsonSchema":{"properties":{"a":{"enum":["x",1]}}}})", R"({"a":"y"})", false},
        {R"({"$jsonSchema":{"properties":{"a":{"pattern":"^S"}}}})", R"({"a":"So"})", true},
        {R"({"$jsonSchema":{"properties":{"a":{"pattern":"^S"}}}})", R"({"a":"no"})", false},
        {R"({"$jsonSchema":{"properties":{"a":{"minLength":2}}}})", R"({"a":"ü"})", false},
        {R"({"$jsonSchema":{"properties":{"a":{"maxLength":2}}}})", R"({"a":"üü"})", true},
        {R"({"$jsonSchema":{"properties":{"a":{"items":{"bsonType":"int"}}}}})", R"({"a":[1,"x"]})",
         false},
        {R"({"$jsonSchema":{"properties":{"a":{"items":{"bsonType":"int"}}}}})", R"({"a":[1,2]})",
         true},
        {R"({"$jsonSchema":{"properties":{"a":{"minItems":1,"maxItems":2}}}})", R"({"a":[]})",
         false},
        {R"({"$jsonSchema":{"properties":{"a":{"uniqueItems":true}}}})", R"({"a":[1,1.0]})", false},
        {R"({"$jsonSchema":{"properties":{"a":{}},"additionalProperties":false}})",
         R"({"a":1,"b":1})", false},
        {R"({"$jsonSchema":{"properties":{"a":{}},"additionalProperties":{"bsonType":"int"}}})",
         R"({"a":"x","b":1})", true},
        {R"({"$jsonSchema":{"anyOf":[{"required":["a"]},{"required":["b"]}]}})", R"({"b":1})",
         true},
        {R"({"$jsonSchema":{"not":{"required":["a"]}}})", R"({"a":1})", false},
        {R"({"$jsonSchema":{"oneOf":[{"required":["a"]},{"required":["b"]}]}})", R"({"a":1,"b":1})",
         false},
        {R"({"$jsonSchema":{"properties":{"a":{"properties":{"b":{"bsonType":"int"}},
             "required":["b"],"bsonType":"object"}}}})",
         R"({"a":{"b":"x"}})", false},
    };
    for (const row& r : rows)
        check(r);
}

TEST(match, languages)
{
    const collation second{.strength = 2};
    check({R"({"a":"PING"})", R"({"a":"ping"})", true}, second);
    check({R"({"a":"cafe"})", R"({"a":"café"})", false}, second);
    check({R"({"a":{"$in":["b","PING"]}})", R"({"a":"ping"})", true}, second);
    check({R"({"a":{"$gt":"A"}})", R"({"a":"a"})", false}, second);
    check({R"({"a":{"b":"X"}})", R"({"a":{"b":"x"}})", true}, second);
    check({R"({"a":"PING"})", R"({"a":"ping"})", false}, collation{.strength = 3});
    check({R"({"a":"cafe"})", R"({"a":"CAFÉ"})", true}, collation{.strength = 1});
}

}  // namespace
}  // namespace holdfast::lab::match_test
