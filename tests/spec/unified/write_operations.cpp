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

outcome_later insert_one(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view document = given.document("document");
    const auto options = given.options<mongo::insert_one_options>();
    given.finish();
    const auto came = co_await on.insert_one(document, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later insert_many(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    std::vector<bson::view> documents;
    for (const bson::element& one : given.array("documents")) {
        demand(one.type() == bson::type::document, "documents: one is no document");
        documents.push_back(one.as_document());
    }
    const auto options = given.options<mongo::insert_many_options>();
    given.finish();
    const auto came = co_await on.insert_many(documents, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later update_one(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const mongo::update_view change = given.update("update");
    const auto options = given.options<mongo::update_options>();
    given.finish();
    const auto came = co_await on.update_one(filter, change, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later update_many(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const mongo::update_view change = given.update("update");
    const auto options = given.options<mongo::update_options>();
    given.finish();
    const auto came = co_await on.update_many(filter, change, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later replace_one(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const bson::view by = given.document("replacement");
    const auto options = given.options<mongo::update_options>();
    given.finish();
    const auto came = co_await on.replace_one(filter, by, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later delete_one(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const auto options = given.options<mongo::delete_options>();
    given.finish();
    const auto came = co_await on.delete_one(filter, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later delete_many(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const auto options = given.options<mongo::delete_options>();
    given.finish();
    const auto came = co_await on.delete_many(filter, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later find_one_and_update(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const mongo::update_view change = given.update("update");
    const auto options = given.options<mongo::find_and_modify_options>();
    given.finish();
    const auto came = co_await on.find_one_and_update(filter, change, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later find_one_and_replace(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const bson::view by = given.document("replacement");
    const auto options = given.options<mongo::find_and_modify_options>();
    given.finish();
    const auto came = co_await on.find_one_and_replace(filter, by, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later find_one_and_delete(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view filter = given.document("filter");
    const auto options = given.options<mongo::find_and_modify_options>();
    given.finish();
    const auto came = co_await on.find_one_and_delete(filter, options, use_awaitable);
    co_return outcome_from(came);
}

constexpr named_operation all[] = {
    {"insertOne", insert_one},
    {"insertMany", insert_many},
    {"updateOne", update_one},
    {"updateMany", update_many},
    {"replaceOne", replace_one},
    {"deleteOne", delete_one},
    {"deleteMany", delete_many},
    {"findOneAndUpdate", find_one_and_update},
    {"findOneAndReplace", find_one_and_replace},
    {"findOneAndDelete", find_one_and_delete},
};

}  // namespace

std::span<const named_operation> write_operations() noexcept
{
    return all;
}

}  // namespace holdfast::spec::unified
