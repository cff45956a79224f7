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
mongo::database& database_of(const context_ptr& in, const operation& what)
{
    return in->named.get<database_entity>(what.object).api;
}
mongo::client& client_of(const context_ptr& in, const operation& what)
{
    return in->named.get<client_entity>(what.object).api;
}

outcome_later run_command(context_ptr in, const operation& what)
{
    const mongo::database& on = database_of(in, what);
    arguments given{*in, what};
    (void)given.text_if("commandName");
    const bson::view command = given.document("command");
    const auto options = given.options<mongo::command_options>();
    given.finish();
    const auto came = co_await on.run_command(command, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later create_collection(context_ptr in, const operation& what)
{
    const mongo::database& on = database_of(in, what);
    arguments given{*in, what};
    const std::string_view name = given.text("collection");
    auto options = given.options<mongo::create_collection_options>();
    options.capped = given.flag("capped");
    options.size = given.number("size");
    options.max = given.number("max");
    options.storage_engine = given.document_if("storageEngine");
    options.validator = given.document_if("validator");
    options.validation_level = given.text_if("validationLevel");
    options.validation_action = given.text_if("validationAction");
    options.index_option_defaults = given.document_if("indexOptionDefaults");
    options.view_on = given.text_if("viewOn");
    options.pipeline = given.array_if("pipeline");
    options.time_series = given.document_if("timeseries");
    options.expire_after_seconds = given.number("expireAfterSeconds");
    options.clustered_index = given.document_if("clusteredIndex");
    options.change_stream_pre_and_post_images = given.document_if("changeStreamPreAndPostImages");
    given.finish();
    const auto came = co_await on.create_collection(name, options, use_awaitable);
    if (!came)
        co_return failed_with(came.error());
    if (what.save_result_as) {
        auto of = in->named.get<database_entity>(what.object).of;
        auto made = std::make_shared<collection_entity>(collection_entity{*came, std::move(of)});
        in->named.add(*what.save_result_as, std::move(made));
    }
    co_return gave_nothing();
}

outcome_later modify_collection(context_ptr in, const operation& what)
{
    const mongo::database& on = database_of(in, what);
    arguments given{*in, what};
    const std::string_view name = given.text("collection");
    const auto options = given.options<mongo::drop_options>();
    const bson::document changes = given.rest();
    const auto came = co_await on.modify_collection(name, changes, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later drop_collection(context_ptr in, const operation& what)
{
    const mongo::database& on = database_of(in, what);
    arguments given{*in, what};
    const std::string_view name = given.text("collection");
    const auto options = given.options<mongo::drop_options>();
    given.finish();
    const auto which = on[name];
    const auto came = co_await which.drop(options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later drop_database(context_ptr in, const operation& what)
{
    const mongo::client& on = client_of(in, what);
    arguments given{*in, what};
    const std::string_view name = given.text("database");
    const auto options = given.options<mongo::drop_options>();
    given.finish();
    const auto which = on[name];
    const auto came = co_await which.drop(options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later rename(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const std::string_view to = given.text("to");
    const auto options = given.options<mongo::rename_options>();
    given.finish();
    const auto came = co_await on.rename(to, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later list_collections(context_ptr in, const operation& what)
{
    const mongo::database& on = database_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::list_options>();
    given.finish();
    auto from = on.list_collections(options);
    const auto came = co_await from.all(use_awaitable);
    co_return outcome_from(came);
}

outcome_later list_collection_names(context_ptr in, const operation& what)
{
    const mongo::database& on = database_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::list_options>();
    given.finish();
    const auto came = co_await on.list_collection_names(options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later list_databases(context_ptr in, const operation& what)
{
    const mongo::client& on = client_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::list_options>();
    given.finish();
    const auto came = co_await on.list_databases(options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later list_database_names(context_ptr in, const operation& what)
{
    const mongo::client& on = client_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::list_options>();
    given.finish();
    const auto came = co_await on.list_database_names(options, use_awaitable);
    co_return outcome_from(came);
}

/// Names and handles: what a helper of this name would make of the list.
outcome_later list_collection_objects(context_ptr in, const operation& what)
{
    const mongo::database& on = database_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::list_options>();
    given.finish();
    auto from = on.list_collections(options);
    const auto came = co_await from.all(use_awaitable);
    if (!came)
        co_return failed_with(came.error());
    std::vector<std::string> names;
    for (const bson::document& one : *came) {
        const auto name = one.get<std::string>("name");
        demand(name.has_value(), "listCollectionObjects: one has no name");
        const mongo::collection made = on[*name];
        names.push_back(made.name());
    }
    co_return gave(names);
}

outcome_later list_database_objects(context_ptr in, const operation& what)
{
    const mongo::client& on = client_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::list_options>();
    given.finish();
    const auto came = co_await on.list_databases(options, use_awaitable);
    if (!came)
        co_return failed_with(came.error());
    std::vector<std::string> names;
    for (const bson::document& one : *came) {
        const auto name = one.get<std::string>("name");
        demand(name.has_value(), "listDatabaseObjects: one has no name");
        const mongo::database made = on[*name];
        names.push_back(made.name());
    }
    co_return gave(names);
}

outcome_later create_index(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const bson::view keys = given.document("keys");
    const auto options = given.options<mongo::index_options>();
    const bson::document of_index = given.rest();  // its name among them
    const auto came = co_await on.create_index(keys, of_index, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later create_indexes(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    std::vector<bson::document> kept;
    std::vector<mongo::index_model> models;
    for (const bson::element& one : given.array("models")) {
        demand(one.type() == bson::type::document, "models: one is no document");
        fields model{one.as_document(), "an index of several"};
        mongo::index_model made;
        made.keys = model.document("keys");
        kept.push_back(model.rest());
        models.push_back(made);
    }
    for (std::size_t n = 0; n < models.size(); ++n)
        models[n].options = kept[n];
    const auto options = given.options<mongo::index_options>();
    given.finish();
    const auto came = co_await on.create_indexes(models, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later drop_index(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const std::string_view name = given.text("name");
    const auto options = given.options<mongo::index_options>();
    given.finish();
    const auto came = co_await on.drop_index(name, options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later drop_indexes(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::index_options>();
    given.finish();
    const auto came = co_await on.drop_indexes(options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later list_indexes(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::list_options>();
    given.finish();
    auto from = on.list_indexes(options);
    const auto came = co_await from.all(use_awaitable);
    co_return outcome_from(came);
}

outcome_later list_index_names(context_ptr in, const operation& what)
{
    const mongo::collection& on = collection_of(in, what);
    arguments given{*in, what};
    const auto options = given.options<mongo::list_options>();
    given.finish();
    auto from = on.list_indexes(options);
    const auto came = co_await from.all(use_awaitable);
    if (!came)
        co_return failed_with(came.error());
    std::vector<std::string> names;
    for (const bson::document& one : *came)
        names.push_back(one.get<std::string>("name").value_or("(an index without a name)"));
    co_return gave(names);
}

constexpr named_operation all[] = {
    {"runCommand", run_command},
    {"createCollection", create_collection, true},
    {"modifyCollection", modify_collection},
    {"dropCollection", drop_collection},
    {"dropDatabase", drop_database},
    {"rename", rename},
    {"listCollections", list_collections},
    {"listCollectionNames", list_collection_names},
    {"listCollectionObjects", list_collection_objects},
    {"listDatabases", list_databases},
    {"listDatabaseNames", list_database_names},
    {"listDatabaseObjects", list_database_objects},
    {"createIndex", create_index},
    {"createIndexes", create_indexes},
    {"dropIndex", drop_index},
    {"dropIndexes", drop_indexes},
    {"listIndexes", list_indexes},
    {"listIndexNames", list_index_names},
};

}  // namespace

std::span<const named_operation> admin_operations() noexcept
{
    return all;
}

}  // namespace holdfast::spec::unified
