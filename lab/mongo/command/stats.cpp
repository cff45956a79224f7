#include "lab/mongo/command/stats.hpp"

#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr field_rule coll_stats_rules[] = {{"scale", kind::number}, {"verbose", kind::ignored}};
constexpr field_rule db_stats_rules[] = {{"scale", kind::number}, {"freeStorage", kind::ignored}};
constexpr field_rule validate_rules[] = {
    {"full", kind::boolean},
    {"scandata", kind::boolean},
    {"repair", kind::boolean},
    {"background", kind::boolean},
    {"checkBSONConformance", kind::boolean},
    {"metadata", kind::boolean},
    {"enforceFastCount", kind::boolean},
};

constexpr std::int32_t index_bytes = 4096;

void write_sizes(const collection& of, std::int64_t scale, bson::builder& out)
{
    const auto count = static_cast<std::int64_t>(of.count());
    const auto indexes = of.indexes();
    out.add("size", of.data_size() / scale);
    out.add("count", static_cast<std::int32_t>(count));
    if (count != 0)
        out.add("avgObjSize", static_cast<std::int32_t>(of.data_size() / count));
    out.add("numOrphanDocs", 0);
    out.add("storageSize", of.data_size() / scale);
    out.add("freeStorageSize", std::int64_t{0});
    out.add("capped", of.options().capped);
    if (of.options().capped) {
        out.add("max", of.options().max_documents);
        out.add("maxSize", of.options().max_bytes / scale);
    }
    out.add("nindexes", static_cast<std::int32_t>(indexes.size()));
    out.add("totalIndexSize", std::int64_t{index_bytes} * std::ssize(indexes) / scale);
    out.add("totalSize",
            (of.data_size() + std::int64_t{index_bytes} * std::ssize(indexes)) / scale);
    auto sizes = out.document("indexSizes");
    for (const index_spec& one : indexes)
        sizes.add(one.name, std::int64_t{index_bytes} / scale);
}

result<std::int64_t> read_scale(std::int64_t given)
{
    if (given > 0)
        return given;
    return refuse(51024, "BSON field 'scale' value must be >= 1, actual value '" +
                             std::to_string(given) + "'");
}

bson::document adopted(bson::builder& out, bson::byte_buffer& bytes)
{
    if (!out.finish())
        return {};
    return bson::document::adopt(std::move(bytes));
}

}  // namespace

documents local_sessions_of(const node& on)
{
    documents all;
    for (const auto& [key, used] : on.sessions()) {
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        {
            auto id = out.document("_id");
            id.add("id", bson::binary{key.id, bson::binary_subtype::uuid});
            id.add("uid", bson::binary{key.user, bson::binary_subtype::generic});
        }
        const auto ago = std::chrono::duration_cast<std::chrono::milliseconds>(on.now() - used);
        out.add("lastUse", bson::datetime{on.wall_now() - ago});
        all.push_back(adopted(out, bytes));
    }
    return all;
}

documents current_operations_of(const node& on)
{
    documents all;
    all.push_back(bson::doc("host", on.options.own_address, "desc", "conn", "type", "op", "active",
                            true, "op", "command", "ns", "admin.$cmd.aggregate", "command",
                            bson::object("currentOp", 1), "secs_running", std::int64_t{0},
                            "microsecs_running", std::int64_t{0}, "opid", 1));
    return all;
}

documents collection_stats_of(const node& on, std::string_view ns, bson::view spec)
{
    documents all;
    const collection* const in = std::as_const(on.data->data()).find(ns);
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("ns", ns).add("host", on.options.own_address).add("localTime", on.wall_now());
    if (in && spec.find("count"))
        out.add("count", static_cast<std::int64_t>(in->count()));
    if (in && spec.find("storageStats")) {
        auto sizes = out.document("storageStats");
        write_sizes(*in, 1, sizes);
    }
    all.push_back(adopted(out, bytes));
    return all;
}

documents index_stats_of(const node& on, std::string_view ns)
{
    documents all;
    const collection* const in = std::as_const(on.data->data()).find(ns);
    if (!in)
        return all;
    for (const index_spec& one : in->indexes()) {
        all.push_back(bson::doc("name", bson::unchecked_text{one.name}, "key", one.key, "host",
                                on.options.own_address, "accesses",
                                bson::object("ops", std::int64_t{0}, "since", on.wall_now()),
                                "spec", one.raw));
    }
    return all;
}

result<progress> run_coll_stats(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<coll_stats_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const auto& [given, ns] = *opened;
    auto scale = read_scale(given.number("scale", 1));
    if (!scale)
        return std::move(scale).error();
    if (auto fine = check_writable(on, ns); !fine)
        return std::move(fine).error();
    reply.add("ns", ns.text());
    if (const collection* const in = std::as_const(on.data->data()).find(ns)) {
        write_sizes(*in, *scale, reply);
    } else {
        reply.add("size", 0).add("count", 0).add("numOrphanDocs", 0).add("storageSize", 0);
        reply.add("totalSize", 0).add("nindexes", 0).add("totalIndexSize", 0);
        reply.add("indexDetails", bson::object()).add("indexSizes", bson::object());
    }
    reply.add("scaleFactor", static_cast<std::int32_t>(*scale));
    return progress::done;
}

result<progress> run_db_stats(node& on, request& what, bson::builder& reply)
{
    auto read = fields<db_stats_rules>::read(on, what);
    if (!read)
        return std::move(read).error();
    auto scale = read_scale(read->number("scale", 1));
    if (!scale)
        return std::move(scale).error();
    std::int64_t collections = 0;
    std::int64_t views = 0;
    std::int64_t objects = 0;
    std::int64_t bytes = 0;
    std::int64_t indexes = 0;
    for (const collection* const one : std::as_const(on.data->data()).collections(what.database)) {
        if (!one->options().view_on.empty()) {
            ++views;
            continue;
        }
        ++collections;
        objects += static_cast<std::int64_t>(one->count());
        bytes += one->data_size();
        indexes += std::ssize(one->indexes());
    }
    const auto scaled = [&](std::int64_t n) {
        return static_cast<double>(n) / static_cast<double>(*scale);
    };
    reply.add("db", what.database).add("collections", collections).add("views", views);
    reply.add("objects", objects);
    reply.add("avgObjSize",
              objects == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(objects));
    reply.add("dataSize", scaled(bytes)).add("storageSize", scaled(bytes));
    reply.add("indexes", indexes).add("indexSize", scaled(indexes * index_bytes));
    reply.add("totalSize", scaled(bytes + indexes * index_bytes));
    reply.add("scaleFactor", *scale).add("fsUsedSize", 0.0).add("fsTotalSize", 0.0);
    return progress::done;
}

result<progress> run_validate(node& on, request& what, bson::builder& reply)
{
    auto opened = open_namespace<validate_rules>(on, what);
    if (!opened)
        return std::move(opened).error();
    const namespace_text& ns = opened->ns;
    if (auto fine = check_writable(on, ns); !fine)
        return std::move(fine).error();
    const collection* const in = std::as_const(on.data->data()).find(ns);
    if (!in) {
        return refuse(server_code::namespace_not_found,
                      "Collection '" + std::string{ns.text()} + "' does not exist to validate.");
    }
    const auto indexes = in->indexes();
    reply.add("ns", ns.text()).add("nInvalidDocuments", 0).add("nNonCompliantDocuments", 0);
    reply.add("nrecords", static_cast<std::int32_t>(in->count()));
    reply.add("nIndexes", static_cast<std::int32_t>(indexes.size()));
    {
        auto keys = reply.document("keysPerIndex");
        for (const index_spec& one : indexes)
            keys.add(one.name, static_cast<std::int32_t>(in->count()));
    }
    reply.add("valid", true).add("repaired", false).add("warnings", bson::list());
    reply.add("errors", bson::list()).add("extraIndexEntries", bson::list());
    reply.add("missingIndexEntries", bson::list()).add("corruptRecords", bson::list());
    return progress::done;
}

result<progress> run_top(node& on, request& what, bson::builder& reply)
{
    if (auto read = fields<no_rules>::read(on, what); !read)
        return std::move(read).error();
    auto totals = reply.document("totals");
    totals.add("note", "all times in microseconds");
    return progress::done;
}

}  // namespace holdfast::lab::mongo
