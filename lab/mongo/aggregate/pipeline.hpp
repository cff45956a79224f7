#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/expression/context.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

using documents = std::vector<bson::document>;

/// What stages need from the owner of the data.
class pipeline_host {
public:
    virtual ~pipeline_host() = default;
    /// All documents of a collection, for $lookup, $unionWith, $graphLookup; a view is resolved.
    virtual result<documents> read(std::string_view database, std::string_view collection) = 0;
    virtual documents local_sessions() = 0;  // $listLocalSessions
    virtual documents current_operations() = 0;  // $currentOp
    virtual documents collection_stats(bson::view spec) = 0;  // $collStats
    virtual documents index_stats() = 0;  // $indexStats
};

/// Where the result of a pipeline goes instead of to the client.
struct out_stage {
    std::string database;  // empty: the one of the command
    std::string collection;
};
struct merge_stage {
    std::string database;
    std::string collection;
    std::vector<std::string> on;  // {"_id"} by default
    std::string when_matched = "merge";  // replace, keepExisting, merge, fail, or "pipeline"
    bson::document pipeline = {};  // of "pipeline": an array as a document
    bson::document let = {};
    std::string when_not_matched = "insert";  // insert, discard, fail
};

/// A pipeline, checked and prepared once.
class pipeline {
public:
    /// `on_collection` is false for {aggregate: 1}, where the first stage must make documents
    /// ($documents, $listLocalSessions, $currentOp). Unknown stages are 40324. $changeStream and
    /// what the lab does not know yet get a clear error.
    static result<pipeline> compile(bson::array_view stages, bool on_collection,
                                    const std::optional<collation>& by = {},
                                    const expression_context& context = {});
    pipeline(pipeline&&) noexcept;
    pipeline& operator=(pipeline&&) noexcept;
    ~pipeline();

    /// True if the first stage makes its own documents: then `input` of run() is not asked.
    bool has_own_source() const noexcept;
    /// The filter of a leading $match, or empty: a scan of the collection may use an index.
    bson::document leading_match() const;
    const out_stage* out() const noexcept;  // a last stage $out, else null
    const merge_stage* merge() const noexcept;  // a last stage $merge, else null

    /// All results, in order. $out and $merge are the caller's part.
    result<documents> run(documents input, pipeline_host& host) const;

private:
    struct compiled;
    explicit pipeline(std::unique_ptr<compiled> made);
    std::unique_ptr<compiled> compiled_;
};

}  // namespace holdfast::lab
