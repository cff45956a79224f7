#include "core/mongo/operation/admin.hpp"
#include "core/mongo/operation/admin_command.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::core::mongo {
namespace {

using holdfast::mongo::index_model;
using holdfast::mongo::index_options;

constexpr std::int32_t commit_quorum_since = 9;  // MongoDB 4.4

/// "1", "-1", "2dsphere".
std::string direction_of(const bson::element& key)
{
    if (key.type() == bson::type::string)
        return std::string{key.as_string()};
    if (const auto whole = key.get<std::int64_t>())
        return std::to_string(*whole);
    return key.type() == bson::type::double_ ? std::to_string(key.as_double()) : std::string{};
}

void put_index(bson::builder out, const index_model& index)
{
    const bson::element named = index.options.find("name");
    out.add("key", index.keys);
    if (!index.name.empty())
        out.add("name", index.name);
    else if (named.type() == bson::type::string)
        out.add("name", named.as_string());
    else
        out.add("name", index_name(index.keys));
    for (const bson::element& option : index.options) {
        if (option.key() != "name" && option.key() != "key")
            out.copy(option);
    }
}

result<command> finish(admin_change& made, const index_options& options)
{
    if (options.max_time)
        made.body().add("maxTimeMS", std::int64_t{options.max_time->count()});
    auto done = made.finish(options.write_concern, options.comment);
    if (done)
        done->raw_data = options.raw_data;
    return done;
}

/// The names of the indexes that a createIndexes command is about.
std::vector<std::string> index_names(const command& sent)
{
    std::vector<std::string> names;
    const bson::element list = sent.body.find("indexes");
    if (list.type() != bson::type::array)
        return names;
    for (const bson::element& one : list.as_array())
        names.emplace_back(one.as_document().find("name").as_string());
    return names;
}

}  // namespace

std::string index_name(bson::view keys)
{
    std::string name;
    std::size_t count = 0;
    for (const bson::element& key : keys) {
        if (count++ > 0)
            name += '_';
        name.append(key.key()).append("_").append(direction_of(key));
    }
    // The server insists on this name. A hashed index on _id is named like others.
    const auto order = keys.find("_id").get<std::int64_t>();
    return count == 1 && order && *order == 1 ? "_id_" : name;
}

result<command> create_indexes_operation::build(const operation_space& in) const
{
    if (in.collection.empty())
        return nameless("create_indexes");
    if (indexes.empty())
        return error{errc::command_failed, "create_indexes: there is no index to be created"};
    admin_change made{in.database, in, options.timeout};
    made.body().add("createIndexes", in.collection);
    {
        auto list = made.body().array("indexes");
        for (const index_model& one : indexes) {
            if (one.keys.empty())
                return error{errc::command_failed, "create_indexes: an index needs keys"};
            put_index(list.document(), one);
        }
    }
    options.commit_quorum.write(made.body(), "commitQuorum");
    auto done = finish(made, options);
    if (done && !options.commit_quorum.empty())
        done->need = {commit_quorum_since, "a commit quorum"};
    return done;
}

result<std::vector<std::string>> create_indexes_operation::read(command_outcome outcome,
                                                                const command& sent)
{
    if (!outcome)
        return std::move(outcome).error();
    return index_names(sent);
}

result<command> create_index_operation::build(const operation_space& in) const
{
    return create_indexes_operation{std::span{&index, 1}, options}.build(in);
}

result<std::string> create_index_operation::read(command_outcome outcome, const command& sent)
{
    if (!outcome)
        return std::move(outcome).error();
    return std::move(index_names(sent).front());
}

result<command> drop_index_operation::build(const operation_space& in) const
{
    if (in.collection.empty())
        return nameless("drop_index");
    if (which.empty())
        return error{errc::command_failed,
                     "drop_index: say which index, by its name or by its keys"};
    admin_change made{in.database, in, options.timeout};
    made.body().add("dropIndexes", in.collection);
    which.write(made.body(), "index");
    auto done = finish(made, options);
    if (done) {
        const bson::element index = done->body.find("index");
        if (index.type() == bson::type::string && index.as_string() == "*")
            return error{errc::command_failed,
                         "drop_index: \"*\" would drop all indexes; that is what drop_indexes() "
                         "is for"};
    }
    return done;
}

result<void> drop_index_operation::read(command_outcome outcome, const command&)
{
    return read_success(outcome);
}

result<command> drop_indexes_operation::build(const operation_space& in) const
{
    if (in.collection.empty())
        return nameless("drop_indexes");
    admin_change made{in.database, in, options.timeout};
    made.body().add("dropIndexes", in.collection).add("index", "*");
    return finish(made, options);
}

result<void> drop_indexes_operation::read(command_outcome outcome, const command&)
{
    return read_success(outcome);
}

result<query> list_indexes(const operation_space& space,
                           const holdfast::mongo::list_options& options)
{
    if (space.collection.empty())
        return nameless("list_indexes");
    bson::byte_buffer bytes;
    bson::builder body{bytes};
    body.add("listIndexes", space.collection);
    put_cursor(body, options);
    options.comment.write(body, "comment");
    if (auto written = body.finish(); !written)
        return std::move(written).error();
    command first = listing(space.database, space, options);
    first.body = bson::document::adopt(std::move(bytes));
    auto made = as_query(std::move(first), options);
    if (made)
        made->rules.missing_is_empty = true;
    return made;
}

}  // namespace holdfast::core::mongo
