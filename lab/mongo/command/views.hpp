#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/storage/collection.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::lab::mongo {

/// What a view comes down to: a collection, and the stages in front of everybody's own.
struct resolved_view {
    std::string ns;
    bson::array stages;
    std::optional<collation> order;
};

/// Nothing if it is no view; 165 if views stand on views too deeply or in a circle.
result<std::optional<resolved_view>> resolve_view(const node& on, std::string_view ns);

/// One array after the other.
bson::array joined(bson::array_view first, bson::array_view second);

/// Stages that do what the fields of a find do; empty fields make no stage.
bson::array stages_of(bson::view filter, bson::view sort, std::int64_t skip, std::int64_t limit,
                      bson::view projection);

/// A pipeline on a collection or view, or on nothing (`ns` of a database: "db.$cmd.aggregate").
struct pipeline_run {
    std::string_view ns;
    bson::array_view stages;
    bool on_collection = true;
    bson::element collation = {};
    bson::element hint = {};
    read_time at = {};
};

/// What there is to do with the results, besides giving them to the client.
struct pipeline_output {
    documents results;
    std::optional<out_stage> out;
    std::optional<merge_stage> merge;
};

result<pipeline_output> run_pipeline(node& on, const pipeline_run& what,
                                     const expression_context& context);

/// All documents of a collection that match the filter (empty: all), copied.
result<documents> read_collection(const collection& in, bson::view filter,
                                  const std::optional<collation>& by, read_time at,
                                  const expression_context& context);

}  // namespace holdfast::lab::mongo
