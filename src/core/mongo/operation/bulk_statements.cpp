#include "core/mongo/operation/bulk_statements.hpp"

#include "core/mongo/operation/bulk_failure.hpp"
#include "core/mongo/operation/draft.hpp"
#include "core/mongo/operation/single_write.hpp"

#include <utility>

namespace holdfast::core::mongo {

using holdfast::mongo::update_view;
using holdfast::mongo::details::kept_options;
using holdfast::mongo::details::kept_write;
using holdfast::mongo::details::write_kind;
using holdfast::mongo::details::write_list;

namespace {

result<void> check_change(const write_list& list, const kept_write& write)
{
    const bson::view change = list.at(write.change);
    if (write.kind == write_kind::replace_one) {
        if (list.options_of(write).array_filters != 0)
            return refused("array_filters",
                           "a replacement changes the whole document; leave it out");
        return check_replacement(change);
    }
    if (write.kind == write_kind::update_many && list.options_of(write).sort != 0)
        return refused("sort", "update_many changes all that match, in no order; leave it out");
    return check_update(list.options_of(write).pipeline ? update_view{bson::array_view{change}}
                                                        : update_view{change});
}

void write_change(bson::builder& out, std::string_view key, const write_list& list,
                  const kept_write& write)
{
    if (list.options_of(write).pipeline)
        out.add(key, bson::array_view{list.at(write.change)});
    else
        out.add(key, list.at(write.change));
}

/// What has the same name in all commands.
void write_options(bson::builder& out, const write_list& list, const kept_options& options)
{
    if (options.upsert)
        out.add("upsert", *options.upsert);
    if (options.sort != 0)
        out.add("sort", list.at(options.sort));
    if (options.array_filters != 0)
        out.add("arrayFilters", bson::array_view{list.at(options.array_filters)});
    if (options.collation != 0)
        out.add("collation", list.at(options.collation));
    if (options.hint != 0)
        out.merge(list.at(options.hint));
}

}  // namespace

result<void> check_writes(const write_list& list)
{
    if (list.fault())
        return error{*list.fault()};
    if (list.writes().empty())
        return refused("writes", "no writes were given");
    if (list.only_inserts())
        return {};
    for (const kept_write& one : list.writes()) {
        if (statement_of(one.kind) != statement_kind::update)
            continue;
        if (auto good = check_change(list, one); !good) {
            const auto index = static_cast<std::size_t>(&one - list.writes().data());
            return unfit_write(good.error().code(), index, good.error().message());
        }
    }
    return {};
}

void give_ids(write_list& list, id_source& ids)
{
    for (const kept_write& one : list.writes()) {
        if (one.without_id)
            list.set_id(one, ids.next());
    }
}

void write_statement(bson::builder& out, const write_list& list, const kept_write& write)
{
    out.add("q", list.at(list.options_of(write).filter));
    if (statement_of(write.kind) == statement_kind::update) {
        write_change(out, "u", list, write);
        if (is_multi(write.kind))
            out.add("multi", true);
    } else {
        out.add("limit", std::int32_t{is_multi(write.kind) ? 0 : 1});
    }
    write_options(out, list, list.options_of(write));
}

void write_operation(bson::builder& out, const write_list& list, const kept_write& write)
{
    constexpr std::int32_t not_yet_known = 0;
    switch (statement_of(write.kind)) {
    case statement_kind::insert:
        out.add("insert", not_yet_known);
        out.add("document", list.at(write.change));
        return;
    case statement_kind::update:
        out.add("update", not_yet_known);
        out.add("filter", list.at(list.options_of(write).filter));
        write_change(out, "updateMods", list, write);
        break;
    case statement_kind::remove:
        out.add("delete", not_yet_known);
        out.add("filter", list.at(list.options_of(write).filter));
        break;
    }
    out.add("multi", is_multi(write.kind));
    write_options(out, list, list.options_of(write));
}

}  // namespace holdfast::core::mongo
