#include "lab/mongo/command/batch.hpp"
#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/cursors.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/modify.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule bulk_write_rules[] = {
    {"ops", kind::sequence},
    {"nsInfo", kind::sequence},
    {"ordered", kind::boolean},
    {"errorsOnly", kind::boolean},
    {"bypassDocumentValidation", kind::boolean},
    {"let", kind::document},
    {"cursor", kind::document},
    {"stmtId", kind::number},
    {"stmtIds", kind::array},
    {"bypassEmptyTsReplacement", kind::ignored},
};
constexpr field_rule bulk_insert_rules[] = {
    {"insert", kind::number, true},
    {"document", kind::document, true},
};
constexpr field_rule bulk_update_rules[] = {
    {"update", kind::number, true},
    {"filter", kind::document, true},
    {"updateMods", kind::document_or_array, true},
    {"multi", kind::boolean},
    {"upsert", kind::boolean},
    {"arrayFilters", kind::array},
    {"hint", kind::text_or_document},
    {"sort", kind::document},
    {"collation", kind::document},
    {"constants", kind::document},
    {"sampleId", kind::ignored},
    {"upsertSupplied", kind::ignored},
};
constexpr field_rule bulk_delete_rules[] = {
    {"delete", kind::number, true},   {"filter", kind::document, true}, {"multi", kind::boolean},
    {"hint", kind::text_or_document}, {"collation", kind::document},    {"sampleId", kind::ignored},
};
constexpr field_rule ns_rules[] = {
    {"ns", kind::text, true},
    {"collectionUUID", kind::ignored},
    {"encryptionInformation", kind::ignored},
};

// The command while it runs: a writer per namespace, the sums, and what each operation did.
struct bulk {
    node& on;
    request& what;
    const expression_context& context;
    bool bypass = false;
    bool errors_only = false;
    std::vector<namespace_text> names = {};
    std::vector<std::optional<writer>> writers = {};
    std::int32_t errors = 0;
    std::int32_t inserted = 0;
    std::int32_t matched = 0;
    std::int32_t modified = 0;
    std::int32_t upserted = 0;
    std::int32_t deleted = 0;
    std::vector<std::int32_t> retried = {};
    documents results = {};
};

result<void> read_names(bulk& all)
{
    return all.what.for_each_document("nsInfo", [&](bson::view from) -> result<void> {
        auto read = fields<ns_rules>::read(all.on, from, "bulkWrite.nsInfo");
        if (!read)
            return std::move(read).error();
        auto ns = namespace_text::split(read->text("ns"));
        if (!ns)
            return std::move(ns).error();
        if (all.names.size() == largest_batch)
            return refuse(server_code::invalid_length, "too many namespaces in nsInfo");
        all.names.push_back(*ns);
        return {};
    });
}

// The operation's own name, which is its first field: insert, update or delete.
result<std::string_view> kind_of(bson::view op)
{
    const std::string_view name = op.empty() ? std::string_view{} : op.begin()->key();
    if (name == "insert" || name == "update" || name == "delete")
        return name;
    return refuse(server_code::bad_value,
                  "Unrecognized bulkWrite op type: '" + std::string{name} + "'");
}

result<void> check_op(const bulk& all, bson::view op)
{
    auto name = kind_of(op);
    if (!name)
        return std::move(name).error();
    const auto number = as_number(*op.begin());
    if (number && (*number < 0 || static_cast<std::size_t>(*number) >= all.names.size())) {
        return refuse(server_code::bad_value, "BulkWrite ops entry has an invalid nsInfo index: " +
                                                  std::to_string(*number));
    }
    const auto outcome_of = [](auto read) {
        return read ? result<void>{} : result<void>{std::move(read).error()};
    };
    if (*name == "insert")
        return outcome_of(fields<bulk_insert_rules>::read(all.on, op, "bulkWrite.ops"));
    if (*name == "update")
        return outcome_of(fields<bulk_update_rules>::read(all.on, op, "bulkWrite.ops"));
    return outcome_of(fields<bulk_delete_rules>::read(all.on, op, "bulkWrite.ops"));
}

void add_cost(sleeps& to, const bulk& all, bson::view op)
{
    const bson::element filter = op.find("filter");
    if (filter.type() != bson::type::document || !asks_where(filter.as_document()))
        return;
    const auto place = static_cast<std::size_t>(as_number(*op.begin()).value_or(0));
    const collection* const in = std::as_const(all.on.data->data()).find(all.names[place]);
    to.add(filter.as_document(), in, as_flag(op.find("multi"), false) || op.find("sort"));
}

result<writer*> writer_for(bulk& all, bson::view op)
{
    const auto place = static_cast<std::size_t>(as_number(*op.begin()).value_or(0));
    std::optional<writer>& to = all.writers[place];
    if (!to) {
        auto opened = writer::open(all.on, all.what, all.names[place], all.bypass);
        if (!opened)
            return std::move(opened).error();
        to.emplace(*std::move(opened));
    }
    return &*to;
}

result<statement_result> perform(bulk& all, bson::view op, std::string_view name,
                                 std::int32_t number)
{
    auto to = writer_for(all, op);
    if (!to)
        return std::move(to).error();
    if (name == "insert")
        return insert_one(**to, op.find("document").as_document(), number);
    if (name == "update") {
        auto read = fields<bulk_update_rules>::read(all.on, op, "bulkWrite.ops");
        if (!read)
            return std::move(read).error();
        const auto& f = *read;
        const update_statement statement{.which = {.filter = f.document("filter"),
                                                   .collation = f["collation"],
                                                   .hint = f["hint"],
                                                   .multi = f.flag("multi")},
                                         .change = f["updateMods"],
                                         .array_filters = f.array("arrayFilters"),
                                         .sort = f.document("sort"),
                                         .constants = f.document("constants"),
                                         .upsert = f.flag("upsert")};
        return update_some(all.what, **to, statement, all.context, number);
    }
    auto read = fields<bulk_delete_rules>::read(all.on, op, "bulkWrite.ops");
    if (!read)
        return std::move(read).error();
    const selection which{.filter = read->document("filter"),
                          .collation = (*read)["collation"],
                          .hint = (*read)["hint"],
                          .multi = read->flag("multi")};
    return delete_some(all.what, **to, which, all.context, number);
}

void report_failure(bulk& all, std::int32_t index, std::string_view name, const error& why)
{
    ++all.errors;
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("ok", 0.0).add("idx", index);
    write_error_fields(out, why);
    out.add("n", 0);
    if (name == "update")
        out.add("nModified", 0);
    if (out.finish())
        all.results.push_back(bson::document::adopt(std::move(bytes)));
}

void report_success(bulk& all, std::int32_t index, std::string_view name,
                    const statement_result& done)
{
    const auto n = static_cast<std::int32_t>(done.matched);
    if (name == "insert")
        all.inserted += n;
    else if (name == "delete")
        all.deleted += n;
    else if (done.upserted)
        ++all.upserted;
    else
        all.matched += n;
    all.modified += static_cast<std::int32_t>(done.modified);
    if (all.errors_only)
        return;
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("ok", 1.0).add("idx", index).add("n", n);
    if (name == "update") {
        out.add("nModified", static_cast<std::int32_t>(done.modified));
        if (done.upserted)
            out.add("upserted", done.upserted_id);
    }
    if (out.finish())
        all.results.push_back(bson::document::adopt(std::move(bytes)));
}

result<void> run_all(bulk& all, bool ordered, const statement_numbers& numbers)
{
    bool go_on = true;
    std::int32_t index = 0;
    return all.what.for_each_document("ops", [&](bson::view op) -> result<void> {
        const std::int32_t here = index++;
        if (!go_on)
            return {};
        const std::string_view name = op.begin()->key();
        auto done = perform(all, op, name, numbers.at(here));
        if (!done) {
            if (ends_command(done.error()))
                return std::move(done).error();
            report_failure(all, here, name, done.error());
            go_on = !ordered;
            return {};
        }
        if (done->retried)
            all.retried.push_back(numbers.at(here));
        report_success(all, here, name, *done);
        return {};
    });
}

result<void> write_reply(bulk& all, const bson::element& cursor, bson::builder& reply)
{
    auto fine = reply_with_documents(all.on, all.what, reply, "admin.$cmd.bulkWrite",
                                     std::move(all.results), cursor);
    if (!fine)
        return fine;
    reply.add("nErrors", all.errors).add("nInserted", all.inserted).add("nMatched", all.matched);
    reply.add("nModified", all.modified).add("nUpserted", all.upserted);
    reply.add("nDeleted", all.deleted);
    if (!all.retried.empty()) {
        auto list = reply.array("retriedStmtIds");
        for (const std::int32_t number : all.retried)
            list.add(number);
    }
    return {};
}

}  // namespace

result<progress> run_bulk_write(node& on, request& what, bson::builder& reply)
{
    if (version_number(on) < 800)
        return refuse(server_code::command_not_found, "no such command: 'bulkWrite'");
    auto read = fields<bulk_write_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const auto& f = *read;
    if (auto fine = check_batch_size(what, "ops"); !fine)
        return std::move(fine).error();
    auto context = context_of(on, f.document("let"));
    if (!context)
        return std::move(context).error();
    bulk all{.on = on,
             .what = what,
             .context = *context,
             .bypass = f.flag("bypassDocumentValidation"),
             .errors_only = f.flag("errorsOnly")};
    if (auto fine = read_names(all); !fine)
        return std::move(fine).error();
    all.writers.resize(all.names.size());
    sleeps cost;
    auto checked = what.for_each_document("ops", [&](bson::view op) -> result<void> {
        if (auto fine = check_op(all, op); !fine)
            return fine;
        add_cost(cost, all, op);
        return {};
    });
    if (!checked)
        return std::move(checked).error();
    auto over = cost.over(on, what);
    if (!over)
        return std::move(over).error();
    if (!*over)
        return progress::wait;
    auto numbers = statement_numbers::read(f["stmtId"], f["stmtIds"]);
    if (!numbers)
        return std::move(numbers).error();
    if (auto fine = run_all(all, f.flag("ordered", true), *numbers); !fine)
        return std::move(fine).error();
    settle(on, what);
    what.failed_inside = all.errors != 0;
    if (what.close_after)
        return progress::done;
    if (auto fine = write_reply(all, f["cursor"], reply); !fine)
        return std::move(fine).error();
    return progress::done;
}

}  // namespace holdfast::lab::mongo
