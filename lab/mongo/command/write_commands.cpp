#include "lab/document/server_code.hpp"
#include "lab/mongo/command/batch.hpp"
#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/modify.hpp"
#include "lab/mongo/command/writer.hpp"

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
    {"bypassDocumentValidation", kind::ignored},
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

result<statement_result> update_one_of(node& on, request& what, writer& to, bson::view statement,
                                       const expression_context& context, std::int32_t number)
{
    auto read = fields<update_statement_rules>::read(on, statement, "update.updates");
    if (!read)
        return std::move(read).error();
    const auto& f = *read;
    if (f.has("sort") && f.flag("multi"))
        return refuse(server_code::failed_to_parse, "Cannot specify sort with multi=true");
    const update_statement how{.filter = f.document("q"),
                               .change = f["u"],
                               .array_filters = f.array("arrayFilters"),
                               .collation = f["collation"],
                               .hint = f["hint"],
                               .sort = f.document("sort"),
                               .multi = f.flag("multi"),
                               .upsert = f.flag("upsert")};
    if (!f.has("c"))
        return update_some(what, to, how, context, number);
    expression_context with_constants = context;
    bson::byte_buffer both;
    bson::builder variables{both};
    variables.merge(context.variables).merge(f.document("c"));
    if (auto made = variables.finish())
        with_constants.variables = bson::document{*made};
    return update_some(what, to, how, with_constants, number);
}

result<statement_result> delete_one_of(node& on, request& what, writer& to, bson::view statement,
                                       const expression_context& context, std::int32_t number)
{
    auto read = fields<delete_statement_rules>::read(on, statement, "delete.deletes");
    if (!read)
        return std::move(read).error();
    const auto& f = *read;
    const std::int64_t limit = f.number("limit");
    if (limit != 0 && limit != 1) {
        return refuse(server_code::failed_to_parse,
                      "The limit field in delete objects must be 0 or 1. Got " +
                          std::to_string(limit));
    }
    const delete_statement how{.filter = f.document("q"),
                               .collation = f["collation"],
                               .hint = f["hint"],
                               .multi = limit == 0};
    return delete_some(what, to, how, context, number);
}

// An acknowledgement of what changed nothing waits, too, for what it has seen.
progress finished(node& on, request& what, const batch& all, bson::builder& reply,
                  bool with_modified)
{
    what.failed_inside = all.failed();
    if (!what.close_after)  // a fail point wants the connection closed without a reply
        all.write(reply, with_modified);
    settle(on, what);
    return progress::done;
}

// A statement that cannot be read fails the whole command, before anything is done.
template <const auto& Rules>
result<void> check_statements(const node& on, const request& what, std::string_view field,
                              std::string_view where)
{
    return what.for_each_document(field, [&](bson::view statement) -> result<void> {
        auto read = fields<Rules>::read(on, statement, where);
        return read ? result<void>{} : result<void>{std::move(read).error()};
    });
}

}  // namespace

result<progress> run_insert(node& on, request& what, bson::builder& reply)
{
    auto read = fields<insert_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    auto ns = namespace_text::of(what);
    if (!ns)
        return std::move(ns).error();
    if (auto fine = check_batch_size(what, "documents"); !fine)
        return std::move(fine).error();
    auto to = writer::open(on, what, *ns, read->flag("bypassDocumentValidation"));
    if (!to)
        return std::move(to).error();
    auto numbers = statement_numbers::read((*read)["stmtId"], (*read)["stmtIds"]);
    if (!numbers)
        return std::move(numbers).error();
    batch all{read->flag("ordered", true)};
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
    auto read = fields<update_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    auto ns = namespace_text::of(what);
    if (!ns)
        return std::move(ns).error();
    if (auto fine = check_batch_size(what, "updates"); !fine)
        return std::move(fine).error();
    auto fine = check_statements<update_statement_rules>(on, what, "updates", "update.updates");
    if (!fine)
        return std::move(fine).error();
    auto to = writer::open(on, what, *ns, read->flag("bypassDocumentValidation"));
    if (!to)
        return std::move(to).error();
    auto context = context_of(on, read->document("let"));
    if (!context)
        return std::move(context).error();
    auto numbers = statement_numbers::read((*read)["stmtId"], (*read)["stmtIds"]);
    if (!numbers)
        return std::move(numbers).error();
    batch all{read->flag("ordered", true)};
    auto ran = run_batch(what, "updates", all, *numbers,
                         [&](bson::view statement, std::int32_t number) {
                             return update_one_of(on, what, *to, statement, *context, number);
                         });
    if (!ran)
        return std::move(ran).error();
    return finished(on, what, all, reply, true);
}

result<progress> run_delete(node& on, request& what, bson::builder& reply)
{
    auto read = fields<delete_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    auto ns = namespace_text::of(what);
    if (!ns)
        return std::move(ns).error();
    if (auto fine = check_batch_size(what, "deletes"); !fine)
        return std::move(fine).error();
    auto fine = check_statements<delete_statement_rules>(on, what, "deletes", "delete.deletes");
    if (!fine)
        return std::move(fine).error();
    auto to = writer::open(on, what, *ns, true);
    if (!to)
        return std::move(to).error();
    auto context = context_of(on, read->document("let"));
    if (!context)
        return std::move(context).error();
    auto numbers = statement_numbers::read((*read)["stmtId"], (*read)["stmtIds"]);
    if (!numbers)
        return std::move(numbers).error();
    batch all{read->flag("ordered", true)};
    auto ran = run_batch(what, "deletes", all, *numbers,
                         [&](bson::view statement, std::int32_t number) {
                             return delete_one_of(on, what, *to, statement, *context, number);
                         });
    if (!ran)
        return std::move(ran).error();
    return finished(on, what, all, reply, false);
}

}  // namespace holdfast::lab::mongo
