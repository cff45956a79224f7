#include "core/mongo/operation/admin.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/admin_command.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::mongo {
namespace {

using holdfast::mongo::create_collection_options;
using holdfast::mongo::drop_options;
using holdfast::mongo::list_options;
using holdfast::mongo::rename_options;

constexpr std::int32_t namespace_not_found = 26;

bool asks_only_for_names(bson::view filter)
{
    return std::ranges::all_of(filter.begin(), filter.end(),
                               [](const bson::element& e) { return e.key() == "name"; });
}

}  // namespace

result<command> create_collection(const operation_space& database, std::string_view name,
                                  const create_collection_options& how)
{
    if (name.empty())
        return nameless("create_collection");
    admin_change made{database.database, database, how.timeout};
    made.body().add("create", name);
    made.add("capped", how.capped)
        .add("size", how.size)
        .add("max", how.max)
        .add("storageEngine", how.storage_engine)
        .add("validator", how.validator)
        .add_text("validationLevel", how.validation_level)
        .add_text("validationAction", how.validation_action)
        .add("indexOptionDefaults", how.index_option_defaults)
        .add_text("viewOn", how.view_on)
        .add("pipeline", how.pipeline)
        .add("collation", how.collation)
        .add("timeseries", how.time_series)
        .add("expireAfterSeconds", how.expire_after_seconds)
        .add("clusteredIndex", how.clustered_index)
        .add("changeStreamPreAndPostImages", how.change_stream_pre_and_post_images);
    made.body().merge(how.more);
    return made.finish(how.write_concern, how.comment);
}

result<command> modify_collection(const operation_space& database, std::string_view name,
                                  bson::view changes, const drop_options& how)
{
    if (name.empty())
        return nameless("modify_collection");
    admin_change made{database.database, database, how.timeout};
    made.body().add("collMod", name).merge(changes);
    return made.finish(how.write_concern, how.comment);
}

result<command> drop_collection(const operation_space& space, const drop_options& how)
{
    if (space.collection.empty())
        return nameless("drop");
    admin_change made{space.database, space, how.timeout};
    made.body().add("drop", space.collection);
    return made.finish(how.write_concern, how.comment);
}

result<void> read_drop(result<bson::document> outcome)
{
    if (outcome || outcome.error().code() == error_code{namespace_not_found, server_category()})
        return {};
    return std::move(outcome).error();
}

result<command> rename_collection(const operation_space& space, std::string_view to,
                                  const rename_options& how)
{
    if (space.collection.empty() || to.empty())
        return nameless("rename");
    std::string target = space.database;
    target.append(".").append(to);
    admin_change made{"admin", space, how.timeout};
    made.body().add("renameCollection", space.full_name()).add("to", target);
    made.add("dropTarget", how.drop_target);
    return made.finish(how.write_concern, how.comment);
}

result<command> drop_database(const operation_space& database, const drop_options& how)
{
    admin_change made{database.database, database, how.timeout};
    made.body().add("dropDatabase", 1);
    return made.finish(how.write_concern, how.comment);
}

result<query> list_collections(const operation_space& database, const list_options& how)
{
    bson::byte_buffer bytes;
    bson::builder body{bytes};
    body.add("listCollections", 1);
    if (how.filter)
        body.add("filter", *how.filter);
    if (how.name_only)
        body.add("nameOnly", *how.name_only);
    if (how.authorized_only)
        body.add("authorizedCollections", *how.authorized_only);
    put_cursor(body, how);
    how.comment.write(body, "comment");
    if (auto written = body.finish(); !written)
        return std::move(written).error();
    command first = listing(database.database, database, how);
    first.body = bson::document::adopt(std::move(bytes));
    return as_query(std::move(first), how);
}

list_options names_only(const list_options& how)
{
    list_options names = how;
    // With it the server would not look at what else a filter asks for.
    if (!names.name_only && (!names.filter || asks_only_for_names(*names.filter)))
        names.name_only = true;
    return names;
}

result<command> list_databases(const operation_space& admin, const list_options& how)
{
    bson::byte_buffer bytes;
    bson::builder body{bytes};
    body.add("listDatabases", 1);
    if (how.filter)
        body.add("filter", *how.filter);
    if (how.name_only)
        body.add("nameOnly", *how.name_only);
    if (how.authorized_only)
        body.add("authorizedDatabases", *how.authorized_only);
    how.comment.write(body, "comment");
    if (auto written = body.finish(); !written)
        return std::move(written).error();
    command made = listing("admin", admin, how);
    made.raw_data.reset();  // it is about collections
    made.body = bson::document::adopt(std::move(bytes));
    return made;
}

namespace {

/// Each document of the reply, given to `take`.
template <class Take>
result<void> each_database(const result<bson::document>& outcome, Take take)
{
    if (!outcome)
        return outcome.error();
    const bson::element list = outcome->find("databases");
    if (list.type() != bson::type::array)
        return error{errc::malformed_message,
                     "the reply to listDatabases has no array \"databases\""};
    for (const bson::element& one : list.as_array()) {
        if (one.type() != bson::type::document)
            return error{errc::malformed_message,
                         "the reply to listDatabases lists something that is no document"};
        take(one.as_document());
    }
    return {};
}

}  // namespace

result<std::vector<bson::document>> read_databases(result<bson::document> outcome)
{
    std::vector<bson::document> all;
    auto read = each_database(outcome, [&](bson::view one) { all.emplace_back(one); });
    if (!read)
        return std::move(read).error();
    return all;
}

result<std::vector<std::string>> read_database_names(result<bson::document> outcome)
{
    std::vector<std::string> names;
    auto read = each_database(outcome, [&](bson::view one) {
        const bson::element name = one.find("name");
        if (name.type() == bson::type::string)
            names.emplace_back(name.as_string());
    });
    if (!read)
        return std::move(read).error();
    return names;
}

}  // namespace holdfast::core::mongo
