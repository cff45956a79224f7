#include "api_call.hpp"

namespace holdfast::spec::unified {
namespace {

using filter = arg::document<"filter">;

/// Databases and collections have it.
outcome_later aggregate(context_ptr in, const operation& what)
{
    constexpr auto run = [](const auto& on, const auto&... given) {
        return on.aggregate(given...);
    };
    using pipeline = arg::array<"pipeline">;
    constexpr auto of_database = on_database<mongo::aggregate_options, pipeline>(run);
    constexpr auto of_collection = on_collection<mongo::aggregate_options, pipeline>(run);
    const entity& on = in->named.at(what.object);
    if (std::holds_alternative<std::shared_ptr<database_entity>>(on))
        return of_database(in, what);
    return of_collection(in, what);
}

constexpr named_operation read_operations_table[] = {
    {"find", on_collection<mongo::find_options, filter>(
                 [](const auto& on, const auto&... given) { return on.find(given...); })},
    {"findOne",
     on_collection<mongo::find_options, filter>([](const auto& on, const auto&... given) {
         return on.find_one(given..., use_awaitable);
     })},
    {"aggregate", aggregate},
    {"countDocuments",
     on_collection<mongo::count_options, filter>([](const auto& on, const auto&... given) {
         return on.count_documents(given..., use_awaitable);
     })},
    {"estimatedDocumentCount",
     on_collection<mongo::count_options>([](const auto& on, const auto&... given) {
         return on.estimated_document_count(given..., use_awaitable);
     })},
    {"distinct", on_collection<mongo::distinct_options, arg::text<"fieldName">, filter>(
                     [](const auto& on, const auto&... given) {
                         return on.distinct(given..., use_awaitable);
                     })},
};

}  // namespace

std::span<const named_operation> read_operations() noexcept
{
    return read_operations_table;
}

}  // namespace holdfast::spec::unified
