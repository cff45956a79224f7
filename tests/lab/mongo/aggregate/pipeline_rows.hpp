#pragma once
#include "holdfast/bson/json.hpp"
#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace holdfast::lab {

inline bson::array json_array(const std::string& text)
{
    auto made = bson::array_from_json(text);
    EXPECT_TRUE(made) << text;
    return made ? *std::move(made) : bson::array{};
}

inline documents json_documents(const std::string& text)
{
    documents made;
    for (const bson::element& e : json_array(text))
        made.emplace_back(e.as_document());
    return made;
}

inline std::string to_text(const documents& all)
{
    std::string text;
    for (const bson::document& d : all)
        text += *bson::to_json(d, bson::json_mode::canonical) + "\n";
    return text;
}

/// Two collections of the manual's kind, and made-up statistics.
class test_host final : public pipeline_host {
public:
    result<documents> read(std::string_view database, std::string_view collection) override
    {
        if (!database.empty() && database != "other")
            return refuse(server_code::invalid_namespace, "no such database");
        if (collection == "inventory")
            return json_documents(R"([{"_id": 1, "sku": "almonds", "instock": 120},
                {"_id": 2, "sku": "bread", "instock": 80}, {"_id": 3, "sku": null},
                {"_id": 4}])");
        return documents{};
    }
    documents local_sessions() override { return json_documents(R"([{"_id": "session"}])"); }
    documents current_operations() override { return json_documents(R"([{"op": "getmore"}])"); }
    documents collection_stats(bson::view spec) override
    {
        documents made;
        made.push_back(bson::doc("asked", spec));
        return made;
    }
    documents index_stats() override { return json_documents(R"([{"name": "_id_"}])"); }
};

inline expression_context& pipeline_context()
{
    static expression_context context = [] {
        expression_context made;
        made.variables = bson::doc("least", 2);
        made.chance = [] { return 0.0; };
        return made;
    }();
    return context;
}

inline result<documents> run_pipeline(const char* input, const char* stages,
                                      bool on_collection = true)
{
    auto compiled = pipeline::compile(json_array(stages), on_collection, {}, pipeline_context());
    if (!compiled)
        return std::move(compiled).error();
    test_host host;
    return compiled->run(json_documents(input), host);
}

struct pipeline_row {
    const char* input;
    const char* stages;
    const char* expected;
};

inline void check(const pipeline_row& row, bool on_collection = true)
{
    SCOPED_TRACE(row.stages);
    const auto made = run_pipeline(row.input, row.stages, on_collection);
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(to_text(*made), to_text(json_documents(row.expected)));
}

struct pipeline_refusal {
    const char* stages;
    int code;
};

}  // namespace holdfast::lab
