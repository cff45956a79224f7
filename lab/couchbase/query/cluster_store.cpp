#include "lab/couchbase/query/cluster_store.hpp"

#include "lab/couchbase/data/operations.hpp"
#include "lab/couchbase/n1ql/query_error.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using n1ql::dml_reason;
using n1ql::keyspace;
using n1ql::query_code;

/// Common flags of JSON, as SDKs store it.
constexpr std::uint32_t json_flags = 0x02000006;

n1ql::item item_of(const std::string& key, const document& from, wall_time now)
{
    const std::uint64_t cas = from.locked(now) ? locked_cas : from.cas;
    n1ql::item made{{key, cas, from.expiry, from.flags, from.json}, {}};
    n1ql::value content;
    if (from.json)
        content = n1ql::read_json(from.value);
    if (content) {
        made.content = *std::move(content);
    } else {
        made.metadata.json = false;
        made.content = n1ql::text("<binary (" + std::to_string(from.value.size()) + " b)>");
    }
    return made;
}

/// What a data node has refused.
error change_refused(kv_status why, const std::string& operation, const std::string& key)
{
    const std::string what = "Failed to perform " + operation + " on key " + key + " - cause: ";
    switch (why) {
    case kv_status::exists:
        return operation == "INSERT"
                   ? n1ql::refuse_change(dml_reason::document_exists,
                                         what + "Duplicate Key: " + key)
                   : n1ql::refuse_change(dml_reason::cas_mismatch, what + "CAS mismatch");
    case kv_status::not_found:
        return n1ql::refuse_change(dml_reason::document_not_found, what + "key not found");
    case kv_status::locked:
        return n1ql::refuse_change(dml_reason::document_locked, what + "document is locked");
    default: return n1ql::refuse_change(dml_reason::none, what + "refused by the data node");
    }
}

}  // namespace

result<keyspace> cluster_store::meant_by(const n1ql::keyspace_name& name) const
{
    if (!name.space.empty() && name.space != "default")
        return n1ql::refuse(query_code::namespace_not_found,
                            "Namespace not found in CB datastore: " + name.space);
    std::vector<std::string> parts = name.parts;
    if (name.space.empty() && by_.context && parts.size() + by_.context->parts.size() == 3)
        parts.insert(parts.begin(), by_.context->parts.begin(), by_.context->parts.end());
    if (parts.size() == 1)
        return keyspace{parts[0]};
    if (parts.size() == 3)
        return keyspace{parts[0], parts[1], parts[2]};
    std::string path = "default";
    for (const std::string& one : parts)
        path += (path == "default" ? ":" : ".") + one;
    return n1ql::refuse(query_code::keyspace_not_found,
                        "Keyspace not found in CB datastore: " + path);
}

result<keyspace> cluster_store::checked(keyspace found, n1ql::purpose what) const
{
    const manifest* const collections = by_.on.admin().collections(found.bucket);
    if (!collections)
        return n1ql::refuse(query_code::keyspace_not_found,
                            "Keyspace not found in CB datastore: " + found.path() +
                                " - cause: No bucket named " + found.bucket);
    if (!may_open(found.bucket)) {
        const bool reads = what == n1ql::purpose::read;
        return n1ql::refuse(query_code::no_credentials,
                            "User does not have credentials to run " +
                                std::string{reads ? "SELECT" : "data changing"} + " queries on " +
                                found.path() + ". Add role " +
                                (reads ? "query_select" : "query_update") + " on " + found.path() +
                                " to allow the statement to run.");
    }
    if (collections->scope_id(found.scope).code != kv_status::success)
        return n1ql::refuse(query_code::scope_not_found,
                            "Scope not found in CB datastore default:" + found.bucket + "." +
                                found.scope);
    if (!exists(found))
        return n1ql::refuse(query_code::keyspace_not_found,
                            "Keyspace not found in CB datastore: " + found.path());
    return found;
}

bool cluster_store::exists(const keyspace& which) const
{
    const manifest* const collections = by_.on.admin().collections(which.bucket);
    return collections && collections->collection_id(which.scope + "." + which.collection).code ==
                              kv_status::success;
}

bool cluster_store::may_open(const std::string& bucket) const
{
    const auto& users = by_.on.at(by_.number).users;
    const auto account = users.find(by_.user);
    return account != users.end() && account->second.may_open(bucket);
}

result<keyspace> cluster_store::find(const n1ql::keyspace_name& name, n1ql::purpose what)
{
    auto found = meant_by(name);
    if (!found)
        return std::move(found).error();
    return checked(*std::move(found), what);
}

std::uint32_t cluster_store::collection_id(const keyspace& of) const
{
    const manifest* const collections = by_.on.admin().collections(of.bucket);
    return collections ? collections->collection_id(of.scope + "." + of.collection).id : 0;
}

n1ql::index_catalog& cluster_store::indexes() const
{
    n1ql::index_catalog& all = query_definitions_of(by_.on).indexes;
    all.keep([this](const keyspace& one) { return exists(one); });
    return all;
}

result<std::vector<std::string>> cluster_store::keys(const keyspace& in)
{
    if (query_definitions_of(by_.on).needs_index && !indexes().has_built(in))
        return n1ql::refuse(query_code::no_index,
                            "No index available on keyspace " + in.path() +
                                " that matches your query. Use CREATE PRIMARY INDEX ON " +
                                in.path() +
                                " to create a primary index, or check that your "
                                "expected index is online.");
    std::vector<std::string> all;
    if (const index_copy* const copy = by_.index.of(in.bucket))
        copy->each(collection_id(in), by_.world.wall_now(),
                   [&](const std::string& id, const document&) { all.push_back(id); });
    std::ranges::sort(all);
    return all;
}

result<cluster_store::place> cluster_store::locate(const keyspace& in, const std::string& key) const
{
    const auto unreachable = [](const std::string& reason) {
        return n1ql::refuse(query_code::bulk_get,
                            "Error performing bulk get operation - cause: " + reason);
    };
    const bucket_layout* const layout = by_.on.layout(in.bucket);
    if (!layout)
        return unreachable("No bucket named " + in.bucket);
    place made;
    const std::uint16_t id = vbucket_of_key(key, layout->map.rows.size());
    const int active = layout->map.active(id);
    if (active == no_node)
        return unreachable("vbucket " + std::to_string(id) + " is on no node");
    const auto number = static_cast<std::size_t>(active);
    made.on = &by_.on.at(number);
    const bool answers = by_.on.is_running(number) && !made.on->frozen &&
                         made.on->warm_at <= made.on->world.steady_now();
    made.in = answers ? made.on->find_bucket(in.bucket) : nullptr;
    made.at = made.in ? made.in->find_active(id) : nullptr;
    if (!made.at)
        return unreachable("node " + by_.on.address(number) + " does not answer");
    made.key = {collection_id(in), key};
    return made;
}

result<std::optional<n1ql::item>> cluster_store::get(const keyspace& in, const std::string& key)
{
    std::optional<n1ql::item> found;
    auto where = locate(in, key);
    if (!where)
        return std::move(where).error();
    const prepared_write* const waits = where->at->find_prepared(where->key);
    if (waits && waits->taken_over)
        return n1ql::refuse(query_code::bulk_get,
                            "Error performing bulk get operation - cause: a "
                            "durable write is being committed again");
    const wall_time now = by_.world.wall_now();
    if (const document* const at = find_live(*where->at, where->key, now))
        found = item_of(key, *at, now);
    return found;
}

result<cluster_store::place> cluster_store::locate_for_change(const keyspace& in,
                                                              const std::string& key,
                                                              std::string_view operation) const
{
    auto where = locate(in, key);
    if (!where)
        return n1ql::refuse_change(dml_reason::none, "Failed to perform " + std::string{operation} +
                                                         " on key " + key +
                                                         " - cause: " + where.error().message());
    if (where->at->find_prepared(where->key))
        return n1ql::refuse_change(dml_reason::none, "Failed to perform " + std::string{operation} +
                                                         " on key " + key +
                                                         " - cause: a durable write is in "
                                                         "progress");
    return where;
}

result<n1ql::item_metadata> cluster_store::store(const keyspace& in,
                                                 n1ql::change_kind kind_of_change,
                                                 const std::string& key, const n1ql::new_item& what)
{
    using n1ql::change_kind;
    const std::string operation = kind_of_change == change_kind::insert   ? "INSERT"
                                  : kind_of_change == change_kind::upsert ? "UPSERT"
                                                                          : "UPDATE";
    auto where = locate_for_change(in, key, operation);
    if (!where)
        return std::move(where).error();
    const wall_time now = by_.world.wall_now();
    new_content content;
    content.value = what.content;
    content.flags = json_flags;
    content.expiry = what.expiry != 0 ? what.expiry
                                      : usual_expiry(*where->in, where->key.collection, now);
    content.cas = what.cas;
    content.preserve_expiry = what.preserve_expiry;
    const store_mode mode = kind_of_change == change_kind::insert    ? store_mode::add
                            : kind_of_change == change_kind::replace ? store_mode::replace
                                                                     : store_mode::set;
    const auto done = lab::couchbase::store(*where->at, mode, where->key, std::move(content), now);
    if (done.code != kv_status::success)
        return change_refused(done.code, operation, key);
    where->on->changed(in.bucket, where->at->id());
    const document* const stored = where->at->find(where->key);
    return n1ql::item_metadata{key, done.cas, stored ? stored->expiry : 0, json_flags, true};
}

result<void> cluster_store::remove(const keyspace& in, const std::string& key, std::uint64_t cas)
{
    auto where = locate_for_change(in, key, "DELETE");
    if (!where)
        return std::move(where).error();
    const auto done = lab::couchbase::remove(*where->at, where->key, cas, by_.world.wall_now());
    if (done.code != kv_status::success)
        return change_refused(done.code, "DELETE", key);
    where->on->changed(in.bucket, where->at->id());
    return {};
}

std::vector<keyspace> cluster_store::all_keyspaces() const
{
    std::vector<keyspace> all;
    for (const std::string& bucket : by_.on.buckets()) {
        const manifest* const collections = by_.on.admin().collections(bucket);
        if (!collections || !may_open(bucket))
            continue;
        for (const scope_entry& scope : collections->scopes()) {
            for (const collection_entry& one : scope.collections)
                all.push_back({bucket, scope.name, one.name});
        }
    }
    return all;
}

bool cluster_store::is_catalog(const n1ql::keyspace_name& name) const
{
    return name.space == "system" && name.parts.size() == 1;
}

result<n1ql::json::array> cluster_store::catalog_rows(const n1ql::keyspace_name& name)
{
    const std::string& which = name.parts.front();
    const std::string here = by_.on.address(by_.number, "mgmt");
    n1ql::json::array rows;
    if (which == "indexes" || which == "all_indexes") {
        for (const n1ql::index_record& one : indexes().all()) {
            if (may_open(one.on.bucket))
                rows.push_back(n1ql::index_row(one, here));
        }
    } else if (which == "keyspaces" || which == "all_keyspaces") {
        for (const keyspace& one : all_keyspaces())
            rows.push_back(n1ql::keyspace_row(one, here));
    } else if (which == "prepareds") {
        for (const auto& [plan, of] : query_definitions_of(by_.on).plans[by_.number])
            rows.push_back(n1ql::json::object{{"name", n1ql::text(plan)},
                                              {"node", n1ql::text(here)},
                                              {"statement", n1ql::text(of.of->text)}});
    } else if (which == "dual") {
        rows.emplace_back(n1ql::json::object{});
    } else {
        return n1ql::refuse(query_code::keyspace_not_found, "Keyspace not found system:" + which);
    }
    return rows;
}

result<void> cluster_store::create_index(const n1ql::create_index_statement& what)
{
    const auto on = find(what.on, n1ql::purpose::change);
    return on ? indexes().create(*on, what) : error{on.error()};
}

result<void> cluster_store::drop_index(const n1ql::drop_index_statement& what)
{
    const auto on = find(what.on, n1ql::purpose::change);
    return on ? indexes().drop(*on, what) : error{on.error()};
}

result<void> cluster_store::build_indexes(const n1ql::keyspace_name& on,
                                          const std::vector<std::string>& names)
{
    const auto found = find(on, n1ql::purpose::change);
    return found ? indexes().build(*found, names) : error{found.error()};
}

result<void> cluster_store::change_datasets(const n1ql::dataset_statement&)
{
    return n1ql::refuse(query_code::syntax, "syntax error - datasets are of the analytics service");
}

}  // namespace holdfast::lab::couchbase
