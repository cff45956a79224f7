#include "arguments.hpp"
#include "operations.hpp"
#include "results.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace holdfast::spec::unified {
namespace {

using boost::asio::use_awaitable;
using outcome_later = runtime::awaitable<outcome_of_operation>;

mongo::collection& collection_of(const context_ptr& in, const operation& what)
{
    return in->named.get<collection_entity>(what.object).api;
}

outcome_later read_all(mongo::cursor from)
{
    const auto came = co_await from.all(use_awaitable);
    co_return outcome_from(came);
}

outcome_later find(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const auto options = given.options<mongo::find_options>();
    given.finish();
    return read_all(on.find(filter, options));
}

outcome_later find_one(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const auto options = given.options<mongo::find_options>();
    given.finish();
    const auto came = co_await on.find_one(filter, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later aggregate(context_ptr in, const operation& what)
{
    arguments given{*in, what};
    const bson::array_view pipeline = given.array("pipeline");
    const auto options = given.options<mongo::aggregate_options>();
    given.finish();
    const entity& on = in->named.at(what.object);
    if (const auto* const database = std::get_if<std::shared_ptr<database_entity>>(&on))
        return read_all((*database)->api.aggregate(pipeline, options));
    return read_all(collection_of(in, what).aggregate(pipeline, options));
}

outcome_later count_documents(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const auto options = given.options<mongo::count_options>();
    given.finish();
    const auto came = co_await on.count_documents(filter, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later estimated_document_count(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::count_options>();
    given.finish();
    const auto came = co_await on.estimated_document_count(options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later distinct(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const std::string_view field = given.text("fieldName");
    const bson::view filter = given.document("filter");
    const auto options = given.options<mongo::distinct_options>();
    given.finish();
    const auto came = co_await on.distinct(field, filter, options, use_awaitable);
    co_return outcome_from(came);
}

constexpr named_operation all[] = {
    {"find", find},
    {"findOne", find_one},
    {"aggregate", aggregate},
    {"countDocuments", count_documents},
    {"estimatedDocumentCount", estimated_document_count},
    {"distinct", distinct},
};

}  // namespace

std::span<const named_operation> read_operations() noexcept
{
    return all;
}

}  // namespace holdfast::spec::unified
