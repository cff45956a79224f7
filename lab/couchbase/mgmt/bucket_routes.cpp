#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/mgmt/routes.hpp"
#include "lab/couchbase/views/view_definitions.hpp"

#include <boost/json/array.hpp>

#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

namespace json = boost::json;

constexpr std::uint64_t bytes_of_a_megabyte = 1024 * 1024;

std::optional<std::int64_t> read_number(const std::string& text)
{
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [last, why] = std::from_chars(text.data(), end, value);
    return why == std::errc{} && last == end && !text.empty() ? std::optional{value} : std::nullopt;
}

/// A setting, or what holds if it was never set.
std::string setting(const bucket_settings& in, std::string_view name, std::string_view usual)
{
    const auto found = in.find(name);
    return found == in.end() ? std::string{usual} : found->second;
}

json::object bucket_object(route_call& call, const std::string& name)
{
    const bucket_settings& set = *call.on.admin().settings(name);
    const bucket_layout& layout = *call.on.layout(name);
    const auto quota = static_cast<std::uint64_t>(
        read_number(setting(set, "ramQuotaMB", "100")).value_or(100));
    const std::string base = "/pools/default/buckets/" + name;
    json::object controllers;
    if (setting(set, "flushEnabled", "1") == "1")
        controllers["flush"] = json_text(base + "/controller/doFlush");
    json::array capabilities;
    for (const char* const one : {"collections", "durableWrite", "xattr", "cccp", "nodesExt"})
        capabilities.push_back(one);
    const auto text = [&](std::string_view field, std::string_view usual) {
        return json_text(setting(set, field, usual));
    };
    return json::object{{"name", json_text(name)},
                        {"uuid", json_text(layout.uuid)},
                        {"uri", json_text(base)},
                        {"streamingUri", json_text("/pools/default/bucketsStreaming/" + name)},
                        {"bucketType", text("bucketType", "membase")},
                        {"nodeLocator", "vbucket"},
                        {"numVBuckets", layout.map.rows.size()},
                        {"quota", json::object{{"rawRAM", quota * bytes_of_a_megabyte},
                                               {"ram", quota * bytes_of_a_megabyte}}},
                        {"replicaNumber", layout.replicas},
                        {"replicaIndex", setting(set, "replicaIndex", "0") == "1"},
                        {"maxTTL", read_number(setting(set, "maxTTL", "0")).value_or(0)},
                        {"compressionMode", text("compressionMode", "passive")},
                        {"evictionPolicy", text("evictionPolicy", "valueOnly")},
                        {"storageBackend", text("storageBackend", "couchstore")},
                        {"durabilityMinLevel", text("durabilityMinLevel", "none")},
                        {"conflictResolutionType", text("conflictResolutionType", "seqno")},
                        {"controllers", std::move(controllers)},
                        {"bucketCapabilities", std::move(capabilities)},
                        {"collectionsManifestUid", json_text(layout.manifest_uid)},
                        {"nodes", node_list(call)}};
}

/// What is wrong with the fields of a bucket; none if nothing is.
std::optional<http_reply> check_fields(const route_call& call)
{
    const std::string quota = call.field("ramQuotaMB");
    const std::string replicas = call.field("replicaNumber");
    if (!quota.empty() && read_number(quota).value_or(0) < 100)
        return wrong_field("ramQuota", "RAM quota cannot be less than 100 MiB");
    const auto count = read_number(replicas.empty() ? "0" : replicas).value_or(-1);
    if (count < 0 || count > static_cast<std::int64_t>(max_replicas))
        return wrong_field("replicaNumber", "Replica number must be from 0 to 3");
    if (call.field("bucketType") == "memcached")
        return wrong_field("bucketType", "memcached buckets are not supported");
    return std::nullopt;
}

void keep_settings(route_call& call, const std::string& name)
{
    for (const auto& [field, value] : call.form) {
        if (field != "name" && field != "replicaNumber")
            (*call.on.admin().settings(name))[field] = value;
    }
}

http_reply create_bucket_route(route_call& call)
{
    const std::string name = call.field("name");
    if (call.on.has_bucket(name))
        return wrong_field("name", "Bucket with given name already exists");
    if (auto wrong = check_fields(call))
        return *std::move(wrong);
    const std::string replicas = call.field("replicaNumber");
    const auto count = read_number(replicas.empty() ? "1" : replicas).value_or(0);
    if (auto made = call.on.create_bucket(name, static_cast<std::size_t>(count)); !made)
        return wrong_field("name", made.error().message());
    call.form.try_emplace("flushEnabled", "0");
    keep_settings(call, name);
    http_reply done;
    done.status = 202;
    return done;
}

http_reply list_buckets(route_call& call)
{
    json::array all;
    for (const std::string& name : call.on.buckets())
        all.push_back(bucket_object(call, name));
    return json_reply(all);
}

/// For routes about one bucket: whether there is it.
bool has_named_bucket(const route_call& call, http_reply& refused)
{
    if (call.on.has_bucket(call.names[0]))
        return true;
    refused = refuse(404, "Requested resource not found.");
    return false;
}

http_reply get_bucket(route_call& call)
{
    http_reply made;
    return has_named_bucket(call, made) ? json_reply(bucket_object(call, call.names[0])) : made;
}

http_reply update_bucket(route_call& call)
{
    http_reply made;
    if (!has_named_bucket(call, made))
        return made;
    if (auto wrong = check_fields(call))
        return *std::move(wrong);
    const std::string& name = call.names[0];
    const auto replicas = read_number(call.field("replicaNumber"));
    if (replicas && static_cast<std::size_t>(*replicas) != call.on.layout(name)->replicas) {
        if (auto set = call.on.admin().set_replicas(name, static_cast<std::size_t>(*replicas));
            !set)
            return wrong_field("replicaNumber", set.error().message());
    }
    keep_settings(call, name);
    return made;
}

http_reply drop_bucket_route(route_call& call)
{
    http_reply made;
    if (has_named_bucket(call, made))
        (void)call.on.drop_bucket(call.names[0]);
    return made;
}

http_reply flush_bucket_route(route_call& call)
{
    http_reply made;
    if (!has_named_bucket(call, made))
        return made;
    if (setting(*call.on.admin().settings(call.names[0]), "flushEnabled", "1") != "1")
        return refuse(400, "Flush is disabled for the bucket");
    (void)call.on.flush_bucket(call.names[0]);
    return made;
}

http_reply list_designs(route_call& call)
{
    http_reply made;
    if (!has_named_bucket(call, made))
        return made;
    json::array rows;
    const auto& all = call.on.admin().definitions<view_definitions>("capi").of(
        *call.on.layout(call.names[0]));
    for (const auto& [name, design] : all) {
        const std::string rev = std::to_string(design.revision) + "-lab";
        json::object meta{{"id", json_text("_design/" + name)}, {"rev", json_text(rev)}};
        json::object document{{"meta", std::move(meta)}, {"json", design.body}};
        rows.push_back(json::object{{"doc", std::move(document)}});
    }
    return json_reply(json::object{{"rows", std::move(rows)}});
}

constexpr route bucket_table[] = {
    {"GET", "/pools/default/buckets", access::login, list_buckets},
    {"POST", "/pools/default/buckets", access::administrator, create_bucket_route},
    {"GET", "/pools/default/buckets/*", access::login, get_bucket},
    {"POST", "/pools/default/buckets/*", access::administrator, update_bucket},
    {"DELETE", "/pools/default/buckets/*", access::administrator, drop_bucket_route},
    {"POST", "/pools/default/buckets/*/controller/doFlush", access::administrator,
     flush_bucket_route},
    {"GET", "/pools/default/buckets/*/ddocs", access::login, list_designs},
};

}  // namespace

std::span<const route> bucket_routes()
{
    return bucket_table;
}

}  // namespace holdfast::lab::couchbase
