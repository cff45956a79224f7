#include "core/mongo/operation/query.hpp"

#include "core/mongo/operation/read_draft.hpp"
#include "holdfast/mongo/operations.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::core::mongo {

namespace {

using holdfast::mongo::aggregate_options;
using holdfast::mongo::cursor_kind;
using holdfast::mongo::find_options;

/// From this wire version on (MongoDB 4.4) a getMore takes a comment.
constexpr std::int32_t takes_comment = 9;

bson::document keep_comment(const holdfast::mongo::any_value& comment)
{
    if (comment.empty()) [[likely]]
        return {};
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    comment.write(out, "comment");
    if (!out.finish())
        return {};
    return bson::document::adopt(std::move(bytes));
}

result<void> check_batch_size(const std::optional<std::int32_t>& size)
{
    if (size && *size < 0)
        return refused("batch_size", "a number from 0 on is expected");
    return {};
}

/// How many documents are wanted, and how they come.
struct find_extent {
    std::optional<std::int64_t> limit = {};
    std::optional<std::int64_t> batch_size = {};
    bool single_batch = false;
    bool tailable = false;
    bool await = false;
};

result<find_extent> extent_of(const find_options& options)
{
    if (auto fine = check_batch_size(options.batch_size); !fine)
        return std::move(fine).error();
    find_extent wanted;
    wanted.limit = options.limit;
    wanted.batch_size = options.batch_size;
    wanted.await = options.cursor == cursor_kind::tailable_await;
    wanted.tailable = wanted.await || options.cursor == cursor_kind::tailable;
    if (options.limit && *options.limit < 0) {
        if (*options.limit == std::numeric_limits<std::int64_t>::min())
            return refused("limit", "is beyond all numbers of documents");
        wanted.limit = -*options.limit;
        wanted.single_batch = true;
    }
    // One document more than are to come, and the server need not keep the cursor open for the end.
    const bool all_at_once = wanted.limit && *wanted.limit > 0 && wanted.limit == wanted.batch_size;
    if (all_at_once && !wanted.single_batch)
        ++*wanted.batch_size;
    return wanted;
}

void put_batch_size(bson::builder& to, std::int64_t size)
{
    if (size <= std::numeric_limits<std::int32_t>::max())
        to.put("batchSize", static_cast<std::int32_t>(size));
    else
        to.put("batchSize", size);
}

void put_if_true(bson::builder& to, std::string_view key, bool value)
{
    if (value)
        to.put(key, true);
}

result<command> find(const operation_space& space, bson::view filter, const find_options& options,
                     const find_extent& wanted)
{
    draft d{space, "find", filter.size() + 32};
    d.body.put("filter", filter);
    d.put("sort", options.sort);
    d.put("projection", options.projection);
    options.hint.write(d.body, "hint");
    d.put("skip", options.skip);
    d.put("limit", wanted.limit);
    if (wanted.batch_size)
        put_batch_size(d.body, *wanted.batch_size);
    put_if_true(d.body, "singleBatch", wanted.single_batch);
    options.comment.write(d.body, "comment");
    d.put("maxTimeMS", options.max_time);
    d.put("max", options.max);
    d.put("min", options.min);
    d.put("returnKey", options.return_key);
    d.put("showRecordId", options.show_record_id);
    put_if_true(d.body, "tailable", wanted.tailable);
    put_if_true(d.body, "awaitData", wanted.await);
    d.put("oplogReplay", options.oplog_replay);
    d.put("noCursorTimeout", options.no_cursor_timeout);
    d.put("allowPartialResults", options.allow_partial_results);
    d.put("collation", options.collation);
    d.put("allowDiskUse", options.allow_disk_use);
    d.put("let", options.let);
    return finish_read(d, space, options);
}

/// The name of a database, and of a collection, which may have dots in it.
std::pair<std::string_view, std::string_view> split(std::string_view space) noexcept
{
    const std::size_t dot = space.find('.');
    if (dot == space.npos)
        return {space, {}};
    return {space.substr(0, dot), space.substr(dot + 1)};
}

/// The size of the next batch; 0: as the server likes.
std::int64_t next_batch_size(const cursor_rules& rules, std::int64_t received) noexcept
{
    if (rules.limit <= received)
        return rules.batch_size;  // there is no limit
    const std::int64_t left = rules.limit - received;
    return rules.batch_size > 0 ? std::min<std::int64_t>(rules.batch_size, left) : left;
}

}  // namespace

bool writes_output(bson::array_view pipeline)
{
    bson::element last;
    for (const bson::element& stage : pipeline)
        last = stage;
    if (last.type() != bson::type::document || last.as_document().empty())
        return false;
    const std::string_view name = (*last.as_document().begin()).key();
    return name == "$out" || name == "$merge";
}

bool is_writing_aggregate(bson::view command)
{
    if (command.empty() || (*command.begin()).key() != "aggregate")
        return false;
    const bson::element pipeline = command.find("pipeline");
    return pipeline.type() == bson::type::array && writes_output(pipeline.as_array());
}

result<query> find(const operation_space& space, bson::view filter, const find_options& options)
{
    const auto wanted = extent_of(options);
    if (!wanted)
        return wanted.error();
    auto first = find(space, filter, options, *wanted);
    if (!first)
        return std::move(first).error();
    query made{.first = *std::move(first), .rules = {}};
    made.rules.batch_size = options.batch_size.value_or(0);
    made.rules.limit = wanted->limit.value_or(0);
    if (wanted->await)
        made.rules.max_time = options.max_await_time;
    made.rules.comment = keep_comment(options.comment);
    made.rules.tailable = wanted->tailable;
    made.rules.raw_data = options.raw_data;
    return made;
}

result<command> find_one_operation::build(const operation_space& in) const
{
    find_extent wanted;
    wanted.limit = 1;
    wanted.single_batch = true;
    return find(in, filter, options, wanted);
}

result<maybe_document> find_one_operation::read(command_outcome outcome, const command&)
{
    if (!outcome) [[unlikely]]
        return std::move(outcome).error();
    const auto batch = read_batch(*outcome);
    if (!batch) [[unlikely]]
        return batch.error();
    if (batch->documents.empty())
        return maybe_document{};
    return maybe_document{bson::document{batch->documents.begin()->as_document()}};
}

result<query> aggregate(const operation_space& space, bson::array_view pipeline,
                        const aggregate_options& options)
{
    if (auto fine = check_batch_size(options.batch_size); !fine)
        return std::move(fine).error();
    const bool writes = writes_output(pipeline);
    draft d{space, pipeline.bytes().size() + space.collection.size() + 64};
    if (space.collection.empty())
        d.body.put("aggregate", std::int32_t{1});
    else
        d.body.put("aggregate", std::string_view{space.collection});
    d.body.put("pipeline", pipeline);
    {
        auto cursor = d.body.document("cursor");
        if (options.batch_size && !writes)
            cursor.put("batchSize", *options.batch_size);
    }
    d.put("allowDiskUse", options.allow_disk_use);
    d.put("bypassDocumentValidation", options.bypass_document_validation);
    d.put("collation", options.collation);
    d.put("maxTimeMS", options.max_time);
    options.comment.write(d.body, "comment");
    options.hint.write(d.body, "hint");
    d.put("let", options.let);
    if (writes) {
        if (auto put = put_write_concern(d.body, d.to, space, options.write_concern); !put)
            return std::move(put).error();
        d.to.acknowledged = true;  // a cursor is the answer, whatever the write concern is
    }
    auto first = finish_read(d, space, options);
    if (!first)
        return std::move(first).error();
    if (writes) {
        first->kind = retry_kind::write;
        first->eligible = false;
        first->writes_output = true;
    }
    query made{.first = *std::move(first), .rules = {}};
    made.rules.batch_size = options.batch_size.value_or(0);
    made.rules.max_time = options.max_await_time;
    made.rules.comment = keep_comment(options.comment);
    made.rules.raw_data = options.raw_data;
    return made;
}

command get_more(std::string_view space, std::int64_t id, const cursor_rules& rules,
                 std::int64_t received, std::int32_t wire_version)
{
    const auto [database, collection] = split(space);
    bson::byte_buffer bytes;
    bytes.reserve(collection.size() + rules.comment.size() + 96);
    bson::builder out{bytes};
    out.put("getMore", id);
    out.put("collection", collection);
    if (const std::int64_t size = next_batch_size(rules, received); size > 0)
        put_batch_size(out, size);
    if (rules.max_time)
        out.put("maxTimeMS", std::int64_t{rules.max_time->count()});
    if (wire_version >= takes_comment)
        out.merge(rules.comment);
    command made;
    made.database = database;
    (void)out.finish();  // our names and the server's: nothing that a document could not hold
    made.body = bson::document::adopt(std::move(bytes));
    made.kind = retry_kind::read;  // sent again only if the server would not even begin with it
    made.selects = operation_kind::read;
    made.raw_data = rules.raw_data;
    return made;
}

command kill_cursor(std::string_view space, std::int64_t id)
{
    const auto [database, collection] = split(space);
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.put("killCursors", collection);
    out.array("cursors").add(id);
    command made;
    made.database = database;
    (void)out.finish();
    made.body = bson::document::adopt(std::move(bytes));
    made.kind = retry_kind::read;
    made.selects = operation_kind::read;
    return made;
}

}  // namespace holdfast::core::mongo
