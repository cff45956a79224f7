#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/command/batch.hpp"
#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/modify.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule insert_rules[] = {
    {"documents", kind::sequence},
    {"ordered", kind::boolean},
    {"bypassDocumentValidation", kind::boolean},
    {"stmtId", kind::number},
    {"stmtIds", kind::array},
    {"encryptionInformation", kind::ignored},
    {"bypassEmptyTsReplacement", kind::ignored},
};

constexpr field_rule update_rules[] = {
    {"updates", kind::sequence},
    {"ordered", kind::boolean},
    {"bypassDocumentValidation", kind::boolean},
    {"let", kind::document, false, 500},
    {"stmtId", kind::number},
    {"stmtIds", kind::array},
    {"encryptionInformation", kind::ignored},
    {"runtimeConstants", kind::ignored},
    {"bypassEmptyTsReplacement", kind::ignored},
};

constexpr field_rule update_statement_rules[] = {
    {"q", kind::document, true},
    {"u", kind::document_or_array, true},
    {"c", kind::document, false, 402},
    {"upsert", kind::boolean},
    {"multi", kind::boolean},
    {"collation", kind::document},
    {"arrayFilters", kind::array},
    {"hint", kind::text_or_document, false, 402},
    {"sort", kind::document, false, 800},
    {"upsertSupplied", kind::ignored},
    {"sampleId", kind::ignored},
};

constexpr field_rule delete_rules[] = {
    {"deletes", kind::sequence},
    {"ordered", kind::boolean},
    {"bypassDocumentValidation", kind::boolean},
    {"let", kind::document, false, 500},
    {"stmtId", kind::number},
    {"stmtIds", kind::array},
    {"encryptionInformation", kind::ignored},
    {"runtimeConstants", kind::ignored},
};

constexpr field_rule delete_statement_rules[] = {
    {"q", kind::document, true},   {"limit", kind::number, true},
    {"collation", kind::document}, {"hint", kind::text_or_document, false, 404},
    {"sampleId", kind::ignored},
};

// Runs each statement of a write command until one ends it. check_batch_size() has seen before that
// they are in one place: a section mostly, and then the body needs not be searched again.
template <class Perform>
result<void> run_batch(const request& what, std::string_view field, batch& all,
                       const statement_numbers& numbers, Perform&& perform)
{
    bool go_on = true;
    const auto run_one = [&](bson::view statement) -> result<void> {
        if (!go_on)
            return {};
        const std::int32_t number = numbers.at(all.index());
        auto more = all.add(perform(statement, number), number);
        if (!more)
            return std::move(more).error();
        go_on = *more;
        return {};
    };
    for (const core::mongo::message_sequence part : what.message.sequences) {
        if (part.identifier != field)
            continue;
        for (const bson::view statement : part) {
            if (auto fine = run_one(statement); !fine)
                return fine;
        }
        return {};
    }
    return what.for_each_document(field, run_one);
}

using update_fields = fields<update_statement_rules>;
using delete_fields = fields<delete_statement_rules>;

// Unknown stages are refused when the command is read, before its first statement.
result<void> check_stage_names(bson::array_view stages)
{
    const expression_context nothing;
    for (const bson::element& stage : stages) {
        if (stage.type() != bson::type::document)
            continue;
        const auto alone = bson::arr(stage.as_document());
        const auto tried = pipeline::compile(alone, true, {}, nothing);
        if (!tried &&
            tried.error().code().value() == static_cast<int>(server_code::unrecognized_stage))
            return tried.error();
    }
    return {};
}

result<update_fields> read_update(const node& on, bson::view statement)
{
    auto read = update_fields::read(on, statement, "update.updates");
    if (!read)
        return read;
    if (read->has("sort") && read->flag("multi"))
        return refuse(server_code::failed_to_parse, "Cannot specify sort with multi=true");
    if (auto fine = check_stage_names(read->array("u")); !fine)
        return std::move(fine).error();
    return read;
}

result<delete_fields> read_delete(const node& on, bson::view statement)
{
    auto read = delete_fields::read(on, statement, "delete.deletes");
    if (!read)
        return read;
    const auto limit = whole_number((*read)["limit"]);
    if (limit == 0 || limit == 1)
        return read;
    return refuse(server_code::failed_to_parse,
                  "The limit field in delete objects must be 0 or 1. Got " +
                      std::to_string(read->number("limit")));
}

bool updates_all(const update_fields& of)
{
    return of.flag("multi") || !of.document("sort").empty();
}

bool deletes_all(const delete_fields& of)
{
    return of.number("limit") == 0;
}

result<statement_result> update_one_of(node& on, request& what, writer& to, bson::view statement,
                                       const expression_context& context, std::int32_t number)
{
    auto read = read_update(on, statement);
    if (!read)
        return std::move(read).error();
    const auto& f = *read;
    const update_statement update{.which = {.filter = f.document("q"),
                                            .collation = f["collation"],
                                            .hint = f["hint"],
                                            .multi = f.flag("multi")},
                                  .change = f["u"],
                                  .array_filters = f.array("arrayFilters"),
                                  .sort = f.document("sort"),
                                  .constants = f.document("c"),
                                  .upsert = f.flag("upsert")};
    return update_some(what, to, update, context, number);
}

result<statement_result> delete_one_of(node& on, request& what, writer& to, bson::view statement,
                                       const expression_context& context, std::int32_t number)
{
    auto read = read_delete(on, statement);
    if (!read)
        return std::move(read).error();
    const auto& f = *read;
    const selection which{.filter = f.document("q"),
                          .collation = f["collation"],
                          .hint = f["hint"],
                          .multi = f.number("limit") == 0};
    return delete_some(what, to, which, context, number);
}

// What a member of a set has written last, and by which election it may.
void write_position(const node& on, const request& what, bson::builder& reply)
{
    if (!on.member->in_set())
        return;
    const optime at = what.wrote.value_or(on.data->last());
    {
        auto position = reply.document("opTime");
        position.add("ts", at.ts).add("t", at.term);
    }
    reply.add("electionId", election_id(on.member->term()));
}

// An acknowledgement of what changed nothing waits, too, for what it has seen.
progress finished(node& on, request& what, const batch& all, bson::builder& reply,
                  bool with_modified)
{
    what.failed_inside = all.failed();
    settle(on, what);
    if (!what.close_after) {  // else a fail point wants the connection closed without a reply
        all.write(reply, with_modified);
        write_position(on, what, reply);
    }
    return progress::done;
}

// What updates and deletes have in common: statements that are about documents.
template <class Fields>
struct statements {
    std::string_view field;
    result<Fields> (*read)(const node&, bson::view);
    bool (*about_all)(const Fields&);  // it looks at each document, not for the first match
    result<statement_result> (*perform)(node&, request&, writer&, bson::view,
                                        const expression_context&, std::int32_t);
    bool modify = false;
};

template <const auto& Rules, class Fields>
result<progress> run_statements(node& on, request& what, bson::builder& reply,
                                const statements<Fields>& given)
{
    auto opened = open_namespace<Rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [f, ns] = *opened;
    if (auto fine = check_batch_size(what, given.field); !fine)
        return std::move(fine).error();
    // A statement that cannot be read fails the whole command, before anything is done.
    const collection* const in = std::as_const(on.data->data()).find(ns);
    sleeps cost;
    auto readable = what.for_each_document(given.field, [&](bson::view one) -> result<void> {
        auto tried = given.read(on, one);
        if (!tried)
            return std::move(tried).error();
        cost.add(tried->document("q"), in, given.about_all(*tried));
        return {};
    });
    if (!readable)
        return std::move(readable).error();
    auto over = cost.over(on, what);
    if (!over)
        return std::move(over).error();
    if (!*over)
        return progress::wait;
    auto to = writer::open(on, what, ns, f.flag("bypassDocumentValidation"));
    if (!to)
        return std::move(to).error();
    auto context = context_of(on, f.document("let"));
    if (!context)
        return std::move(context).error();
    auto numbers = statement_numbers::read(f["stmtId"], f["stmtIds"]);
    if (!numbers)
        return std::move(numbers).error();
    batch all{f.flag("ordered", true)};
    auto ran = run_batch(what, given.field, all, *numbers,
                         [&](bson::view statement, std::int32_t number) {
                             return given.perform(on, what, *to, statement, *context, number);
                         });
    if (!ran)
        return std::move(ran).error();
    return finished(on, what, all, reply, given.modify);
}

}  // namespace

result<progress> run_insert(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<insert_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [given, ns] = *opened;
    if (auto fine = check_batch_size(what, "documents"); !fine)
        return std::move(fine).error();
    auto to = writer::open(on, what, ns, given.flag("bypassDocumentValidation"));
    if (!to)
        return std::move(to).error();
    auto numbers = statement_numbers::read(given["stmtId"], given["stmtIds"]);
    if (!numbers)
        return std::move(numbers).error();
    batch all{given.flag("ordered", true)};
    auto ran = run_batch(what, "documents", all, *numbers,
                         [&](bson::view document, std::int32_t number) {
                             return insert_one(*to, document, number);
                         });
    if (!ran)
        return std::move(ran).error();
    return finished(on, what, all, reply, false);
}

result<progress> run_update(node& on, request& what, bson::builder& reply)
{
    constexpr statements<update_fields> updates{"updates", read_update, updates_all, update_one_of,
                                                true};
    return run_statements<update_rules>(on, what, reply, updates);
}

result<progress> run_delete(node& on, request& what, bson::builder& reply)
{
    constexpr statements<delete_fields> deletes{"deletes", read_delete, deletes_all, delete_one_of};
    return run_statements<delete_rules>(on, what, reply, deletes);
}

}  // namespace holdfast::lab::mongo
