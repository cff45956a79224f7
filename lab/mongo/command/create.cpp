#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/command/catalog_commands.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule create_collection_rules[] = {
    {"capped", kind::boolean},
    {"size", kind::number},
    {"max", kind::number},
    {"autoIndexId", kind::boolean},
    {"idIndex", kind::document},
    {"storageEngine", kind::document},
    {"indexOptionDefaults", kind::document},
    {"validator", kind::document},
    {"validationLevel", kind::text},
    {"validationAction", kind::text},
    {"viewOn", kind::text},
    {"pipeline", kind::array},
    {"collation", kind::document},
    {"changeStreamPreAndPostImages", kind::document, false, 600},
    {"timeseries", kind::document, false, 500},
    {"expireAfterSeconds", kind::any, false, 500},
    {"clusteredIndex", kind::any, false, 503},
    {"encryptedFields", kind::document, false, 600},
    {"temp", kind::boolean},
    {"flags", kind::number},
    {"recordPreImages", kind::boolean},
};
using create_fields = fields<create_collection_rules>;

constexpr field_rule drop_collection_rules[] = {{"collectionUUID", kind::ignored}};
constexpr field_rule drop_database_rules[] = {{"dryRun", kind::ignored}};
constexpr field_rule rename_rules[] = {
    {"to", kind::text, true},
    {"dropTarget", kind::any},
    {"stayTemp", kind::boolean},
    {"collectionUUID", kind::ignored},
};

result<void> check_one_of(std::string_view given, std::string_view field,
                          std::initializer_list<std::string_view> known)
{
    for (const std::string_view one : known) {
        if (given == one)
            return {};
    }
    return refuse(server_code::bad_value, "Enumeration value '" + std::string{given} +
                                              "' for field 'create." + std::string{field} +
                                              "' is not a valid value.");
}

result<void> check_view(const create_fields& f)
{
    if (!f.has("viewOn")) {
        if (f.has("pipeline"))
            return refuse(server_code::invalid_options,
                          "'pipeline' requires 'viewOn' to also be specified");
        return {};
    }
    if (f.has("capped") || f.has("size") || f.has("max") || f.has("validator") ||
        f.has("timeseries") || f.has("clusteredIndex") || f.has("idIndex") ||
        f.has("changeStreamPreAndPostImages"))
        return refuse(server_code::invalid_options,
                      "cannot specify collection options together with 'viewOn'");
    if (f.text("viewOn").empty())
        return refuse(server_code::bad_value, "'viewOn' cannot be empty");
    const expression_context context;
    auto compiled = pipeline::compile(f.array("pipeline"), true, {}, context);
    if (!compiled)
        return std::move(compiled).error();
    if (compiled->out() || compiled->merge())
        return refuse(167,
                      "The aggregation stage $out or $merge in location is not allowed in a "
                      "view");
    return {};
}

result<void> check_options(const create_fields& f, std::string_view database)
{
    if (auto fine = check_view(f); !fine)
        return fine;
    if (f.has("validationLevel")) {
        auto fine = check_one_of(f.text("validationLevel"), "validationLevel",
                                 {"off", "strict", "moderate"});
        if (!fine)
            return fine;
    }
    if (f.has("validationAction")) {
        auto fine = check_one_of(f.text("validationAction"), "validationAction",
                                 {"error", "warn", "errorAndLog"});
        if (!fine)
            return fine;
    }
    if (f.has("size") && !f.flag("capped") && f.number("size") != 0)
        return refuse(server_code::invalid_options,
                      "the 'capped' field needs to be true when either the 'size' or 'max' fields "
                      "are present");
    if (!f.has("validator"))
        return {};
    if (database == "admin" || database == "local" || database == "config") {
        return refuse(server_code::invalid_options,
                      "Document validators are not allowed on collections in the " +
                          std::string{database} + " database");
    }
    const expression_context context;
    if (auto rules = matcher::compile(f.document("validator"), {}, context); !rules)
        return std::move(rules).error();
    return {};
}

result<void> check_existing(const node& on, const collection& there, bson::view options)
{
    auto read = read_collection_options(options);
    if (!read)
        return std::move(read).error();
    if (version_number(on) >= 700 && read->raw == there.options().raw)
        return {};
    const std::string_view what = there.options().view_on.empty() ? "collection" : "view";
    return refuse(server_code::namespace_exists,
                  "Collection already exists. NS: " + there.ns() + " is a " + std::string{what});
}

}  // namespace

result<progress> run_create(node& on, request& what, bson::builder&)
{
    auto opened = open_namespace<create_collection_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [given, ns] = *opened;
    if (auto fine = check_namespace(ns); !fine)
        return std::move(fine).error();
    if (auto fine = check_options(given, ns.database()); !fine)
        return std::move(fine).error();
    bson::byte_buffer bytes;
    bson::builder create{bytes};
    create.add("create", ns.collection());
    for (const bson::element& e : what.body) {
        const bool known = std::ranges::find(create_collection_rules, e.key(), &field_rule::name) !=
                           std::end(create_collection_rules);
        if (known && !e.is_null() && e.key() != "autoIndexId")
            create.copy(e);
    }
    auto made = create.finish();
    if (!made)
        return refuse(server_code::bad_value, made.error().message());
    if (const collection* const there = on.data->data().find(ns)) {
        if (auto fine = check_existing(on, *there, *made); !fine)
            return std::move(fine).error();
        settle(on, what);
        return progress::done;
    }
    if (auto fine = commit_command(on, what, ns.database(), *made); !fine)
        return std::move(fine).error();
    return progress::done;
}

result<progress> run_drop(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<drop_collection_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const namespace_text& ns = opened->ns;
    const collection* const there = std::as_const(on.data->data()).find(ns);
    if (!there) {
        if (version_number(on) < 700)
            return refuse(server_code::namespace_not_found, "ns not found");
        settle(on, what);
        return progress::done;
    }
    const bool view = !there->options().view_on.empty();
    const auto indexes = static_cast<std::int32_t>(there->indexes().size());
    const auto drop = bson::doc("drop", bson::unchecked_text{ns.collection()});
    if (auto fine = commit_command(on, what, ns.database(), drop); !fine)
        return std::move(fine).error();
    on.cursors.remove_on(ns);
    if (!view)
        reply.add("nIndexesWas", indexes);
    reply.add("ns", ns.text());
    return progress::done;
}

result<progress> run_drop_database(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<drop_database_rules>::read(on, what); !read)
        return std::move(read).error();
    if (as_number(*what.body.begin()) != 1)
        return refuse(server_code::bad_value, "have to pass 1 as db parameter");
    if (what.database == "admin" || what.database == "config" || what.database == "local") {
        return refuse(server_code::illegal_operation,
                      "Dropping the '" + std::string{what.database} + "' database is prohibited.");
    }
    const auto collections = std::as_const(on.data->data()).collections(what.database);
    if (collections.empty()) {
        settle(on, what);
        return progress::done;
    }
    for (const collection* const one : collections)
        on.cursors.remove_on(one->ns());
    const auto drop = bson::doc("dropDatabase", 1);
    if (auto fine = commit_command(on, what, what.database, drop); !fine)
        return std::move(fine).error();
    reply.add("dropped", what.database);
    return progress::done;
}

result<progress> run_rename_collection(node& on, request& what, bson::builder&)
{
    auto read = fields<rename_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    const bson::element first = *what.body.begin();
    if (first.type() != bson::type::string)
        return wrong_type("renameCollection", "renameCollection", first.type(), "string");
    auto from = namespace_text::split(first.as_string());
    if (!from)
        return std::move(from).error();
    auto to = namespace_text::split(read->text("to"));
    if (!to)
        return std::move(to).error();
    if (auto fine = check_namespace(*to); !fine)
        return std::move(fine).error();
    if (from->text() == to->text())
        return refuse(server_code::illegal_operation, "Can't rename a collection to itself");
    if (auto fine = check_writable(on, *from); !fine)
        return std::move(fine).error();
    const catalog& all = on.data->data();
    if (!all.find(*from)) {
        return refuse(server_code::namespace_not_found,
                      "Source collection " + std::string{from->text()} + " does not exist");
    }
    const bool drop_target = as_flag((*read)["dropTarget"], (*read).has("dropTarget"));
    if (all.find(*to) && !drop_target)
        return refuse(server_code::namespace_exists, "target namespace exists");
    const auto rename = bson::doc("renameCollection", bson::unchecked_text{from->text()}, "to",
                                  bson::unchecked_text{to->text()}, "dropTarget", drop_target);
    if (auto fine = commit_command(on, what, from->database(), rename); !fine)
        return std::move(fine).error();
    on.cursors.remove_on(*from);
    on.cursors.remove_on(*to);
    return progress::done;
}

}  // namespace holdfast::lab::mongo
