#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/single_write.hpp"
#include "core/mongo/operation/write_reply.hpp"
#include "holdfast/mongo/operations.hpp"

/// findAndModify: writes that give back the document that they have changed.
namespace holdfast::core::mongo {

namespace {

using holdfast::mongo::find_and_modify_options;
using holdfast::mongo::return_document;
using holdfast::mongo::update_view;

/// Servers before these wire versions ignore a hint silently; those between the two refuse it,
/// which would go unnoticed if the write is not acknowledged.
constexpr std::int32_t refuses_hint = 8;  // MongoDB 4.2
constexpr std::int32_t knows_hint = 9;  // MongoDB 4.4

/// `change` is null if the document is to be deleted.
result<command> find_and_modify(const operation_space& space, bson::view filter,
                                const update_view* change, const find_and_modify_options& options)
{
    draft d{space, "findAndModify",
            filter.size() + (change != nullptr ? change->what().size() : 0) + 64};
    d.body.put("query", filter);
    if (change != nullptr)
        change->write(d.body, "update");
    else
        d.body.put("remove", true);
    if (options.returns == return_document::after)
        d.body.put("new", true);
    d.put("fields", options.projection);
    d.put("sort", options.sort);
    d.put("upsert", options.upsert);
    d.put("arrayFilters", options.array_filters);
    d.put("bypassDocumentValidation", options.bypass_document_validation);
    options.hint.write(d.body, "hint");
    d.put("collation", options.collation);
    options.comment.write(d.body, "comment");
    d.put("let", options.let);
    if (auto put = put_write_concern(d.body, d.to, space, options.write_concern); !put)
        return std::move(put).error();
    d.put("maxTimeMS", options.max_time);
    d.limit(options.timeout);
    d.to.raw_data = options.raw_data;
    d.to.kind = retry_kind::write;
    d.to.eligible = d.to.acknowledged;
    if (!options.hint.empty())
        d.to.need = {d.to.acknowledged ? refuses_hint : knows_hint, "a hint in a findAndModify"};
    return d.finish();
}

result<maybe_document> read_value(command_outcome& outcome)
{
    if (!outcome) [[unlikely]]
        return as_write_failure(std::move(outcome).error());
    const bson::element value = outcome->find("value");
    if (value.type() != bson::type::document)
        return maybe_document{};
    return maybe_document{bson::document{value.as_document()}};
}

}  // namespace

result<command> find_one_and_update_operation::build(const operation_space& in) const
{
    if (auto fine = check_update(change); !fine)
        return std::move(fine).error();
    return find_and_modify(in, filter, &change, options);
}

result<maybe_document> find_one_and_update_operation::read(command_outcome outcome, const command&)
{
    return read_value(outcome);
}

result<command> find_one_and_replace_operation::build(const operation_space& in) const
{
    if (auto fine = check_replacement(by); !fine)
        return std::move(fine).error();
    if (options.array_filters)
        return refused("array_filters", "a replacement changes the whole document; leave it out");
    const update_view change{by};
    return find_and_modify(in, filter, &change, options);
}

result<maybe_document> find_one_and_replace_operation::read(command_outcome outcome, const command&)
{
    return read_value(outcome);
}

result<command> find_one_and_delete_operation::build(const operation_space& in) const
{
    const char* wrong = nullptr;
    if (options.upsert)
        wrong = "upsert";
    else if (options.returns)
        wrong = "returns";
    else if (options.array_filters)
        wrong = "array_filters";
    else if (options.bypass_document_validation)
        wrong = "bypass_document_validation";
    if (wrong != nullptr)
        return refused(wrong, "makes no sense where a document is deleted; leave it out");
    return find_and_modify(in, filter, nullptr, options);
}

result<maybe_document> find_one_and_delete_operation::read(command_outcome outcome, const command&)
{
    return read_value(outcome);
}

}  // namespace holdfast::core::mongo
