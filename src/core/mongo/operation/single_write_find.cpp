#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/single_write.hpp"

/// findAndModify: writes that give back the document that they have changed.
namespace holdfast::core::mongo {

namespace {

using holdfast::mongo::find_and_modify_options;
using holdfast::mongo::return_document;
using holdfast::mongo::update_view;

/// Servers before these wire versions ignore a hint without a word; those between the two refuse
/// it, but nobody would hear of that if the write is not acknowledged.
constexpr std::int32_t refuses_hint = 8;  // MongoDB 4.2
constexpr std::int32_t knows_hint = 9;    // MongoDB 4.4

/// `change` is null if the document is to be deleted.
result<command> find_and_modify(const operation_space& space, bson::view filter,
                                const update_view* change, const find_and_modify_options& how)
{
    draft d{space, "findAndModify",
            filter.size() + (change != nullptr ? change->what().size() : 0) + 64};
    d.body.put("query", filter);
    if (change != nullptr)
        change->write(d.body, "update");
    else
        d.body.put("remove", true);
    if (how.returns == return_document::after)
        d.body.put("new", true);
    d.put("fields", how.projection);
    d.put("sort", how.sort);
    d.put("upsert", how.upsert);
    d.put("arrayFilters", how.array_filters);
    d.put("bypassDocumentValidation", how.bypass_document_validation);
    how.hint.write(d.body, "hint");
    d.put("collation", how.collation);
    how.comment.write(d.body, "comment");
    d.put("let", how.let);
    if (auto put = put_write_concern(d.body, d.to, space, how.write_concern); !put)
        return std::move(put).error();
    d.put("maxTimeMS", how.max_time);
    d.limit(how.timeout);
    d.to.raw_data = how.raw_data;
    d.to.kind = retry_kind::write;
    d.to.eligible = d.to.acknowledged;
    if (!how.hint.empty())
        d.to.need = {d.to.acknowledged ? refuses_hint : knows_hint, "a hint in a findAndModify"};
    return d.finish();
}

}  // namespace

result<command> find_one_and_update(const operation_space& space, bson::view filter,
                                    update_view change, const find_and_modify_options& how)
{
    if (auto fine = check_update(change); !fine)
        return std::move(fine).error();
    return find_and_modify(space, filter, &change, how);
}

result<command> find_one_and_replace(const operation_space& space, bson::view filter, bson::view by,
                                     const find_and_modify_options& how)
{
    if (auto fine = check_replacement(by); !fine)
        return std::move(fine).error();
    if (how.array_filters)
        return refused("array_filters", "a replacement changes the whole document; leave it out");
    const update_view change{by};
    return find_and_modify(space, filter, &change, how);
}

result<command> find_one_and_delete(const operation_space& space, bson::view filter,
                                    const find_and_modify_options& how)
{
    const char* wrong = nullptr;
    if (how.upsert)
        wrong = "upsert";
    else if (how.returns)
        wrong = "returns";
    else if (how.array_filters)
        wrong = "array_filters";
    else if (how.bypass_document_validation)
        wrong = "bypass_document_validation";
    if (wrong != nullptr)
        return refused(wrong, "makes no sense where a document is deleted; leave it out");
    return find_and_modify(space, filter, nullptr, how);
}

}  // namespace holdfast::core::mongo
