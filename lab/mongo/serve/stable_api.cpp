#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/serve/checks.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

/// Stages that servers have, and that API version 1 has not.
constexpr std::string_view stages_outside_v1[] = {
    "$currentOp",
    "$indexStats",
    "$listCatalog",
    "$listClusterCatalog",
    "$listLocalSessions",
    "$listSampledQueries",
    "$listSearchIndexes",
    "$listSessions",
    "$planCacheStats",
    "$querySettings",
    "$queryStats",
    "$rankFusion",
    "$score",
    "$scoreFusion",
    "$search",
    "$searchMeta",
    "$shardedDataDistribution",
    "$vectorSearch",
};

/// Fields of commands that are in API version 1, without these.
struct unstable_field {
    std::string_view command;
    std::string_view field;
};
constexpr unstable_field fields_outside_v1[] = {
    {"aggregate", "explain"},     {"aggregate", "exchange"}, {"aggregate", "collectionUUID"},
    {"find", "awaitData"},        {"find", "max"},           {"find", "min"},
    {"find", "noCursorTimeout"},  {"find", "oplogReplay"},   {"find", "returnKey"},
    {"find", "showRecordId"},     {"find", "tailable"},
};

error outside_v1(std::string what)
{
    return refuse(
        server_code::api_strict_error,
        std::move(what.append(" is not allowed with 'apiStrict: true' in API Version 1")));
}

result<void> check_stages(const bson::element& pipeline);

/// Of $collStats the version has only the count.
bool only_counts(const bson::element& stage)
{
    if (stage.type() != bson::type::document)
        return true;  // for its parser to refuse
    const bson::view asked = stage.as_document();
    return std::ranges::all_of(asked.begin(), asked.end(),
                               [](const bson::element& one) { return one.key() == "count"; });
}

result<void> check_facets(const bson::element& facets)
{
    if (facets.type() != bson::type::document)
        return {};
    for (const bson::element& one : facets.as_document()) {
        if (auto fine = check_stages(one); !fine)
            return fine;
    }
    return {};
}

/// A stage, and the pipelines within it.
result<void> check_stage(const bson::element& stage)
{
    const std::string_view name = stage.key();
    if (std::ranges::find(stages_outside_v1, name) != std::end(stages_outside_v1) ||
        name.starts_with("$_internal"))
        return outside_v1("stage " + std::string{name});
    if (name == "$collStats" && !only_counts(stage))
        return outside_v1("stage $collStats with more than 'count'");
    if (name == "$facet")
        return check_facets(stage);
    if ((name == "$lookup" || name == "$unionWith") && stage.type() == bson::type::document)
        return check_stages(stage.as_document().find("pipeline"));
    return {};
}

/// What is no pipeline is for the handler to refuse.
result<void> check_stages(const bson::element& pipeline)
{
    if (pipeline.type() != bson::type::array)
        return {};
    for (const bson::element& one : pipeline.as_array()) {
        if (one.type() != bson::type::document || one.as_document().empty())
            continue;
        if (auto fine = check_stage(*one.as_document().begin()); !fine)
            return fine;
    }
    return {};
}

result<void> check_strict(const request& what)
{
    for (const unstable_field& one : fields_outside_v1) {
        if (one.command == what.name && what.body.find(one.field))
            return refuse(server_code::api_strict_error,
                          "BSON field '" + std::string{one.command} + "." + std::string{one.field} +
                              "' is not allowed with apiStrict:true.");
    }
    return what.name == "aggregate" ? check_stages(what.body.find("pipeline")) : result<void>{};
}

std::string about_command(std::string_view before, std::string_view name, std::string_view after)
{
    std::string text{before};
    return text.append(name).append(after);
}

}  // namespace

result<void> check_api(const command& known, const request& what)
{
    // Version 1 has deprecated nothing yet but this one, which is there to show what it looks like.
    if (what.api_deprecation_errors && what.name == "testDeprecation")
        return refuse(server_code::api_deprecation_error,
                      about_command("Provided apiDeprecationErrors:true, but the command ",
                                    what.name, " is deprecated in API Version 1"));
    if (!what.api_strict)
        return {};
    if (known.in_api_v1)
        return check_strict(what);
    return refuse(server_code::api_strict_error,
                  about_command("Provided apiStrict:true, but the command ", what.name,
                                " is not in API Version 1"));
}

}  // namespace holdfast::lab::mongo
