#include "lab/mongo/command/catalog_commands.hpp"
#include "lab/mongo/command/cursors.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule list_databases_rules[] = {
    {"filter", kind::document},
    {"nameOnly", kind::boolean},
    {"authorizedDatabases", kind::boolean},
};
constexpr field_rule list_collections_rules[] = {
    {"filter", kind::document},
    {"nameOnly", kind::boolean},
    {"authorizedCollections", kind::boolean},
    {"cursor", kind::document},
    {"includePendingDrops", kind::ignored},
};
constexpr field_rule list_indexes_rules[] = {
    {"cursor", kind::document},
    {"includeBuildUUIDs", kind::ignored},
    {"includeIndexBuildInfo", kind::ignored},
};

// Keeps what a filter matches.
result<documents> chosen(documents all, bson::view filter)
{
    if (filter.empty())
        return all;
    const expression_context context;
    auto asked = matcher::compile(filter, {}, context);
    if (!asked)
        return std::move(asked).error();
    documents kept;
    for (bson::document& one : all) {
        auto matched = asked->matches(one);
        if (!matched)
            return std::move(matched).error();
        if (*matched)
            kept.push_back(std::move(one));
    }
    return kept;
}

std::string_view kind_of(const collection& of)
{
    if (!of.options().view_on.empty())
        return "view";
    return of.options().raw.find("timeseries") ? "timeseries" : "collection";
}

bson::document describe(const collection& of, bool name_only)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("name", of.name()).add("type", kind_of(of));
    if (!name_only) {
        const bool view = kind_of(of) == "view";
        out.add("options", of.options().raw);
        {
            auto info = out.document("info");
            info.add("readOnly", view);
            if (!view)
                info.add("uuid", bson::binary{of.uuid().bytes, bson::binary_subtype::uuid});
        }
        if (!view && !of.options().without_ids)
            out.add("idIndex", bson::object("v", 2, "key", bson::object("_id", 1), "name", "_id_"));
    }
    if (!out.finish())
        return {};
    return bson::document::adopt(std::move(bytes));
}

// {name: "x"} alone names one collection: no need to look at all.
std::string_view sole_name(bson::view filter)
{
    const bson::element name = filter.find("name");
    return name.type() == bson::type::string ? name.as_string() : std::string_view{};
}

}  // namespace

result<progress> run_list_databases(node& on, request& what, bson::builder& reply)
{
    auto read = fields<list_databases_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const bool name_only = read->flag("nameOnly");
    const catalog& data = on.data->data();
    documents all;
    for (const std::string& name : data.databases()) {
        std::int64_t size = 0;
        for (const collection* const one : data.collections(name))
            size += one->data_size() + 4096;
        all.push_back(
            bson::doc("name", bson::unchecked_text{name}, "sizeOnDisk", size, "empty", size == 0));
    }
    auto kept = chosen(std::move(all), read->document("filter"));
    if (!kept)
        return std::move(kept).error();
    std::int64_t total = 0;
    {
        auto list = reply.array("databases");
        for (const bson::document& one : *kept) {
            total += as_number(one["sizeOnDisk"]).value_or(0);
            if (name_only)
                list.add(bson::object("name", one["name"]));
            else
                list.add(one);
        }
    }
    if (!name_only)
        reply.add("totalSize", total).add("totalSizeMb", total >> 20);
    return progress::done;
}

result<progress> run_list_collections(node& on, request& what, bson::builder& reply)
{
    auto read = fields<list_collections_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const bson::view filter = read->document("filter");
    const std::string_view name = sole_name(filter);
    documents all;
    for (const collection* const one : std::as_const(on.data->data()).collections(what.database)) {
        if (name.empty() || one->name() == name)
            all.push_back(describe(*one, read->flag("nameOnly")));
    }
    auto kept = chosen(std::move(all), filter);
    if (!kept)
        return std::move(kept).error();
    auto ns = namespace_text::join(what.database, "$cmd.listCollections");
    if (!ns)
        return std::move(ns).error();
    auto fine = reply_with_documents(on, what, reply, *ns, *std::move(kept), (*read)["cursor"]);
    if (!fine)
        return std::move(fine).error();
    return progress::done;
}

result<progress> run_list_indexes(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<list_indexes_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [given, ns] = *opened;
    const collection* const in = std::as_const(on.data->data()).find(ns);
    if (!in) {
        return refuse(server_code::namespace_not_found,
                      "ns does not exist: " + std::string{ns.text()});
    }
    if (auto fine = check_writable(on, ns); !fine)
        return std::move(fine).error();
    documents all;
    if (!in->options().without_ids) {
        for (const index_spec& one : in->indexes())
            all.push_back(one.raw);
    }
    auto fine = reply_with_documents(on, what, reply, ns, std::move(all), given["cursor"]);
    if (!fine)
        return std::move(fine).error();
    return progress::done;
}

}  // namespace holdfast::lab::mongo
