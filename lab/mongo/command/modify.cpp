#include "lab/mongo/command/modify.hpp"

#include "lab/document/server_code.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/update/update.hpp"

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

result<std::vector<target_record>> targets(const collection* in, const matcher& filter,
                                           bson::view sort, const std::optional<collation>& by,
                                           const hinted& hint, bool multi)
{
    std::vector<target_record> found;
    if (!in)
        return found;
    if (multi)
        return all_matches(*in, filter, hint.natural);
    auto one = first_match(*in, filter, sort, by, hint.natural);
    if (!one)
        return std::move(one).error();
    if (*one)
        found.push_back({(*one)->which.id, std::move((*one)->details)});
    return found;
}

result<statement_result> upsert(writer& to, const update& change, const matcher& filter,
                                std::int32_t statement)
{
    auto made = change.upserted(filter);
    if (!made)
        return std::move(made).error();
    auto ready = to.prepared(*made);
    if (!ready)
        return std::move(ready).error();
    executed_statement outcome;
    outcome.upserted = true;
    outcome.upserted_id = bson::doc("_id", ready->find("_id"));
    statement_result done;
    done.matched = 1;
    done.upserted = true;
    done.upserted_id = outcome.upserted_id;
    if (auto fine = to.insert_prepared(*ready, statement, std::move(outcome)); !fine)
        return std::move(fine).error();
    return done;
}

result<void> refuse_multi(const request& what, bool multi, std::string_view words)
{
    if (!multi || !what.txn_number)
        return {};
    return refuse(server_code::invalid_options,
                  "Cannot use (or request) retryable writes with " + std::string{words});
}

}  // namespace

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

result<statement_result> update_some(const request& what, writer& to, const update_statement& how,
                                     const expression_context& context, std::int32_t statement)
{
    if (auto fine = refuse_multi(what, how.multi, "multi=true"); !fine)
        return std::move(fine).error();
    auto before = to.executed(statement);
    if (!before)
        return std::move(before).error();
    if (*before)
        return statement_result::replayed(**before);
    auto by = collation_for(to.target(), how.collation);
    if (!by)
        return std::move(by).error();
    auto filter = matcher::compile(how.filter, *by, context);
    if (!filter)
        return std::move(filter).error();
    const update_spec spec{how.change, how.array_filters, how.upsert, how.multi};
    auto change = update::compile(spec, *by, context);
    if (!change)
        return std::move(change).error();
    auto hint = read_hint(to.target(), how.hint);
    if (!hint)
        return std::move(hint).error();
    auto found = targets(to.target(), *filter, how.sort, *by, *hint, how.multi);
    if (!found)
        return std::move(found).error();
    if (found->empty() && how.upsert)
        return upsert(to, *change, *filter, statement);
    statement_result done;
    for (const target_record& one : *found) {
        const auto now = to.target()->find(one.id);
        if (!now)
            continue;
        auto after = change->apply(now->document, one.details);
        if (!after)
            return std::move(after).error();
        ++done.matched;
        if (!after->changed)
            continue;
        if (auto fine = to.replace(now->document, after->document, statement); !fine)
            return std::move(fine).error();
        ++done.modified;
    }
    return done;
}

result<statement_result> delete_some(const request& what, writer& to, const delete_statement& how,
                                     const expression_context& context, std::int32_t statement)
{
    if (auto fine = refuse_multi(what, how.multi, "limit=0"); !fine)
        return std::move(fine).error();
    auto before = to.executed(statement);
    if (!before)
        return std::move(before).error();
    if (*before)
        return statement_result::replayed(**before);
    auto by = collation_for(to.target(), how.collation);
    if (!by)
        return std::move(by).error();
    auto filter = matcher::compile(how.filter, *by, context);
    if (!filter)
        return std::move(filter).error();
    auto hint = read_hint(to.target(), how.hint);
    if (!hint)
        return std::move(hint).error();
    auto found = targets(to.target(), *filter, {}, *by, *hint, how.multi);
    if (!found)
        return std::move(found).error();
    statement_result done;
    for (const target_record& one : *found) {
        const auto now = to.target()->find(one.id);
        if (!now)
            continue;
        if (auto fine = to.remove(now->document, statement); !fine)
            return std::move(fine).error();
        ++done.matched;
    }
    return done;
}

}  // namespace holdfast::lab::mongo
