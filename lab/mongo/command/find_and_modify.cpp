#include "lab/mongo/command/crud.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/modify.hpp"
#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/projection.hpp"
#include "lab/mongo/update/update.hpp"

#include <optional>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule find_and_modify_rules[] = {
    {"query", kind::document},
    {"sort", kind::document},
    {"remove", kind::boolean},
    {"update", kind::document_or_array},
    {"new", kind::boolean},
    {"fields", kind::document},
    {"upsert", kind::boolean},
    {"bypassDocumentValidation", kind::boolean},
    {"collation", kind::document},
    {"arrayFilters", kind::array},
    {"hint", kind::text_or_document, false, 404},
    {"let", kind::document, false, 500},
    {"stmtId", kind::number},
    {"encryptionInformation", kind::ignored},
    {"runtimeConstants", kind::ignored},
    {"sampleId", kind::ignored},
    {"originalQuery", kind::ignored},
    {"originalCollation", kind::ignored},
    {"bypassEmptyTsReplacement", kind::ignored},
};
using modify_fields = fields<find_and_modify_rules>;

// What the command did, and the document that it gives back, before its projection.
struct outcome {
    std::int32_t n = 0;
    bool removed = false;
    bool updated_existing = false;
    bool upserted = false;
    bson::document upserted_id = {};
    std::optional<bson::document> value = {};
    std::optional<std::int32_t> retried = {};
};

result<void> check_fields(const modify_fields& f)
{
    const bool remove = f.flag("remove");
    const auto wrong = [](std::string text) {
        return refuse(server_code::failed_to_parse, std::move(text));
    };
    if (!remove && !f.has("update"))
        return wrong("Either an update or remove=true must be specified");
    if (!remove)
        return {};
    if (f.has("update"))
        return wrong("Cannot specify both an update and remove=true");
    if (f.flag("upsert"))
        return wrong("Cannot specify both upsert=true and remove=true ");
    if (f.flag("new"))
        return wrong(
            "Cannot specify both new=true and remove=true; 'remove' always returns the "
            "deleted document");
    if (f.has("arrayFilters"))
        return wrong("Cannot specify arrayFilters and remove=true");
    return {};
}

outcome replayed(const executed_statement& before)
{
    outcome again;
    again.retried = before.statement;
    again.n = before.kind == 'n' ? 0 : 1;
    again.removed = before.kind == 'd';
    again.updated_existing = before.kind == 'u';
    again.upserted = before.upserted;
    again.upserted_id = before.upserted_id;
    if (before.has_image)
        again.value = before.image;
    return again;
}

executed_statement with_image(bson::view image, bool is_new)
{
    executed_statement made;
    made.has_image = true;
    made.image_is_new = is_new;
    made.image = bson::document{image};
    return made;
}

result<outcome> remove_one(writer& to, const std::optional<found_record>& found,
                           std::int32_t statement)
{
    outcome done;
    done.removed = true;
    if (!found)
        return done;
    done.n = 1;
    done.value.emplace(found->which.document);
    auto fine = to.remove(*done.value, statement, with_image(*done.value, false));
    if (!fine)
        return std::move(fine).error();
    return done;
}

result<outcome> insert_new(writer& to, const update& change, const matcher& filter, bool give_new,
                           std::int32_t statement)
{
    const keep_image image = give_new ? keep_image::yes : keep_image::no;
    auto made = upsert_one(to, change, filter, statement, image);
    if (!made)
        return std::move(made).error();
    outcome done;
    done.n = 1;
    done.upserted = true;
    done.upserted_id = bson::doc("_id", made->find("_id"));
    if (give_new)
        done.value.emplace(*std::move(made));
    return done;
}

result<outcome> update_one(writer& to, const std::optional<found_record>& found,
                           const update& change, bool give_new, std::int32_t statement)
{
    outcome done;
    done.n = 1;
    done.updated_existing = true;
    const bson::document before{found->which.document};
    auto after = change.apply(before, found->details);
    if (!after)
        return std::move(after).error();
    done.value.emplace(give_new ? after->document : before);
    if (!after->changed)
        return done;
    auto fine = to.replace(before, after->document, statement, with_image(*done.value, give_new));
    if (!fine)
        return std::move(fine).error();
    return done;
}

result<outcome> perform(writer& to, const modify_fields& f, const matcher& filter,
                        const std::optional<collation>& by, const expression_context& context,
                        std::int32_t statement)
{
    std::optional<update> change;
    if (!f.flag("remove")) {
        const update_spec spec{f["update"], f.array("arrayFilters"), f.flag("upsert"), false};
        auto compiled = update::compile(spec, by, context);
        if (!compiled)
            return std::move(compiled).error();
        change.emplace(*std::move(compiled));
    }
    auto hint = read_hint(to.target(), f["hint"]);
    if (!hint)
        return std::move(hint).error();
    std::optional<found_record> found;
    if (to.target()) {
        auto first = first_match(*to.target(), filter, f.document("sort"), by, hint->natural);
        if (!first)
            return std::move(first).error();
        found = *std::move(first);
    }
    if (!change)
        return remove_one(to, found, statement);
    if (found)
        return update_one(to, found, *change, f.flag("new"), statement);
    if (f.flag("upsert"))
        return insert_new(to, *change, filter, f.flag("new"), statement);
    return outcome{};
}

result<void> write_reply(const outcome& done, const std::optional<projection>& shape,
                         bson::builder& reply)
{
    {
        auto last = reply.document("lastErrorObject");
        last.add("n", done.n);
        if (!done.removed)
            last.add("updatedExisting", done.updated_existing);
        if (done.upserted)
            last.copy("upserted", done.upserted_id.find("_id"));
    }
    if (!done.value) {
        reply.add("value", bson::null{});
    } else if (shape) {
        auto shaped = shape->apply(*done.value);
        if (!shaped)
            return std::move(shaped).error();
        reply.add("value", *shaped);
    } else {
        reply.add("value", *done.value);
    }
    if (done.retried)
        reply.add("retriedStmtId", *done.retried);
    return {};
}

}  // namespace

result<progress> run_find_and_modify(node& on, request& what, bson::builder& reply)
{
    auto read = modify_fields::read(on, what);
    if (!read)
        return std::move(read).error();
    const modify_fields& f = *read;
    if (auto fine = check_fields(f); !fine)
        return std::move(fine).error();
    auto ns = namespace_text::of(what);
    if (!ns)
        return std::move(ns).error();
    auto to = writer::open(on, what, *ns, f.flag("bypassDocumentValidation"));
    if (!to)
        return std::move(to).error();
    auto context = context_of(on, f.document("let"));
    if (!context)
        return std::move(context).error();
    auto by = collation_for(to->target(), f["collation"]);
    if (!by)
        return std::move(by).error();
    auto filter = matcher::compile(f.document("query"), *by, *context);
    if (!filter)
        return std::move(filter).error();
    std::optional<projection> shape;
    if (!f.document("fields").empty()) {
        auto compiled = projection::compile(f.document("fields"), &*filter, *context);
        if (!compiled)
            return std::move(compiled).error();
        shape.emplace(*std::move(compiled));
    }
    sleeps cost;
    cost.add(*filter, to->target(), !f.document("sort").empty());
    auto over = cost.over(on, what);
    if (!over)
        return std::move(over).error();
    if (!*over)
        return progress::wait;
    const auto statement = static_cast<std::int32_t>(f.number("stmtId", 0));
    auto before = to->executed(statement);
    if (!before)
        return std::move(before).error();
    auto done = *before ? result<outcome>{replayed(**before)}
                        : perform(*to, f, *filter, *by, *context, statement);
    if (!done)
        return std::move(done).error();
    settle(on, what);
    if (what.close_after)
        return progress::done;
    if (auto fine = write_reply(*done, shape, reply); !fine)
        return std::move(fine).error();
    return progress::done;
}

}  // namespace holdfast::lab::mongo
