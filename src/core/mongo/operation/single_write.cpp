#include "core/mongo/operation/single_write.hpp"

#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/id_source.hpp"
#include "core/mongo/operation/write_reply.hpp"
#include "holdfast/mongo/operations.hpp"

#include <string>
#include <string_view>

/// Writes of one statement. Their replies are those of commands that were carried out, so the
/// errors in them are the server's "writeErrors".
namespace holdfast::core::mongo {

namespace {

using holdfast::mongo::delete_options;
using holdfast::mongo::delete_result;
using holdfast::mongo::id_value;
using holdfast::mongo::insert_one_result;
using holdfast::mongo::update_options;
using holdfast::mongo::update_result;
using holdfast::mongo::update_view;

/// From these wire versions on servers refuse a hint that they do not know. The refusal of an
/// unacknowledged write would go unnoticed.
constexpr std::int32_t knows_hint_in_update = 8;  // MongoDB 4.2
constexpr std::int32_t knows_hint_in_delete = 9;  // MongoDB 4.4

enum class reach : std::uint8_t { one, many };

/// The end of all writes. Only a write of one document may carry a transaction number.
template <class Options>
result<command> finish(draft& d, const operation_space& space, const Options& options, reach which)
{
    options.comment.write(d.body, "comment");
    if (auto put = put_write_concern(d.body, d.to, space, options.write_concern); !put)
        return std::move(put).error();
    d.limit(options.timeout);
    d.to.raw_data = options.raw_data;
    d.to.kind = retry_kind::write;
    d.to.eligible = which == reach::one && d.to.acknowledged;
    return d.finish();
}

void put_update(bson::builder& to, bson::view filter, update_view change,
                const update_options& options, reach which)
{
    to.put("q", filter);
    change.write(to, "u");
    if (which == reach::many)
        to.put("multi", true);
    if (options.upsert)
        to.put("upsert", *options.upsert);
    if (options.array_filters)
        to.put("arrayFilters", *options.array_filters);
    if (options.collation)
        to.put("collation", *options.collation);
    options.hint.write(to, "hint");
    if (options.sort)
        to.put("sort", *options.sort);
}

result<command> update(const operation_space& space, bson::view filter, update_view change,
                       const update_options& options, reach which)
{
    draft d{space, "update", filter.size() + change.what().size() + 64};
    {
        auto statements = d.body.array("updates");
        auto statement = statements.document();
        put_update(statement, filter, change, options, which);
    }
    d.body.put("ordered", true);
    d.put("bypassDocumentValidation", options.bypass_document_validation);
    d.put("let", options.let);
    auto made = finish(d, space, options, which);
    if (made && !made->acknowledged && !options.hint.empty())
        made->need = {knows_hint_in_update, "a hint in an update without acknowledgement"};
    return made;
}

result<command> remove(const operation_space& space, bson::view filter,
                       const delete_options& options, reach which)
{
    draft d{space, "delete", filter.size() + 64};
    {
        auto statements = d.body.array("deletes");
        auto statement = statements.document();
        statement.put("q", filter);
        statement.put("limit", which == reach::one ? std::int32_t{1} : std::int32_t{0});
        if (options.collation)
            statement.put("collation", *options.collation);
        options.hint.write(statement, "hint");
    }
    d.body.put("ordered", true);
    d.put("let", options.let);
    auto made = finish(d, space, options, which);
    if (made && !made->acknowledged && !options.hint.empty())
        made->need = {knows_hint_in_delete, "a hint in a delete without acknowledgement"};
    return made;
}

bool has_operator_first(bson::view document) noexcept
{
    return !document.empty() && (*document.begin()).key().starts_with('$');
}

result<update_result> read_update(command_outcome& outcome, const command& sent)
{
    const auto seen = read_write_reply(outcome, &sent);
    if (!seen) [[unlikely]]
        return seen.error();
    update_result done;
    done.acknowledged = sent.acknowledged;
    if (!sent.acknowledged)
        return done;
    done.matched_count = seen->n;
    done.modified_count = seen->modified;
    if (const bson::element id = first_id(seen->upserted)) {
        done.upserted_count = 1;
        done.upserted_id.emplace(id);
        done.matched_count = seen->n - 1;  // the server counts the new one among the matched
    }
    return done;
}

}  // namespace

result<command> insert_one_operation::build(const operation_space& in, id_source& ids) const
{
    if (document.mapping_error() != nullptr) [[unlikely]]
        return *document.mapping_error();
    const bson::view stored = document.view();
    draft d{in, "insert", stored.size() + 32};
    {
        auto documents = d.body.array("documents");
        if (holdfast::mongo::details::has_id(stored)) {
            documents.elements().put(documents.next_key(), stored);
        } else {
            auto whole = documents.document();
            whole.put("_id", ids.next());
            whole.merge(stored);
        }
    }
    d.body.put("ordered", true);
    d.put("bypassDocumentValidation", options.bypass_document_validation);
    return finish(d, in, options, reach::one);
}

result<insert_one_result> insert_one_operation::read(command_outcome outcome, const command& sent)
{
    if (!outcome || may_have_write_errors(*outcome)) [[unlikely]]
        if (const auto seen = read_write_reply(outcome); !seen)
            return seen.error();
    insert_one_result done;
    if (const bson::element id = first_id(sent.body.find("documents")))
        done.inserted_id = id_value{id};
    done.acknowledged = sent.acknowledged;
    return done;
}

result<command> update_operation::build(const operation_space& in) const
{
    if (auto fine = check_update(change); !fine)
        return std::move(fine).error();
    if (multi && options.sort)
        return refused("sort", "update_many changes all that match, in no order; leave it out");
    return update(in, filter, change, options, multi ? reach::many : reach::one);
}

result<update_result> update_operation::read(command_outcome outcome, const command& sent)
{
    return read_update(outcome, sent);
}

result<command> replace_one_operation::build(const operation_space& in) const
{
    if (by.mapping_error() != nullptr) [[unlikely]]
        return *by.mapping_error();
    if (auto fine = check_replacement(by.view()); !fine)
        return std::move(fine).error();
    if (options.array_filters)
        return refused("array_filters", "a replacement changes the whole document; leave it out");
    return update(in, filter, by.view(), options, reach::one);
}

result<update_result> replace_one_operation::read(command_outcome outcome, const command& sent)
{
    return read_update(outcome, sent);
}

result<command> delete_operation::build(const operation_space& in) const
{
    return remove(in, filter, options, multi ? reach::many : reach::one);
}

result<delete_result> delete_operation::read(command_outcome outcome, const command& sent)
{
    const auto seen = read_write_reply(outcome, &sent);
    if (!seen) [[unlikely]]
        return seen.error();
    return delete_result{.deleted_count = sent.acknowledged ? seen->n : 0,
                         .acknowledged = sent.acknowledged};
}

result<void> check_update(update_view change)
{
    if (change.is_pipeline()) {
        if (change.what().empty())
            return refused("update", "the pipeline has no stage");
        return {};
    }
    if (has_operator_first(change.what())) [[likely]]
        return {};
    if (change.what().empty())
        return refused("update", "the document is empty; name an operator: {\"$set\": {...}}");
    return refused("update",
                   "'" + std::string{(*change.what().begin()).key()} +
                       "' is no operator; write {\"$set\": {...}}, or replace the document as a "
                       "whole");
}

result<void> check_replacement(bson::view by)
{
    if (!has_operator_first(by)) [[likely]]
        return {};
    return refused("replacement", "'" + std::string{(*by.begin()).key()} +
                                      "' is an operator; a replacement is the new document itself, "
                                      "operators are for updates");
}

}  // namespace holdfast::core::mongo
