#include "lab/mongo/command/modify.hpp"

#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <utility>
#include <vector>

namespace holdfast::lab::mongo {

namespace {

struct target_record {
    record_id id;
    match_details details;
};

// All that match, before the first of them is written: an update must not meet its own results.
result<std::vector<target_record>> all_matches(const collection& in, const matcher& filter,
                                               int natural)
{
    std::vector<target_record> found;
    scan all{in, &filter, {}, natural};
    for (;;) {
        match_details details;
        auto one = all.next(&details);
        if (!one)
            return std::move(one).error();
        if (!*one)
            return found;
        found.push_back({(*one)->id, std::move(details)});
    }
}

// What a statement begins with: whether it was performed before, and what it looks for.
struct beginning {
    std::optional<statement_result> before = {};
    std::optional<collation> by = {};
    std::optional<matcher> filter = {};
};

result<beginning> begin(writer& to, const selection& which, const expression_context& context,
                        std::int32_t statement)
{
    beginning made;
    auto before = to.executed(statement);
    if (!before)
        return std::move(before).error();
    if (*before) {
        made.before = statement_result::replayed(**before);
        return made;
    }
    auto by = collation_for(to.target(), which.collation);
    if (!by)
        return std::move(by).error();
    made.by = *std::move(by);
    auto filter = matcher::compile(which.filter, made.by, context);
    if (!filter)
        return std::move(filter).error();
    made.filter = *std::move(filter);
    return made;
}

result<std::vector<target_record>> targets(const collection* in, const beginning& begun,
                                           const selection& which, bson::view sort = {})
{
    auto hint = read_hint(in, which.hint);
    if (!hint)
        return std::move(hint).error();
    std::vector<target_record> found;
    if (!in)
        return found;
    if (which.multi)
        return all_matches(*in, *begun.filter, hint->natural);
    auto one = first_match(*in, *begun.filter, sort, begun.by, hint->natural);
    if (!one)
        return std::move(one).error();
    if (*one)
        found.push_back({(*one)->which.id, std::move((*one)->details)});
    return found;
}

result<statement_result> upsert(writer& to, const update& change, const matcher& filter,
                                std::int32_t statement)
{
    auto made = upsert_one(to, change, filter, statement);
    if (!made)
        return std::move(made).error();
    statement_result done;
    done.matched = 1;
    done.upserted = true;
    done.upserted_id = bson::doc("_id", made->find("_id"));
    return done;
}

result<void> refuse_multi(const request& what, bool multi, std::string_view text)
{
    if (!multi || !what.txn_number)
        return {};
    if (what.name == "bulkWrite")
        return refuse(server_code::invalid_options, "Cannot use retryable writes with multi=true");
    return refuse(server_code::invalid_options,
                  "Cannot use (or request) retryable writes with " + std::string{text});
}

// The variables of the command, and those of the statement.
expression_context with_constants(const expression_context& context, bson::view constants)
{
    expression_context made = context;
    bson::byte_buffer both;
    bson::builder variables{both};
    variables.merge(context.variables).merge(constants);
    if (auto written = variables.finish())
        made.variables = bson::document{*written};
    return made;
}

// Changes each document that was found, as it is now.
template <class Change>
result<statement_result> change_each(const writer& to, const std::vector<target_record>& found,
                                     Change&& change)
{
    statement_result done;
    for (const target_record& one : found) {
        const auto now = to.target()->find(one.id);
        if (!now)
            continue;
        if (auto fine = change(now->document, one.details, done); !fine)
            return std::move(fine).error();
        ++done.matched;
    }
    return done;
}

result<statement_result> update_found(writer& to, const update_statement& update,
                                      const expression_context& context, std::int32_t statement)
{
    auto begun = begin(to, update.which, context, statement);
    if (!begun)
        return std::move(begun).error();
    if (begun->before)
        return *std::move(begun->before);
    const update_spec spec{update.change, update.array_filters, update.upsert, update.which.multi};
    auto change = update::compile(spec, begun->by, context);
    if (!change)
        return std::move(change).error();
    auto found = targets(to.target(), *begun, update.which, update.sort);
    if (!found)
        return std::move(found).error();
    if (found->empty() && update.upsert)
        return upsert(to, *change, *begun->filter, statement);
    return change_each(
        to, *found,
        [&](bson::view now, const match_details& details, statement_result& done) -> result<void> {
            auto after = change->apply(now, details);
            if (!after)
                return std::move(after).error();
            if (!after->changed)
                return {};
            ++done.modified;
            return to.replace(now, after->document, statement);
        });
}

}  // namespace

result<bson::document> upsert_one(writer& to, const update& change, const matcher& filter,
                                  std::int32_t statement, keep_image image)
{
    auto made = change.upserted(filter);
    if (!made)
        return std::move(made).error();
    auto ready = to.prepared_upsert(*made);
    if (!ready)
        return std::move(ready).error();
    bson::document inserted{*ready};  // a view into the writer's buffer
    executed_statement remembered;
    if (image == keep_image::yes) {
        remembered.has_image = true;
        remembered.image_is_new = true;
        remembered.image = inserted;
    }
    remembered.upserted = true;
    remembered.upserted_id = bson::doc("_id", inserted.find("_id"));
    if (auto fine = to.insert_prepared(*ready, statement, std::move(remembered)); !fine)
        return std::move(fine).error();
    return inserted;
}

result<statement_result> insert_one(writer& to, bson::view document, std::int32_t statement)
{
    auto before = to.executed(statement);
    if (!before)
        return std::move(before).error();
    if (*before)
        return statement_result::replayed(**before);
    if (auto fine = to.insert(document, statement); !fine)
        return std::move(fine).error();
    statement_result done;
    done.matched = 1;
    return done;
}

result<statement_result> update_some(const request& what, writer& to,
                                     const update_statement& update,
                                     const expression_context& context, std::int32_t statement)
{
    if (!update.sort.empty() && update.which.multi)
        return refuse(server_code::failed_to_parse, "Cannot specify sort with multi=true");
    if (auto fine = refuse_multi(what, update.which.multi, "multi=true"); !fine)
        return std::move(fine).error();
    if (update.constants.empty())
        return update_found(to, update, context, statement);
    return update_found(to, update, with_constants(context, update.constants), statement);
}

result<statement_result> delete_some(const request& what, writer& to, const selection& which,
                                     const expression_context& context, std::int32_t statement)
{
    if (auto fine = refuse_multi(what, which.multi, "limit=0"); !fine)
        return std::move(fine).error();
    auto begun = begin(to, which, context, statement);
    if (!begun)
        return std::move(begun).error();
    if (begun->before)
        return *std::move(begun->before);
    auto found = targets(to.target(), *begun, which);
    if (!found)
        return std::move(found).error();
    return change_each(to, *found, [&](bson::view now, const match_details&, statement_result&) {
        return to.remove(now, statement);
    });
}

}  // namespace holdfast::lab::mongo
