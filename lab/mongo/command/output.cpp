#include "lab/mongo/command/output.hpp"

#include "lab/mongo/command/scan.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/storage/catalog.hpp"
#include "lab/mongo/update/update.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

std::string temporary_name(node& on)
{
    std::array<std::uint8_t, 8> bytes;
    on.world.random(bytes);
    std::string name = "tmp.agg_out.";
    for (const std::uint8_t byte : bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        name += digits[byte >> 4];
        name += digits[byte & 15];
    }
    return name;
}

result<void> create_like(node& on, request& what, const namespace_text& ns, const collection* model)
{
    bson::byte_buffer bytes;
    bson::builder create{bytes};
    create.add("create", ns.collection());
    if (model)
        create.merge(model->options().raw);
    auto made = create.finish();
    if (!made)
        return refuse(server_code::internal_error, made.error().message());
    if (auto fine = commit_command(on, what, ns.database(), *made); !fine)
        return fine;
    if (!model)
        return {};
    for (const index_spec& index : model->indexes()) {
        if (index.name == "_id_")
            continue;
        bson::byte_buffer spec_bytes;
        bson::builder spec{spec_bytes};
        spec.add("createIndexes", ns.collection()).merge(index.raw);
        auto ready = spec.finish();
        if (!ready)
            return refuse(server_code::internal_error, ready.error().message());
        if (auto fine = commit_command(on, what, ns.database(), *ready); !fine)
            return fine;
    }
    return {};
}

result<void> fill(node& on, request& what, const namespace_text& ns, const documents& results,
                  bool bypass_validation)
{
    auto to = writer::open(on, what, ns, bypass_validation);
    if (!to)
        return std::move(to).error();
    for (const bson::document& one : results) {
        if (auto fine = to->insert(one, 0); !fine)
            return fine;
    }
    return {};
}

bool is_unusable(const bson::element& e) noexcept
{
    return !e || e.is_null() || e.type() == bson::type::undefined || e.type() == bson::type::array;
}

result<void> check_join_fields(const merge_stage& merge, const collection* into)
{
    if (merge.on.size() == 1 && merge.on.front() == "_id")
        return {};
    if (into) {
        for (const index_spec& index : into->indexes()) {
            std::size_t fields = 0;
            bool all = true;
            for (const bson::element& e : index.key) {
                ++fields;
                all = all && std::ranges::find(merge.on, e.key()) != merge.on.end();
            }
            if (index.unique && all && fields == merge.on.size() && index.partial_filter.empty())
                return {};
        }
    }
    return refuse(51183, "Cannot find index to verify that join fields will be unique");
}

// The target's fields, replaced or added to by those of the result.
bson::document merged(bson::view target, bson::view with)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const bson::element& e : target) {
        const bson::element newer = e.key() == "_id" ? bson::element{} : with.find(e.key());
        out.copy(newer ? newer : e);
    }
    for (const bson::element& e : with) {
        if (!target.find(e.key()))
            out.copy(e);
    }
    if (!out.finish())
        return bson::document{target};
    return bson::document::adopt(std::move(bytes));
}

result<bson::document> piped(const merge_stage& merge, bson::view target, bson::view with,
                             const expression_context& context)
{
    expression_context inner = context;
    bson::byte_buffer bytes;
    bson::builder variables{bytes};
    variables.merge(context.variables);
    if (merge.let.empty())
        variables.add("new", with);
    for (const bson::element& e : merge.let) {
        auto compiled = expression::compile(e, {}, context);
        if (!compiled)
            return std::move(compiled).error();
        auto computed = compiled->evaluate(with);
        if (!computed)
            return std::move(computed).error();
        if (!computed->missing())
            variables.copy(e.key(), computed->get());
    }
    if (auto made = variables.finish())
        inner.variables = bson::document{*made};
    const auto stages = bson::doc("u", bson::array_view{merge.pipeline.view()});
    auto change = update::compile({stages.find("u")}, {}, inner);
    if (!change)
        return std::move(change).error();
    auto after = change->apply(target, {});
    if (!after)
        return std::move(after).error();
    return std::move(after->document);
}

result<void> merge_into(writer& to, const merge_stage& merge, bson::view found, bson::view one,
                        const expression_context& context)
{
    if (merge.when_matched == "keepExisting")
        return {};
    if (merge.when_matched == "fail")
        return to.insert(one, 0);  // the index that makes the partner unique says why it cannot be
    const bson::document before{found};
    bson::document after;
    if (merge.when_matched == "pipeline") {
        auto made = piped(merge, before, one, context);
        if (!made)
            return std::move(made).error();
        after = *std::move(made);
    } else if (merge.when_matched == "replace") {
        after = merged(bson::doc("_id", before.find("_id")), one);
    } else {
        after = merged(before, one);
    }
    if (after == before)
        return {};
    return to.replace(before, after, 0);
}

// What the result is to be merged with, if there is something.
result<std::optional<bson::document>> partner(const collection* in, const merge_stage& merge,
                                              bson::view one, const expression_context& context)
{
    std::optional<bson::document> found;
    bson::byte_buffer bytes;
    bson::builder filter{bytes};
    for (const std::string& path : merge.on) {
        const bson::element e = one.find_path(path);
        if (!e && path == "_id")
            return found;  // it will get one
        if (is_unusable(e)) {
            return refuse(51132,
                          "$merge write error: 'on' field cannot be missing, null, "
                          "undefined or an array");
        }
        filter.document(path).copy("$eq", e);
    }
    auto made = filter.finish();
    if (!in || !made)
        return found;
    auto asked = matcher::compile(*made, {}, context);
    if (!asked)
        return std::move(asked).error();
    auto first = first_match(*in, *asked, {}, {}, 0);
    if (!first)
        return std::move(first).error();
    if (*first)
        found.emplace((*first)->which.document);
    return found;
}

}  // namespace

result<void> write_out(node& on, request& what, const out_stage& where, const documents& results,
                       bool bypass_validation)
{
    const std::string_view database = where.database.empty() ? what.database
                                                             : std::string_view{where.database};
    auto ns = namespace_text::join(database, where.collection);
    if (!ns)
        return std::move(ns).error();
    if (auto fine = check_namespace(*ns); !fine)
        return fine;
    if (auto fine = check_writable(on, *ns); !fine)
        return fine;
    const collection* const there = std::as_const(on.data->data()).find(*ns);
    if (there && there->options().capped) {
        return refuse(17152, "namespace '" + std::string{ns->text()} +
                                 "' is capped so it can't be used for $out");
    }
    auto temporary = namespace_text::join(database, temporary_name(on));
    if (!temporary)
        return std::move(temporary).error();
    auto fine = create_like(on, what, *temporary, there);
    if (fine)
        fine = fill(on, what, *temporary, results, bypass_validation);
    if (fine) {
        const auto rename = bson::doc("renameCollection", bson::unchecked_text{temporary->text()},
                                      "to", bson::unchecked_text{ns->text()}, "dropTarget", true);
        fine = commit_command(on, what, database, rename);
    }
    if (!fine && on.data->data().find(*temporary)) {
        const auto drop = bson::doc("drop", bson::unchecked_text{temporary->collection()});
        (void)commit_command(on, what, database, drop);
    }
    if (fine)
        on.cursors.remove_on(*ns);
    return fine;
}

result<void> write_merge(node& on, request& what, const merge_stage& merge,
                         const documents& results, const expression_context& context,
                         bool bypass_validation)
{
    const std::string_view database = merge.database.empty() ? what.database
                                                             : std::string_view{merge.database};
    auto ns = namespace_text::join(database, merge.collection);
    if (!ns)
        return std::move(ns).error();
    auto to = writer::open(on, what, *ns, bypass_validation);
    if (!to)
        return std::move(to).error();
    if (auto fine = check_join_fields(merge, to->target()); !fine)
        return fine;
    for (const bson::document& one : results) {
        auto found = partner(to->target(), merge, one, context);
        if (!found)
            return std::move(found).error();
        result<void> fine;
        if (*found)
            fine = merge_into(*to, merge, **found, one, context);
        else if (merge.when_not_matched == "insert")
            fine = to->insert(one, 0);
        else if (merge.when_not_matched == "fail")
            fine = refuse(13113,
                          "$merge could not find a matching document in the target "
                          "collection for at least one document in the source collection");
        if (!fine)
            return fine;
    }
    return {};
}

}  // namespace holdfast::lab::mongo
