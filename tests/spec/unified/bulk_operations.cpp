#include "arguments.hpp"
#include "operations.hpp"
#include "results.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace holdfast::spec::unified {
namespace {

using boost::asio::use_awaitable;
using outcome_later = runtime::awaitable<outcome_of_operation>;

/// {insertOne: {document: ...}}: what kind of write it is, and its fields.
struct write_model {
    std::string_view kind;
    fields given;
};

write_model model_from(const bson::element& from)
{
    demand(from.type() == bson::type::document, "a write is no document: " + shown(from));
    const bson::view holder = from.as_document();
    demand(!holder.empty() && (*holder.begin()).type() == bson::type::document,
           "a write has no kind: " + shown(from));
    const bson::element only = *holder.begin();
    fields outer{holder, "a write of several"};
    (void)outer.any(only.key());
    outer.finish();
    return {only.key(), fields{only.as_document(), std::string{only.key()}}};
}

mongo::update_model_options update_options_of(fields& given, bool replacement)
{
    mongo::update_model_options made;
    made.upsert = given.flag("upsert");
    made.sort = given.document_if("sort");
    if (!replacement)
        made.array_filters = given.array_if("arrayFilters");
    made.collation = given.document_if("collation");
    made.hint = given.hint("hint");
    return made;
}

mongo::delete_model_options delete_options_of(fields& given)
{
    mongo::delete_model_options made;
    made.collation = given.document_if("collation");
    made.hint = given.hint("hint");
    return made;
}

/// Adds the write to those of a collection or, with a namespace in front, of a client.
template <class Writes, class... Space>
void add_to(Writes& work, write_model& one, const Space&... space)
{
    fields& given = one.given;
    if (one.kind == "insertOne") {
        work.insert_one(space..., given.document("document"));
    } else if (one.kind == "updateOne") {
        const auto options = update_options_of(given, false);
        work.update_one(space..., given.document("filter"), given.update("update"), options);
    } else if (one.kind == "updateMany") {
        const auto options = update_options_of(given, false);
        work.update_many(space..., given.document("filter"), given.update("update"), options);
    } else if (one.kind == "replaceOne") {
        const auto options = update_options_of(given, true);
        work.replace_one(space..., given.document("filter"), given.document("replacement"),
                         options);
    } else if (one.kind == "deleteOne") {
        const auto options = delete_options_of(given);
        work.delete_one(space..., given.document("filter"), options);
    } else if (one.kind == "deleteMany") {
        const auto options = delete_options_of(given);
        work.delete_many(space..., given.document("filter"), options);
    } else {
        throw case_failure{"there is no write of the kind " + std::string{one.kind}};
    }
    given.finish();
}

outcome_later bulk_write(context_ptr in, const operation& what)
{
    const mongo::collection& on = in->named.get<collection_entity>(what.object).api;
    arguments given{*in, what};
    mongo::bulk_writes work;
    for (const bson::element& one : given.array("requests")) {
        write_model model = model_from(one);
        add_to(work, model);
    }
    const auto options = given.options<mongo::bulk_write_options>();
    given.finish();
    const auto came = co_await on.bulk_write(std::move(work), options, use_awaitable);
    co_return outcome_from(came);
}

outcome_later client_bulk_write(context_ptr in, const operation& what)
{
    const mongo::client& on = in->named.get<client_entity>(what.object).api;
    arguments given{*in, what};
    mongo::client_bulk_writes work;
    for (const bson::element& one : given.array("models")) {
        write_model model = model_from(one);
        const std::string_view space = model.given.text("namespace");
        add_to(work, model, space);
    }
    const auto options = given.options<mongo::bulk_write_options>();
    given.finish();
    const auto came = co_await on.bulk_write(std::move(work), options, use_awaitable);
    co_return outcome_from(came);
}

constexpr named_operation bulk_operations_table[] = {
    {"bulkWrite", bulk_write},
    {"clientBulkWrite", client_bulk_write},
};

}  // namespace

std::span<const named_operation> bulk_operations() noexcept
{
    return bulk_operations_table;
}

}  // namespace holdfast::spec::unified
