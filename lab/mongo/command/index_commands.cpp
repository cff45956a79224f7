#include "holdfast/bson/json.hpp"
#include "lab/mongo/command/catalog_commands.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule create_indexes_rules[] = {
    {"indexes", kind::sequence},
    {"commitQuorum", kind::any, false, 404},
    {"ignoreUnknownIndexOptions", kind::boolean},
    {"v", kind::ignored},
};
constexpr field_rule drop_indexes_rules[] = {
    {"index", kind::any, true},
    {"collectionUUID", kind::ignored},
};

std::string to_text(bson::view document)
{
    auto text = bson::to_json(document);
    return text ? *std::move(text) : std::string{"{}"};
}

result<std::vector<index_spec>> read_specs(const request& what)
{
    std::vector<index_spec> specs;
    auto fine = what.for_each_document("indexes", [&](bson::view from) -> result<void> {
        constexpr std::size_t most = 64;  // as many as a collection may have
        if (specs.size() == most)
            return refuse(server_code::cannot_create_index, "too many indexes in one command");
        auto spec = read_index_spec(from);
        if (!spec)
            return std::move(spec).error();
        specs.push_back(*std::move(spec));
        return {};
    });
    if (!fine)
        return std::move(fine).error();
    if (specs.empty())
        return refuse(server_code::bad_value, "Must specify at least one index to create");
    return specs;
}

result<bool> exists_already(const collection& in, const index_spec& spec)
{
    const index_spec* const same = in.index_with_key(spec.key);
    if (same && same->key == bson::doc("_id", 1))
        return true;
    if (spec.name == "_id_")
        return refuse(server_code::bad_value,
                      "The index name '_id_' is reserved for the _id index, which must have key "
                      "pattern {_id: 1}, found key: " +
                          to_text(spec.key));
    const index_spec* const there = in.index_named(spec.name);
    return there && there->raw == spec.raw;
}

// The names of the indexes that a dropIndexes means.
result<std::vector<std::string>> names_to_drop(const collection& in, const bson::element& which,
                                               bool inside_list = false)
{
    std::vector<std::string> names;
    if (which.type() == bson::type::array && !inside_list) {
        for (const bson::element& e : which.as_array()) {
            if (e.type() != bson::type::string)
                return wrong_type("dropIndexes.index", e.key(), e.type(), "string");
            auto more = names_to_drop(in, e, true);
            if (!more)
                return more;
            names.insert(names.end(), more->begin(), more->end());
        }
        return names;
    }
    if (which.type() == bson::type::string) {
        const std::string name{which.as_string()};
        if (name == "*" && !inside_list) {
            for (const index_spec& one : in.indexes()) {
                if (one.name != "_id_")
                    names.push_back(one.name);
            }
            return names;
        }
        if (name == "_id_")
            return refuse(server_code::invalid_options, "cannot drop _id index");
        if (!in.index_named(name)) {
            return refuse(server_code::index_not_found, "index not found with name [" + name + "]");
        }
        names.push_back(name);
        return names;
    }
    if (which.type() != bson::type::document)
        return wrong_type("dropIndexes", "index", which.type(), "[string, object]");
    const index_spec* const found = in.index_with_key(which.as_document());
    if (!found) {
        return refuse(server_code::index_not_found,
                      "can't find index with key: " + to_text(which.as_document()));
    }
    if (found->name == "_id_")
        return refuse(server_code::invalid_options, "cannot drop _id index");
    names.push_back(found->name);
    return names;
}

}  // namespace

result<progress> run_create_indexes(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<create_indexes_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const namespace_text& ns = opened->ns;
    auto specs = read_specs(what);
    if (!specs)
        return std::move(specs).error();
    if (auto fine = check_writable(on, ns); !fine)
        return std::move(fine).error();
    const bool there = on.data->data().find(ns) != nullptr;
    auto in = ensure_collection(on, what, ns);
    if (!in)
        return std::move(in).error();
    const std::size_t before = (*in)->indexes().size();
    for (const index_spec& spec : *specs) {
        const auto exists = exists_already(**in, spec);
        if (!exists)
            return exists.error();
        if (*exists)
            continue;
        bson::byte_buffer bytes;
        bson::builder one{bytes};
        one.add("createIndexes", ns.collection()).merge(spec.raw);
        auto ready = one.finish();
        if (!ready)
            return refuse(server_code::bad_value, ready.error().message());
        if (auto fine = commit_command(on, what, ns.database(), *ready); !fine)
            return std::move(fine).error();
    }
    settle(on, what);
    const std::size_t after = (*in)->indexes().size();
    reply.add("numIndexesBefore", static_cast<std::int32_t>(before));
    reply.add("numIndexesAfter", static_cast<std::int32_t>(after));
    reply.add("createdCollectionAutomatically", !there);
    if (before == after)
        reply.add("note", "all indexes already exist");
    if (on.member->in_set())
        reply.add("commitQuorum", "votingMembers");
    return progress::done;
}

result<progress> run_drop_indexes(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<drop_indexes_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [given, ns] = *opened;
    if (auto fine = check_writable(on, ns); !fine)
        return std::move(fine).error();
    const collection* const in = std::as_const(on.data->data()).find(ns);
    if (!in) {
        return refuse(server_code::namespace_not_found, "ns not found " + std::string{ns.text()});
    }
    auto names = names_to_drop(*in, given["index"]);
    if (!names)
        return std::move(names).error();
    const auto before = static_cast<std::int32_t>(in->indexes().size());
    for (const std::string& name : *names) {
        const auto drop = bson::doc("dropIndexes", bson::unchecked_text{ns.collection()}, "index",
                                    bson::unchecked_text{name});
        if (auto fine = commit_command(on, what, ns.database(), drop); !fine)
            return std::move(fine).error();
    }
    settle(on, what);
    reply.add("nIndexesWas", before);
    const bson::element& which = given["index"];
    if (which.type() == bson::type::string && which.as_string() == "*")
        reply.add("msg", "non-_id indexes dropped for collection");
    return progress::done;
}

}  // namespace holdfast::lab::mongo
