#include "lab/mongo/aggregate/pipeline_rows.hpp"

namespace holdfast::lab::pipeline_facts_test {
namespace {

TEST(lab_pipeline, out_and_merge_are_reported_to_the_caller)
{
    const auto out = pipeline::compile(json_array(R"([{"$match": {"a": 1}}, {"$out": "b"}])"),
                                       true);
    ASSERT_TRUE(out);
    ASSERT_NE(out->out(), nullptr);
    EXPECT_EQ(out->out()->collection, "b");
    EXPECT_EQ(out->out()->database, "");
    EXPECT_EQ(out->merge(), nullptr);
    EXPECT_EQ(out->leading_match(), bson::doc("a", 1));
    EXPECT_FALSE(out->has_own_source());

    const auto other = pipeline::compile(
        json_array(R"([{"$limit": 1}, {"$out": {"db": "d", "coll": "c"}}])"), true);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->out()->database, "d");
    EXPECT_EQ(other->out()->collection, "c");
    EXPECT_TRUE(other->leading_match().empty());

    const auto merge = pipeline::compile(
        json_array(R"([{"$merge": {"into": {"db": "d", "coll": "c"},
        "on": ["x", "y"], "whenMatched": [{"$set": {"a": "$$new.a"}}], "let": {"v": 1},
        "whenNotMatched": "discard"}}])"),
        true);
    ASSERT_TRUE(merge);
    ASSERT_NE(merge->merge(), nullptr);
    EXPECT_EQ(merge->merge()->database, "d");
    EXPECT_EQ(merge->merge()->on, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(merge->merge()->when_matched, "pipeline");
    EXPECT_EQ(merge->merge()->pipeline.view()["0"].as_document(),
              bson::doc("$set", bson::doc("a", "$$new.a")).view());
    EXPECT_EQ(merge->merge()->let, bson::doc("v", 1));
    EXPECT_EQ(merge->merge()->when_not_matched, "discard");

    const auto plain = pipeline::compile(json_array(R"([{"$merge": "c"}])"), true);
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->merge()->on, (std::vector<std::string>{"_id"}));
    EXPECT_EQ(plain->merge()->when_matched, "merge");
    EXPECT_EQ(plain->merge()->when_not_matched, "insert");

    const auto source = pipeline::compile(json_array(R"([{"$listLocalSessions": {}}])"), false);
    ASSERT_TRUE(source);
    EXPECT_TRUE(source->has_own_source());
}

TEST(lab_pipeline, memory_and_work_are_bounded)
{
    // A million times a million documents.
    const auto much = run_pipeline(R"([{"_id": 1}])", R"([
        {"$set": {"a": {"$range": [0, 500000]}, "b": {"$range": [0, 500000]}}},
        {"$project": {"a": 1}}, {"$unwind": "$a"},
        {"$set": {"b": {"$range": [0, 1000]}}}])");
    ASSERT_FALSE(much);
    EXPECT_EQ(much.error().code().value(), 292);

    const auto pushed = run_pipeline(R"([{"_id": 1}])", R"([
        {"$set": {"a": {"$range": [0, 200000]}}}, {"$unwind": "$a"},
        {"$set": {"text": "a text that takes some room, in each document that there is"}},
        {"$group": {"_id": null, "all": {"$push": "$$ROOT"}}}])");
    ASSERT_FALSE(pushed);
    EXPECT_EQ(pushed.error().code().value(), 10334);

    std::string nested = "[]";
    for (int i = 0; i < 22; ++i)
        nested = R"([{"$unionWith": {"coll": "x", "pipeline": )" + nested + "}}]";
    EXPECT_EQ(run_pipeline("[]", nested.c_str()).error().code().value(), 232);

    std::string stages = R"([{"$limit": 1})";
    for (int i = 0; i < 1000; ++i)
        stages += R"(, {"$limit": 1})";
    EXPECT_EQ(run_pipeline("[]", (stages + "]").c_str()).error().code().value(), 7749501);

    // Each stage wraps the document once more.
    std::string wraps = R"([{"$replaceWith": {"a": "$$ROOT"}})";
    for (int i = 0; i < 300; ++i)
        wraps += R"(, {"$replaceWith": {"a": "$$ROOT"}})";
    EXPECT_EQ(run_pipeline(R"([{"_id": 1}])", (wraps + "]").c_str()).error().code().value(), 15);
}

TEST(lab_pipeline, malformed_bytes_are_refused)
{
    // {"0": {"$match": ...}} whose inner document claims a type that does not exist.
    const std::uint8_t bytes[] = {18, 0, 0, 0, 3, '0', 0, 10, 0, 0, 0, 0x55, 'a', 0, 0, 0, 0, 0};
    const auto view = bson::view::parse(bytes);
    ASSERT_TRUE(view);
    const auto refused = pipeline::compile(bson::array_view{*view}, true);
    EXPECT_FALSE(refused);

    // And every stage with a hole in its specification.
    for (const char* name :
         {"$match", "$project", "$set", "$group", "$lookup", "$facet", "$merge", "$unwind",
          "$bucket", "$documents", "$sample", "$sort", "$unionWith"}) {
        bson::byte_buffer raw;
        {
            bson::array_builder out{raw};
            auto stage = out.document();
            auto spec = stage.document(name);
            spec.add("a", 1);
        }
        const std::string_view whole{reinterpret_cast<const char*>(raw.data()), raw.size()};
        const std::size_t at = whole.rfind(
            "\x10"
            "a");
        ASSERT_NE(at, std::string_view::npos);
        raw.data()[at] = 0x55;
        const auto parsed = bson::view::parse(raw.bytes());
        ASSERT_TRUE(parsed);
        auto compiled = pipeline::compile(bson::array_view{*parsed}, true);
        EXPECT_FALSE(compiled) << name;
    }
}

TEST(lab_pipeline, text_is_grouped_and_compared_by_the_collation)
{
    const auto compiled = pipeline::compile(json_array(R"([{"$match": {"a": "X"}},
            {"$group": {"_id": "$a", "n": {"$sum": 1}}}])"),
                                            true, collation{.strength = 2}, pipeline_context());
    ASSERT_TRUE(compiled);
    test_host host;
    const auto made = compiled->run(json_documents(R"([{"a": "x"}, {"a": "X"}, {"a": "y"}])"),
                                    host);
    ASSERT_TRUE(made);
    EXPECT_EQ(to_text(*made), to_text(json_documents(R"([{"_id": "x", "n": 2}])")));
}

}  // namespace
}  // namespace holdfast::lab::pipeline_facts_test
