#include "core/mongo/operation/single_write.hpp"

#include "core/mongo/operation/draft.hpp"
#include "holdfast/mongo/bulk.hpp"

#include <string>
#include <string_view>

namespace holdfast::core::mongo {

namespace {

using holdfast::mongo::delete_options;
using holdfast::mongo::insert_one_options;
using holdfast::mongo::update_options;
using holdfast::mongo::update_view;

/// From these wire versions on servers refuse a hint that they do not know. Nobody would hear of it
/// if the write is not acknowledged.
constexpr std::int32_t knows_hint_in_update = 8;  // MongoDB 4.2
constexpr std::int32_t knows_hint_in_delete = 9;  // MongoDB 4.4

enum class reach : std::uint8_t { one, many };

/// What all writes end with. Only a write of one document can be recognised when it comes again.
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

void put_update(bson::builder& to, bson::view filter, update_view change, const update_options& options,
                reach which)
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

result<command> remove(const operation_space& space, bson::view filter, const delete_options& options,
                       reach which)
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

}  // namespace

result<command> insert_one(const operation_space& space, bson::view document,
                           const bson::object_id& fresh, const insert_one_options& options)
{
    draft d{space, "insert", document.size() + 32};
    {
        auto documents = d.body.array("documents");
        if (holdfast::mongo::details::has_id(document)) {
            documents.elements().put(documents.next_key(), document);
        } else {
            auto whole = documents.document();
            whole.put("_id", fresh);
            whole.merge(document);
        }
    }
    d.body.put("ordered", true);
    d.put("bypassDocumentValidation", options.bypass_document_validation);
    return finish(d, space, options, reach::one);
}

result<command> update_one(const operation_space& space, bson::view filter, update_view change,
                           const update_options& options)
{
    if (auto fine = check_update(change); !fine)
        return std::move(fine).error();
    return update(space, filter, change, options, reach::one);
}

result<command> update_many(const operation_space& space, bson::view filter, update_view change,
                            const update_options& options)
{
    if (auto fine = check_update(change); !fine)
        return std::move(fine).error();
    if (options.sort)
        return refused("sort", "update_many changes all that match, in no order; leave it out");
    return update(space, filter, change, options, reach::many);
}

result<command> replace_one(const operation_space& space, bson::view filter, bson::view by,
                            const update_options& options)
{
    if (auto fine = check_replacement(by); !fine)
        return std::move(fine).error();
    if (options.array_filters)
        return refused("array_filters", "a replacement changes the whole document; leave it out");
    return update(space, filter, by, options, reach::one);
}

result<command> delete_one(const operation_space& space, bson::view filter,
                           const delete_options& options)
{
    return remove(space, filter, options, reach::one);
}

result<command> delete_many(const operation_space& space, bson::view filter,
                            const delete_options& options)
{
    return remove(space, filter, options, reach::many);
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
