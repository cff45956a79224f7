#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/query.hpp"
#include "core/mongo/operation/read_draft.hpp"
#include "holdfast/mongo/operations.hpp"

#include <utility>

/// Counts and distinct values.
namespace holdfast::core::mongo {

namespace {

using holdfast::mongo::count_options;

void put_counting_stages(bson::builder& to, bson::view filter, const count_options& options)
{
    auto stages = to.array("pipeline");
    stages.document().put("$match", filter);
    if (options.skip.value_or(0) != 0)
        stages.document().put("$skip", *options.skip);
    if (options.limit.value_or(0) != 0)
        stages.document().put("$limit", *options.limit);
    auto group = stages.document();
    auto counted = group.document("$group");
    counted.put("_id", std::int32_t{1});
    counted.document("n").put("$sum", std::int32_t{1});
}

}  // namespace

result<command> count_documents_operation::build(const operation_space& in) const
{
    draft d{in, "aggregate", filter.size() + 160};
    put_counting_stages(d.body, filter, options);
    d.body.put("cursor", bson::view{});
    d.put("collation", options.collation);
    options.hint.write(d.body, "hint");
    options.comment.write(d.body, "comment");
    d.put("maxTimeMS", options.max_time);
    return finish_read(d, in, options);
}

result<std::int64_t> count_documents_operation::read(command_outcome outcome, const command&)
{
    if (!outcome)
        return std::move(outcome).error();
    const auto batch = read_batch(*outcome);
    if (!batch)
        return batch.error();
    if (batch->documents.empty())
        return std::int64_t{0};  // no document matches: there is no group either
    const bson::element count = batch->documents.begin()->as_document().find("n");
    if (const std::int64_t n = number_or(count, -1); n >= 0)
        return n;
    return not_a("count", "it has no number \"n\"");
}

result<command> estimated_document_count_operation::build(const operation_space& in) const
{
    const char* wrong = nullptr;
    if (options.skip)
        wrong = "skip";
    else if (options.limit)
        wrong = "limit";
    else if (options.collation)
        wrong = "collation";
    else if (!options.hint.empty())
        wrong = "hint";
    if (wrong != nullptr)
        return refused(wrong, "no documents are looked at for an estimate; use count_documents");
    draft d{in, "count", 32};
    d.put("maxTimeMS", options.max_time);
    options.comment.write(d.body, "comment");
    return finish_read(d, in, options);
}

result<std::int64_t> estimated_document_count_operation::read(command_outcome outcome,
                                                              const command&)
{
    if (!outcome) {
        if (is_namespace_not_found(outcome.error()))
            return std::int64_t{0};
        return std::move(outcome).error();
    }
    if (const std::int64_t n = number_or(outcome->find("n"), -1); n >= 0)
        return n;
    return not_a("count", "it has no number \"n\"");
}

result<command> distinct_operation::build(const operation_space& in) const
{
    draft d{in, "distinct", field.size() + filter.size() + 32};
    d.body.put("key", field);
    d.body.put("query", filter);
    d.put("collation", options.collation);
    options.hint.write(d.body, "hint");
    options.comment.write(d.body, "comment");
    d.put("maxTimeMS", options.max_time);
    return finish_read(d, in, options);
}

result<bson::array> distinct_operation::read(command_outcome outcome, const command&)
{
    if (!outcome)
        return std::move(outcome).error();
    const bson::element values = outcome->find("values");
    if (values.type() != bson::type::array)
        return not_a("list of values", "it has no array \"values\"");
    return bson::array{values.as_array()};
}

}  // namespace holdfast::core::mongo
