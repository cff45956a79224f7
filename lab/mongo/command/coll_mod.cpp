#include "holdfast/bson/json.hpp"
#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/command/catalog_commands.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <optional>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule coll_mod_rules[] = {
    {"index", kind::document},
    {"validator", kind::document},
    {"validationLevel", kind::text},
    {"validationAction", kind::text},
    {"viewOn", kind::text},
    {"pipeline", kind::array},
    {"expireAfterSeconds", kind::any, false, 500},
    {"changeStreamPreAndPostImages", kind::document, false, 600},
    {"recordPreImages", kind::boolean},
    {"cappedSize", kind::number, false, 600},
    {"cappedMax", kind::number, false, 600},
    {"timeseries", kind::document, false, 500},
    {"dryRun", kind::boolean},
};
using mod_fields = fields<coll_mod_rules>;

constexpr field_rule index_change_rules[] = {
    {"name", kind::text},
    {"keyPattern", kind::document},
    {"expireAfterSeconds", kind::number},
    {"hidden", kind::boolean, false, 404},
    {"unique", kind::boolean, false, 600},
    {"prepareUnique", kind::boolean, false, 600},
    {"forceNonUnique", kind::boolean, false, 600},
};

// Options that the command may change, and what they are called among them.
struct changed_option {
    std::string_view field;
    std::string_view option;
};
constexpr changed_option changeable[] = {
    {"validator", "validator"},
    {"validationLevel", "validationLevel"},
    {"validationAction", "validationAction"},
    {"viewOn", "viewOn"},
    {"pipeline", "pipeline"},
    {"expireAfterSeconds", "expireAfterSeconds"},
    {"changeStreamPreAndPostImages", "changeStreamPreAndPostImages"},
    {"cappedSize", "size"},
    {"cappedMax", "max"},
};

// The options as they will be; empty if none of them changes.
std::optional<bson::document> options_after(const collection& of, bson::view command)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    bool any = false;
    for (const bson::element& old : of.options().raw) {
        bool replaced = false;
        for (const changed_option& one : changeable)
            replaced = replaced || (one.option == old.key() && command.find(one.field));
        if (!replaced)
            out.copy(old);
    }
    for (const changed_option& one : changeable) {
        const bson::element given = command.find(one.field);
        if (!given)
            continue;
        any = true;
        const bool removed = one.field == "validator" && given.type() == bson::type::document &&
                             given.as_document().empty();
        if (!removed && !given.is_null())
            out.copy(one.option, given);
    }
    if (!any || !out.finish())
        return std::nullopt;
    return bson::document::adopt(std::move(bytes));
}

result<const index_spec*> index_named_in(const collection& in, const fields<index_change_rules>& f)
{
    if (f.has("name") == f.has("keyPattern")) {
        return refuse(server_code::invalid_options,
                      f.has("name") ? "Cannot specify both key pattern and name."
                                    : "Must specify either index name or key pattern.");
    }
    const index_spec* const found = f.has("name") ? in.index_named(f.text("name"))
                                                  : in.index_with_key(f.document("keyPattern"));
    if (found)
        return found;
    std::string asked{f.text("name")};
    if (f.has("keyPattern")) {
        if (auto text = bson::to_json(f.document("keyPattern")))
            asked = *text;
    }
    return refuse(server_code::index_not_found,
                  "cannot find index " + asked + " for ns " + in.ns());
}

result<void> check_index_change(const index_spec& old, const fields<index_change_rules>& f)
{
    if (!f.has("expireAfterSeconds") && !f.has("hidden") && !f.has("unique") &&
        !f.has("prepareUnique") && !f.has("forceNonUnique")) {
        return refuse(server_code::invalid_options,
                      "no expireAfterSeconds, hidden, unique, or prepareUnique field");
    }
    if (old.name == "_id_" && f.flag("hidden"))
        return refuse(server_code::bad_value, "can't hide _id index");
    if (f.has("unique") && !f.flag("unique"))
        return refuse(server_code::bad_value, "Cannot make index non-unique");
    if (f.flag("unique") && !old.unique && !old.prepare_unique && !f.flag("prepareUnique")) {
        return refuse(server_code::invalid_options,
                      "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it "
                      "first.");
    }
    return {};
}

void write_index_change(const index_spec& old, const fields<index_change_rules>& f,
                        bson::builder& reply)
{
    if (f.has("expireAfterSeconds")) {
        if (old.expire_after_seconds)
            reply.add("expireAfterSeconds_old", *old.expire_after_seconds);
        reply.add("expireAfterSeconds_new", f.number("expireAfterSeconds"));
    }
    if (f.has("hidden") && f.flag("hidden") != old.hidden)
        reply.add("hidden_old", old.hidden).add("hidden_new", f.flag("hidden"));
    if (f.has("prepareUnique") && f.flag("prepareUnique") != old.prepare_unique) {
        reply.add("prepareUnique_old", old.prepare_unique);
        reply.add("prepareUnique_new", f.flag("prepareUnique"));
    }
    if (f.flag("unique") && !old.unique)
        reply.add("unique_new", true);
}

result<void> check_new_options(const mod_fields& f)
{
    const expression_context context;
    if (f.has("validator")) {
        if (auto checked = matcher::compile(f.document("validator"), {}, context); !checked)
            return std::move(checked).error();
    }
    if (f.has("pipeline")) {
        if (auto checked = pipeline::compile(f.array("pipeline"), true, {}, context); !checked)
            return std::move(checked).error();
    }
    return {};
}

}  // namespace

result<progress> run_coll_mod(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<coll_mod_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [given, ns] = *opened;
    const collection* const in = std::as_const(on.data->data()).find(ns);
    if (!in) {
        return refuse(server_code::namespace_not_found,
                      "ns does not exist: " + std::string{ns.text()});
    }
    if (auto fine = check_new_options(given); !fine)
        return std::move(fine).error();
    bson::byte_buffer bytes;
    bson::builder change{bytes};
    change.add("collMod", ns.collection());
    if (const auto options = options_after(*in, what.body))
        change.add("options", *options);
    std::optional<index_spec> old;
    std::optional<fields<index_change_rules>> wanted;
    if (given.has("index")) {
        auto inner = fields<index_change_rules>::read(on, given.document("index"), "collMod.index");
        if (!inner)
            return std::move(inner).error();
        auto found = index_named_in(*in, *inner);
        if (!found)
            return std::move(found).error();
        if (auto fine = check_index_change(**found, *inner); !fine)
            return std::move(fine).error();
        old = **found;
        wanted = *inner;
        change.add("index", given.document("index"));
    }
    auto made = change.finish();
    if (!made)
        return refuse(server_code::bad_value, made.error().message());
    if (given.flag("dryRun"))
        return progress::done;
    if (auto fine = commit_command(on, what, ns.database(), *made); !fine)
        return std::move(fine).error();
    if (old && wanted)
        write_index_change(*old, *wanted, reply);
    return progress::done;
}

}  // namespace holdfast::lab::mongo
