#include "arena.hpp"
#include "live_bytes.hpp"
#include "tree.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::lab::bombs_test {
namespace {

using hostile::arena;
using hostile::live_bytes;
using hostile::talker;

constexpr std::size_t allowed_growth = 256U << 20;

/// Small commands that ask for more than there is: memory, time or depth.
constexpr std::string_view bombs[] = {
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$range":[0,2147483647]}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$reduce":{"input":{"$range":[0,64]},
        "initialValue":"xxxxxxxx",
        "in":{"$concat":["$$value","$$value"]}}}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$reduce":{"input":{"$range":[0,64]},
        "initialValue":[1],
        "in":{"$concatArrays":["$$value","$$value"]}}}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$reduce":{"input":{"$range":[0,100000]},
        "initialValue":[],
        "in":["$$value"]}}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$reduce":{"input":{"$range":[0,64]},
        "initialValue":{"a":1},
        "in":{"a":"$$value","b":"$$value"}}}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$map":{"input":{"$range":[0,10000]},
        "as":"i","in":
        {"$sum":{"$map":{"input":{"$range":[0,10000]},"as":"j",
        "in":{"$sum":{"$map":{"input":{"$range":[0,10000]},
        "as":"k","in":1}}}}}}}}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$range":[0,1000]}}},{"$unwind":"$x"},
        {"$project":{"y":{"$range":[0,1000]}}},
        {"$unwind":"$y"},{"$project":{"z":{"$range":[0,1000]}}},{"$unwind":"$z"},
        {"$group":{"_id":null,"n":{"$sum":1}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$range":[0,300000]}}},{"$unwind":"$x"},
        {"$group":{"_id":null,"all":{"$push":"$$ROOT"}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$lookup":{"from":"c","pipeline":[],"as":"a"}},
        {"$unwind":"$a"},
        {"$lookup":{"from":"c","pipeline":[],"as":"b"}},{"$unwind":"$b"},{"$lookup":{"from":"c",
        "pipeline":[],"as":"d"}},
        {"$unwind":"$d"},{"$lookup":{"from":"c","pipeline":[],"as":"e"}},{"$unwind":"$e"},
        {"$lookup":{"from":"c","pipeline":[],"as":"f"}},{"$unwind":"$f"},{"$lookup":{"from":"c",
        "pipeline":[],"as":"g"}},
        {"$unwind":"$g"},{"$count":"n"}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$graphLookup":{"from":"c","startWith":"$_id",
        "connectFromField":"_id",
        "connectToField":"_id","as":"g","maxDepth":2147483647}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$sample":{"size":9223372036854775807}},
        {"$skip":9223372036854775807},
        {"$limit":9223372036854775807}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$bucketAuto":{"groupBy":"$n","buckets":2147483647}}],
        "cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$dateAdd":{"startDate":"$$NOW","unit":"year",
        "amount":9223372036854775807}}}}],"cursor":{}})",
    R"({"aggregate":"c",
        "pipeline":[{"$project":{"x":{"$dateToString":{"date":{"$toDate":9223372036854775807}}},
        "y":{"$year":{"$toDate":-9223372036854775808}}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$replaceAll":{"input":"$s","find":"",
        "replacement":"$s"}}}}],"cursor":{}})",
    R"({"aggregate":"c","pipeline":[{"$project":{"x":{"$regexFindAll":{"input":"$s",
        "regex":"((a*)*)*b"}}}}],"cursor":{}})",
    R"({"find":"c","filter":{"s":{"$regex":"^(a+)+$"}}})",
    R"({"find":"c","filter":{"s":{"$regex":"^(([a-z])+.)+[A-Z]([a-z])+$"}}})",
    R"({"find":"c","filter":{"s":{"$regex":"(?R)*"}}})",
    R"({"find":"c",
        "filter":{"s":{"$regex":
        "(?:(?:(?:(?:a{0,65535}){0,65535}){0,65535}){0,65535}){0,65535}"}}})",
    R"({"find":"c","filter":{"s":{"$in":[{"$regularExpression":{"pattern":"(x+x+)+y",
        "options":"i"}}]}}})",
    R"({"find":"c","skip":9223372036854775807,"limit":9223372036854775807,
        "batchSize":9223372036854775807})",
    R"({"find":"c","limit":-9223372036854775808})",
    R"({"find":"c","projection":{"a":{"$slice":[-2147483648,2147483647]}}})",
    R"({"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"a.2147483647":1}}}]})",
    R"({"update":"c","updates":[{"q":{"_id":1},"u":{"$set":{"a.1499999":1}}}]})",
    R"({"update":"c","updates":[{"q":{"_id":1},"u":{"$push":{"a":{"$each":[1],
        "$position":-9223372036854775808,
        "$slice":-9223372036854775808}}}}]})",
    R"({"update":"c","updates":[{"q":{"_id":1},
        "u":{"$inc":{"n":{"$numberLong":"9223372036854775807"}}}},
        {"q":{"_id":"x"},"u":{"$mul":{"n":{"$numberLong":"-9223372036854775808"}}}}]})",
    R"({"update":"c","updates":[{"q":{"_id":1},"u":{"$bit":{"n":{"xor":{"$numberLong":"-1"}}}}}]})",
    R"({"insert":"c","documents":[{"k":1},{"k":2}],"stmtId":2147483647,"lsid":{"id":
        {"$uuid":"44444444-1111-4111-8111-111111111111"}},
        "txnNumber":{"$numberLong":"9223372036854775807"}})",
    R"({"count":"c","limit":-9223372036854775808,"skip":9223372036854775807})",
    R"({"find":"c","filter":{"n":{"$mod":[-1,0]},"a":{"$size":9223372036854775807},
        "b":{"$bitsAnySet":[2147483647]}}})",
    R"({"find":"c","filter":{"n":{"$mod":[{"$numberLong":"-9223372036854775808"},-1]}}})",
    R"({"aggregate":"c",
        "pipeline":[{"$project":{"x":{"$mod":[{"$numberLong":"-9223372036854775808"},
        {"$numberLong":"-1"}]},
        "y":{"$abs":{"$numberLong":"-9223372036854775807"}},"z":{"$divide":[1,
        {"$numberLong":"-1"}]},
        "w":{"$round":["$n",-2147483648]},"t":{"$trunc":[1e308,100]}}}],"cursor":{}})",
    R"({"setParameter":1,"$db":"admin","ingressRequestAdmissionRatePerSec":-1})",
    R"({"configureFailPoint":"failCommand","$db":"admin","mode":{"times":9223372036854775807},
        "data":{"failCommands":["x"],
        "blockConnection":true,"blockTimeMS":9223372036854775807}})",
    R"({"create":"huge","capped":true,"size":9223372036854775807,"max":9223372036854775807})",
};

TEST(hostile_bombs, expensive_expressions_are_refused_or_bounded)
{
    hostile::arena_options options;
    options.in_set = true;
    for (const std::string_view bomb : bombs) {
        arena in{options};
        const bson::document command = json(bomb);
        bson::byte_buffer buffer;
        bson::builder whole{buffer};
        whole.merge(command);
        if (!command.find("$db"))
            whole.add("$db", "db");
        const auto made = whole.finish();
        ASSERT_TRUE(made);
        const std::size_t before = live_bytes();
        const auto began = std::chrono::steady_clock::now();
        const auto came = in.client.send(
            talker::message(hostile::bytes_of(made->data(), made->size())));
        const auto took = std::chrono::steady_clock::now() - began;
        EXPECT_LT(took, std::chrono::seconds{20}) << bomb;
        EXPECT_LT(live_bytes(), before + allowed_growth) << bomb;
        ASSERT_TRUE(came.reply) << bomb;
        EXPECT_TRUE(hostile::is_answer(*came.reply)) << bomb;
        in.calm();
        EXPECT_TRUE(in.answers_ping()) << bomb;
    }
}

/// What is just allowed for one document must not be done for many.
TEST(hostile_bombs, expensive_expression_is_bounded_over_all_documents)
{
    arena in{{}};
    std::string insert = R"({"insert":"many","$db":"db","documents":[{})";
    for (int i = 1; i < 40; ++i)
        insert += ",{}";
    ASSERT_EQ(in.client.run(insert + "]}").get<std::int32_t>("n").value_or(0), 40);
    const auto sum_up_to = [&](int limit) {
        return in.client.run(
            R"({"aggregate":"many","$db":"db","cursor":{},"pipeline":[{"$project":{"x":{"$sum":
            {"$map":{"input":{"$range":[0,)" +
            std::to_string(limit) + R"(]},"in":{"$add":["$$this",1]}}}}}}]})");
    };
    EXPECT_EQ(sum_up_to(1'000).get<double>("ok").value_or(0), 1.0);
    EXPECT_EQ(sum_up_to(400'000).get<std::int32_t>("code").value_or(0), 262);
}

std::vector<std::uint8_t> three_large_documents()
{
    const bson::document insert = json(R"({"insert":"big","$db":"db","ordered":false})");
    const std::string text(15'900'000, 'x');
    const bson::document one = bson::doc("t", text);
    proof::raw_message message;
    message.header(2013).int32(0).byte(0).document(insert);
    message.byte(1).int32(static_cast<std::int32_t>(4 + 10 + 3 * one.size())).cstring("documents");
    for (int i = 0; i < 3; ++i)
        message.document(one);
    return message.done();
}

/// Large, but allowed: as large as a message may be.
TEST(hostile_sizes, message_of_the_largest_size_is_handled_in_bounded_memory)
{
    arena in{{}};
    const std::size_t before = live_bytes();
    const auto came = in.client.send(three_large_documents());
    ASSERT_TRUE(came.reply);
    EXPECT_EQ(came.reply->get<std::int32_t>("n").value_or(-1), 3);
    for (const std::string_view asks :
         {R"({"aggregate":"big","$db":"db","pipeline":[{"$group":{"_id":1,"a":{"$push":"$t"}}}],
        "cursor":{}})",
          R"({"aggregate":"big","$db":"db","pipeline":[{"$project":{"x":{"$concat":["$t","$t"]}}}],
        "cursor":{}})",
          R"({"aggregate":"big","$db":"db","pipeline":[{"$project":{"x":["$t","$t","$t"]}}],
        "cursor":{}})",
          R"({"update":"big","$db":"db","updates":[{"q":{},"u":[{"$set":{"u":"$t"}}],
        "multi":true}]})",
          R"({"distinct":"big","$db":"db","key":"t"})",
          R"({"distinct":"big","$db":"db","key":"_id"})"}) {
        const bson::document reply = in.client.run(asks);
        EXPECT_TRUE(hostile::is_answer(reply)) << asks;
    }
    const bson::document found = in.client.run(R"({"find":"big","$db":"db"})");
    EXPECT_EQ(found.get<double>("ok").value_or(-1), 1.0);
    EXPECT_LT(live_bytes(), before + allowed_growth);
    in.client.hang_up();
    in.client.run(R"({"drop":"big","$db":"db"})");
    EXPECT_LT(live_bytes(), before + 4 * arena::oplog_bytes)
        << "a large message costs memory for ever";
}

TEST(hostile_sizes, a_batch_has_at_most_100000_documents)
{
    arena in{{}};
    const bson::document insert = json(R"({"insert":"many","$db":"db"})");
    const bson::document one = json("{}");
    for (const int count : {100'000, 100'001}) {
        proof::raw_message message;
        message.header(2013).int32(0).byte(0).document(insert).byte(1);
        message.int32(14 + count * static_cast<std::int32_t>(one.size())).cstring("documents");
        for (int i = 0; i < count; ++i)
            message.document(one);
        const auto came = in.client.send(message.done());
        ASSERT_TRUE(came.reply);
        const bool fits = count == 100'000;
        EXPECT_EQ(came.reply->get<double>("ok").value_or(-1), fits ? 1.0 : 0.0);
        EXPECT_EQ(came.reply->get<std::int32_t>("code").value_or(0), fits ? 0 : 16);
    }
}

}  // namespace
}  // namespace holdfast::lab::bombs_test
