#include "api_call.hpp"

namespace holdfast::spec::unified {
namespace {

using collection_name = arg::text<"collection">;

/// Its result is an entity.
outcome_later create_collection(context_ptr in, const operation& what)
{
    const auto of = in->named.share<database_entity>(what.object);
    arguments given{*in, what};
    const std::string_view name = given.text("collection");
    const auto options = given.options<mongo::create_collection_options>();
    given.finish();
    const auto came = co_await of->api.create_collection(name, options, use_awaitable);
    if (!came)
        co_return failed_with(came.error());
    if (what.save_result_as) {
        auto made = std::make_shared<collection_entity>(collection_entity{*came, of->of});
        in->named.add(*what.save_result_as, std::move(made));
    }
    co_return gave_nothing();
}

using documents_later = runtime::awaitable<result<std::vector<bson::document>>>;

/// What a helper that lists handles would make of a list of descriptions.
runtime::awaitable<result<std::vector<std::string>>> names_in(documents_later listed)
{
    const auto came = co_await std::move(listed);
    if (!came)
        co_return came.error();
    std::vector<std::string> names;
    for (const bson::document& one : *came) {
        const auto name = one.get<std::string>("name");
        demand(name.has_value(), "an element of the list has no name: " + shown(one.view()));
        names.push_back(*name);
    }
    co_return names;
}

/// The models refer to the options, which are kept here.
struct index_models {
    std::vector<bson::document> options = {};
    std::vector<mongo::index_model> models = {};

    static index_models read(arguments& given)
    {
        index_models made;
        for (const bson::view one : arg::documents<"models">::read(given)) {
            fields model{one, "an index of several"};
            mongo::index_model& added = made.models.emplace_back();
            added.keys = model.document("keys");
            made.options.push_back(model.rest());
        }
        for (std::size_t n = 0; n < made.models.size(); ++n)
            made.models[n].options = made.options[n];
        return made;
    }
};

constexpr named_operation admin_operations_table[] = {
    {"runCommand",
     on_database<mongo::command_options, arg::text_if<"commandName">, arg::document<"command">>(
         [](const auto& on, std::string_view, const auto&... given) {
             return on.run_command(given..., use_awaitable);
         })},
    {"createCollection", create_collection, true},
    {"modifyCollection", on_database<mongo::drop_options, collection_name, arg::rest>(
                             [](const auto& on, const auto&... given) {
                                 return on.modify_collection(given..., use_awaitable);
                             })},
    {"dropCollection", on_database<mongo::drop_options, collection_name>(
                           [](const auto& on, std::string_view name, const auto& options) {
                               return on[name].drop(options, use_awaitable);
                           })},
    {"dropDatabase", on_client<mongo::drop_options, arg::text<"database">>(
                         [](const auto& on, std::string_view name, const auto& options) {
                             return on[name].drop(options, use_awaitable);
                         })},
    {"listCollections", on_database<mongo::list_options>([](const auto& on, const auto& options) {
         return on.list_collections(options);
     })},
    {"listCollectionNames",
     on_database<mongo::list_options>([](const auto& on, const auto& options) {
         return on.list_collection_names(options, use_awaitable);
     })},
    {"listCollectionObjects",
     on_database<mongo::list_options>([](const auto& on, const auto& options) {
         return names_in(all_of(on.list_collections(options)));
     })},
    {"listDatabases", on_client<mongo::list_options>([](const auto& on, const auto& options) {
         return on.list_databases(options, use_awaitable);
     })},
    {"listDatabaseNames", on_client<mongo::list_options>([](const auto& on, const auto& options) {
         return on.list_database_names(options, use_awaitable);
     })},
    {"listDatabaseObjects", on_client<mongo::list_options>([](const auto& on, const auto& options) {
         return names_in(on.list_databases(options, use_awaitable));
     })},
    {"rename",
     on_collection<mongo::rename_options, arg::text<"to">>(
         [](const auto& on, const auto&... given) { return on.rename(given..., use_awaitable); })},
    // The options of an index, its name among them, are the rest of the arguments.
    {"createIndex", on_collection<mongo::index_options, arg::document<"keys">, arg::rest>(
                        [](const auto& on, const auto&... given) {
                            return on.create_index(given..., use_awaitable);
                        })},
    {"createIndexes", on_collection<mongo::index_options, index_models>(
                          [](const auto& on, const index_models& all, const auto& options) {
                              return on.create_indexes(all.models, options, use_awaitable);
                          })},
    {"dropIndex", on_collection<mongo::index_options, arg::text<"name">>(
                      [](const auto& on, const auto&... given) {
                          return on.drop_index(given..., use_awaitable);
                      })},
    {"dropIndexes", on_collection<mongo::index_options>([](const auto& on, const auto& options) {
         return on.drop_indexes(options, use_awaitable);
     })},
    {"listIndexes", on_collection<mongo::list_options>([](const auto& on, const auto& options) {
         return on.list_indexes(options);
     })},
    {"listIndexNames", on_collection<mongo::list_options>([](const auto& on, const auto& options) {
         return names_in(all_of(on.list_indexes(options)));
     })},
};

}  // namespace

std::span<const named_operation> admin_operations() noexcept
{
    return admin_operations_table;
}

}  // namespace holdfast::spec::unified
