#include "core/couchbase/config/cluster_config.hpp"
#include "core/couchbase/config/read_json.hpp"
#include "core/couchbase/retry/json_text.hpp"
#include "core/uri/host.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <charconv>

namespace holdfast::core::couchbase {

namespace json = boost::json;

namespace {

result<config_revision> read_revision(const json::value& config, std::string_view text)
{
    const std::int64_t* const rev = find_integer(config, "rev");
    if (!rev || *rev < 0)
        return bad_config("rev", "it must be a number from 0 on");
    config_revision made{.rev = *rev};
    if (config.get_object().contains("revEpoch")) {
        const std::int64_t* const epoch = find_integer(config, "revEpoch");
        if (!epoch || *epoch < 0)
            return bad_config("revEpoch", "it must be a number from 0 on");
        made.epoch = *epoch;
    }
    const auto seen = peek_revision(text);
    if (seen && *seen != made)
        return bad_config("rev", "the text has more than one revision");
    return made;
}

result<std::vector<std::string>> read_cluster_capabilities(const json::value& config)
{
    std::vector<std::string> names;
    if (const json::object* const services = find_object(config, "clusterCapabilities"))
        for (const auto& [service, list] : *services) {
            const std::string name{service.substr(0, max_name_bytes)};
            if (auto read = read_names(&list, name + '.', "clusterCapabilities." + name, names);
                !read)
                return std::move(read).error();
        }
    std::ranges::sort(names);
    return names;
}

result<std::optional<std::uint64_t>> read_manifest_uid(const json::value& config)
{
    const json::string* const text = find_string(config, "collectionsManifestUid");
    if (!text)
        return std::optional<std::uint64_t>{};
    const auto uid = parse_manifest_uid(*text);
    if (!uid)
        return bad_config("collectionsManifestUid", "it must be a hexadecimal number");
    return uid;
}

result<void> check_locator(const json::value& config)
{
    const json::string* const locator = find_string(config, "nodeLocator");
    if (!locator || *locator == "vbucket")
        return {};
    return error{holdfast::couchbase::errc::feature_not_available,
                 *locator == "ketama" ? "memcached buckets are not supported"
                                      : "cluster configuration: nodeLocator: only vbucket is "
                                        "supported"}
        .with_context("path", "nodeLocator");
}

result<bucket_config> read_bucket(const json::value& config, std::string_view origin,
                                  const std::vector<cluster_node>& nodes)
{
    if (auto checked = check_locator(config); !checked)
        return std::move(checked).error();
    auto name = read_name(config, "name", "");
    auto uuid = read_name(config, "uuid", "");
    if (!name || !uuid)
        return !name ? std::move(name).error() : std::move(uuid).error();
    if (name->empty())
        return bad_config("name", "a configuration with a vBucketServerMap has the bucket's name");
    bucket_config bucket{.name = *std::move(name), .uuid = *std::move(uuid)};
    if (auto read = read_names(config.get_object().if_contains("bucketCapabilities"), "",
                               "bucketCapabilities", bucket.capabilities);
        !read)
        return std::move(read).error();
    std::ranges::sort(bucket.capabilities);
    auto uid = read_manifest_uid(config);
    if (!uid)
        return std::move(uid).error();
    bucket.manifest_uid = *uid;
    auto map = read_vbucket_map(config, origin, nodes);
    if (!map)
        return std::move(map).error();
    bucket.map = *std::move(map);
    return bucket;
}

result<cluster_config> read_config(const json::value& config, std::string_view text,
                                   std::string_view origin)
{
    if (!config.is_object())
        return bad_config("", "it is no object");
    auto revision = read_revision(config, text);
    if (!revision)
        return std::move(revision).error();
    auto nodes = read_nodes(config, origin);
    if (!nodes)
        return std::move(nodes).error();
    auto capabilities = read_cluster_capabilities(config);
    if (!capabilities)
        return std::move(capabilities).error();
    cluster_config made{.revision = *revision,
                        .nodes = *std::move(nodes),
                        .capabilities = *std::move(capabilities)};
    // The global configuration names neither a bucket nor a map.
    const json::object& members = config.get_object();
    if (!members.contains("name") && !members.contains("vBucketServerMap"))
        return made;
    auto bucket = read_bucket(config, origin, made.nodes);
    if (!bucket)
        return std::move(bucket).error();
    made.bucket = *std::move(bucket);
    return made;
}

}  // namespace

result<cluster_config> parse_config(std::string_view text, std::string_view host)
{
    // A tree of a thousand small arrays that is thrown away as a whole.
    json::monotonic_resource memory;
    const auto parsed = parse_json(text, {.max_bytes = max_config_bytes, .memory = &memory});
    if (!parsed)
        return parsed.error();
    return read_config(*parsed, text, host);
}

std::optional<std::uint64_t> parse_manifest_uid(std::string_view hex) noexcept
{
    std::uint64_t number = 0;
    const char* const end = hex.data() + hex.size();
    const auto [stopped, failed] = std::from_chars(hex.data(), end, number, 16);
    if (failed != std::errc{} || stopped != end)
        return std::nullopt;
    return number;
}

bool has_capability(std::span<const std::string> capabilities, std::string_view name) noexcept
{
    return std::ranges::binary_search(capabilities, name, std::less<>{});
}

}  // namespace holdfast::core::couchbase
