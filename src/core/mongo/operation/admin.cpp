#include "core/mongo/operation/admin.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/admin_command.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::mongo {
namespace {

using holdfast::mongo::list_options;

/// What does not exist has been dropped.
result<void> read_drop(command_outcome& outcome)
{
    if (outcome || is_namespace_not_found(outcome.error()))
        return {};
    return std::move(outcome).error();
}

bool asks_only_for_names(bson::view filter)
{
    return std::ranges::all_of(filter.begin(), filter.end(),
                               [](const bson::element& e) { return e.key() == "name"; });
}

}  // namespace

result<command> create_collection_operation::build(const operation_space& in) const
{
    if (name.empty())
        return nameless("create_collection");
    admin_change made{in.database, in, options.timeout};
    made.body().add("create", name);
    made.add("capped", options.capped)
        .add("size", options.size)
        .add("max", options.max)
        .add("storageEngine", options.storage_engine)
        .add("validator", options.validator)
        .add_text("validationLevel", options.validation_level)
        .add_text("validationAction", options.validation_action)
        .add("indexOptionDefaults", options.index_option_defaults)
        .add_text("viewOn", options.view_on)
        .add("pipeline", options.pipeline)
        .add("collation", options.collation)
        .add("timeseries", options.time_series)
        .add("expireAfterSeconds", options.expire_after_seconds)
        .add("clusteredIndex", options.clustered_index)
        .add("changeStreamPreAndPostImages", options.change_stream_pre_and_post_images);
    made.body().merge(options.more);
    return made.finish(options.write_concern, options.comment);
}

result<void> create_collection_operation::read(command_outcome outcome, const command&)
{
    return read_success(outcome);
}

result<command> modify_collection_operation::build(const operation_space& in) const
{
    if (name.empty())
        return nameless("modify_collection");
    admin_change made{in.database, in, options.timeout};
    made.body().add("collMod", name).merge(changes);
    return made.finish(options.write_concern, options.comment);
}

result<bson::document> modify_collection_operation::read(command_outcome outcome, const command&)
{
    return std::move(outcome).to_document();
}

result<command> drop_collection_operation::build(const operation_space& in) const
{
    if (in.collection.empty())
        return nameless("drop");
    admin_change made{in.database, in, options.timeout};
    made.body().add("drop", in.collection);
    return made.finish(options.write_concern, options.comment);
}

result<void> drop_collection_operation::read(command_outcome outcome, const command&)
{
    return read_drop(outcome);
}

result<command> rename_collection_operation::build(const operation_space& in) const
{
    if (in.collection.empty() || to.empty())
        return nameless("rename");
    std::string target = in.database;
    target.append(".").append(to);
    admin_change made{"admin", in, options.timeout};
    made.body().add("renameCollection", in.full_name()).add("to", target);
    made.add("dropTarget", options.drop_target);
    return made.finish(options.write_concern, options.comment);
}

result<void> rename_collection_operation::read(command_outcome outcome, const command&)
{
    return read_success(outcome);
}

result<command> drop_database_operation::build(const operation_space& in) const
{
    admin_change made{in.database, in, options.timeout};
    made.body().add("dropDatabase", 1);
    return made.finish(options.write_concern, options.comment);
}

result<void> drop_database_operation::read(command_outcome outcome, const command&)
{
    return read_drop(outcome);
}

result<query> list_collections(const operation_space& database, const list_options& options)
{
    bson::byte_buffer bytes;
    bson::builder body{bytes};
    body.add("listCollections", 1);
    if (options.filter)
        body.add("filter", *options.filter);
    if (options.name_only)
        body.add("nameOnly", *options.name_only);
    if (options.authorized_only)
        body.add("authorizedCollections", *options.authorized_only);
    put_cursor(body, options);
    options.comment.write(body, "comment");
    if (auto written = body.finish(); !written)
        return std::move(written).error();
    command first = listing(database.database, database, options);
    first.body = bson::document::adopt(std::move(bytes));
    return as_query(std::move(first), options);
}

list_options names_only(const list_options& options)
{
    list_options names = options;
    // With it the server would not look at what else a filter asks for.
    if (!names.name_only && (!names.filter || asks_only_for_names(*names.filter)))
        names.name_only = true;
    return names;
}

namespace {

result<command> list_databases(const operation_space& admin, const list_options& options)
{
    bson::byte_buffer bytes;
    bson::builder body{bytes};
    body.add("listDatabases", 1);
    if (options.filter)
        body.add("filter", *options.filter);
    if (options.name_only)
        body.add("nameOnly", *options.name_only);
    if (options.authorized_only)
        body.add("authorizedDatabases", *options.authorized_only);
    options.comment.write(body, "comment");
    if (auto written = body.finish(); !written)
        return std::move(written).error();
    command made = listing("admin", admin, options);
    made.raw_data.reset();  // it is about collections
    made.body = bson::document::adopt(std::move(bytes));
    return made;
}

/// Each document of the reply, given to `take`.
template <class Take>
result<void> each_database(const command_outcome& outcome, Take take)
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

result<command> list_databases_operation::build(const operation_space& in) const
{
    return list_databases(in, options);
}

result<std::vector<bson::document>> list_databases_operation::read(command_outcome outcome,
                                                                   const command&)
{
    std::vector<bson::document> all;
    auto read = each_database(outcome, [&](bson::view one) { all.emplace_back(one); });
    if (!read)
        return std::move(read).error();
    return all;
}

result<command> list_database_names_operation::build(const operation_space& in) const
{
    return list_databases(in, names_only(options));
}

result<std::vector<std::string>> list_database_names_operation::read(command_outcome outcome,
                                                                     const command&)
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
