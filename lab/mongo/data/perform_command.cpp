#include "holdfast/bson/json.hpp"
#include "lab/mongo/data/disk.hpp"
#include "lab/mongo/data/oplog_entry.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/option_reader.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::lab::mongo {
namespace {

/// A command of the oplog on its way: the data, and what it says about which collection.
struct task {
    catalog& data;
    const change& what;
    bson::timestamp at;
    bson::element first;  // the command's own field
    std::string ns;       // of its collection

    bson::view o() const noexcept { return what.o; }
};

error not_found(const std::string& ns)
{
    return refuse(server_code::namespace_not_found, "ns not found " + ns);
}

error live_oplog(std::string_view verb)
{
    return refuse(server_code::illegal_operation,
                  "can't " + std::string{verb} + " live oplog while replicating");
}

bool is_oplog(std::string_view ns)
{
    return ns == "local.oplog.rs";
}

result<void> create(const task& t)
{
    auto options = read_collection_options(t.o());
    if (!options)
        return std::move(options).error();
    const bson::uuid uuid = uuid_of_command(t.what, t.at, t.data).value_or(bson::uuid{});
    auto made = t.data.create(t.ns, uuid, *std::move(options));
    if (!made)
        return std::move(made).error();
    return {};
}

result<void> drop(const task& t)
{
    if (is_oplog(t.ns))
        return live_oplog("drop");
    if (!t.data.drop(t.ns))
        return not_found(t.ns);
    return {};
}

result<void> create_indexes(const task& t)
{
    collection* const in = t.data.find(t.ns);
    if (in == nullptr)
        return not_found(t.ns);
    auto spec = read_command_index(t.o());
    if (!spec)
        return std::move(spec).error();
    auto made = in->create_index(*std::move(spec));
    if (!made)
        return std::move(made).error();
    return {};
}

result<void> drop_indexes(const task& t)
{
    collection* const in = t.data.find(t.ns);
    if (in == nullptr)
        return not_found(t.ns);
    const bson::element which = t.o().find("index");
    if (which.type() != bson::type::string)
        return wrong_type("dropIndexes.index", which, "string");
    if (which.as_string() != "*")
        return in->drop_index(which.as_string());
    const std::vector<index_spec> all = in->indexes();
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (auto done = in->drop_index(all[i].name); !done)
            return done;
    }
    return {};
}

result<void> rename(const task& t)
{
    const bson::element to = t.o().find("to");
    if (to.type() != bson::type::string)
        return wrong_type("renameCollection.to", to, "string");
    const std::string_view from = t.first.as_string();
    if (is_oplog(from) || is_oplog(to.as_string()))
        return live_oplog("rename");
    return t.data.rename(from, to.as_string(), truth(t.o().find("dropTarget")).value_or(false));
}

/// {"violations": [{"ids": [1, 2]}]}
std::string describe(const std::vector<std::vector<bson::document>>& groups)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    {
        auto violations = out.array("violations");
        for (const auto& group : groups) {
            auto one = violations.document();
            auto ids = one.array("ids");
            for (const bson::document& id : group) {
                if (const bson::element value = id["_id"])
                    ids.copy(value);
            }
        }
    }
    (void)out.finish();
    auto text = bson::to_json(bson::view::trusted(bytes.data()));
    return text ? *std::move(text) : std::string{"{}"};
}

result<void> change_one_index(collection& in, bson::view wanted)
{
    const index_spec* found = nullptr;
    if (const bson::element name = wanted.find("name"); name.type() == bson::type::string)
        found = in.index_named(name.as_string());
    else if (const bson::element key = wanted.find("keyPattern");
             key.type() == bson::type::document)
        found = in.index_with_key(key.as_document());
    if (found == nullptr)
        return refuse(server_code::index_not_found, "cannot find index for ns " + in.ns());
    index_spec changed = *found;
    if (const bson::element e = wanted.find("hidden"))
        changed.hidden = truth(e).value_or(false);
    if (const bson::element e = wanted.find("prepareUnique"))
        changed.prepare_unique = truth(e).value_or(false);
    if (const bson::element e = wanted.find("unique"))
        changed.unique = truth(e).value_or(false);
    if (const auto seconds = clamped_number(wanted.find("expireAfterSeconds")))
        changed.expire_after_seconds = *seconds;
    if (const auto groups = in.change_index(changed); !groups.empty())
        return refuse(server_code::cannot_convert_index_to_unique,
                      "Cannot convert the index to unique. Please resolve conflicting documents "
                      "before running collMod again.")
            .with_context("violations", describe(groups));
    return {};
}

result<void> modify(const task& t)
{
    collection* const in = t.data.find(t.ns);
    if (in == nullptr)
        return not_found(t.ns);
    const bson::element options = t.o().find("options");
    std::optional<collection_options> changed;
    if (options.type() == bson::type::document) {
        auto read = read_collection_options(options.as_document());
        if (!read)
            return std::move(read).error();
        read->without_ids = in->options().without_ids;
        changed = *std::move(read);
    }
    if (const bson::element index = t.o().find("index"); index.type() == bson::type::document) {
        if (auto done = change_one_index(*in, index.as_document()); !done)
            return done;
    }
    if (changed)
        in->change_options(*std::move(changed));
    return {};
}

result<void> drop_database(const task& t)
{
    const std::string_view database = database_of(t.what.ns);
    if (database == "local")
        return live_oplog("drop");
    (void)t.data.drop_database(database);
    return {};
}

struct known_command {
    std::string_view name;
    result<void> (*run)(const task&);
    bool names_collection = true;
};
constexpr known_command commands[] = {
    {"create", create},
    {"drop", drop},
    {"createIndexes", create_indexes},
    {"dropIndexes", drop_indexes},
    {"renameCollection", rename},
    {"collMod", modify},
    {"dropDatabase", drop_database, false},
};

}  // namespace

result<void> disk::perform_command(const change& what, bson::timestamp at)
{
    const bson::element first = what.o.empty() ? bson::element{} : *what.o.begin();
    for (const known_command& each : commands) {
        if (!first || each.name != first.key())
            continue;
        task job{data_, what, at, first, {}};
        if (each.names_collection) {
            if (first.type() != bson::type::string)
                return wrong_type(first.key(), first, "string");
            job.ns.append(database_of(what.ns)).append(1, '.').append(first.as_string());
        }
        return each.run(job);
    }
    return refuse(server_code::bad_value, "an unknown command in the oplog");
}

}  // namespace holdfast::lab::mongo
