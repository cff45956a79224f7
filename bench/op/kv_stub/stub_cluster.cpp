#include "stub_cluster.hpp"

#include "lab/couchbase/map/configuration.hpp"
#include "lab/couchbase/map/vbucket_map.hpp"

#include <charconv>
#include <utility>

namespace holdfast::bench {

namespace {

using core::sasl::scram_hash;

constexpr std::int32_t iterations = 4096;
constexpr std::uint32_t first_collection = 8;  // smaller numbers are reserved

lab::scram_keys keys_of(scram_hash which, std::string_view password)
{
    const std::string_view salt = "sixteen octets..";
    return lab::derive_scram_keys(which, password, {salt.begin(), salt.end()}, iterations).value();
}

lab::couchbase::cluster_members members_of(const std::vector<std::uint16_t>& ports)
{
    lab::couchbase::cluster_members all;
    all.revision = {1, 7};
    for (std::size_t n = 0; n != ports.size(); ++n) {
        lab::couchbase::node_entry one;
        one.id = static_cast<int>(n);
        one.hostname = "127.0.0.1";
        one.services = {{"kv", ports[n]}};
        all.nodes.push_back(std::move(one));
    }
    return all;
}

}  // namespace

stub_cluster::stub_cluster(stub_settings from) : settings_{std::move(from)}
{
    for (const auto which : {scram_hash::sha_1, scram_hash::sha_256, scram_hash::sha_512})
        keys_.push_back(keys_of(which, settings_.password));
    const auto members = members_of(settings_.ports);
    lab::couchbase::bucket_layout bucket;
    bucket.name = "default";
    bucket.uuid = "d94a0ae2a4d9b1b8f3f5a7b8c9d0e1f2";
    bucket.manifest_uid = "7";
    for (std::size_t v = 0; v != lab::couchbase::vbuckets_of_a_bucket; ++v)
        bucket.map.rows.push_back({static_cast<int>(v % settings_.ports.size())});
    bucket_config_ = lab::couchbase::configuration_text(members, bucket, {});
    global_config_ = lab::couchbase::configuration_text(members, {});
}

const lab::scram_keys& stub_cluster::keys(scram_hash which) const
{
    return keys_.at(static_cast<std::size_t>(which));
}

std::optional<std::uint32_t> stub_cluster::collection_id(std::string_view path) const
{
    if (path == "_default._default")
        return 0;
    constexpr std::string_view prefix = "_default.c";
    if (!path.starts_with(prefix))
        return std::nullopt;
    path.remove_prefix(prefix.size());
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(path.data(), path.data() + path.size(), number);
    if (failed != std::errc{} || end != path.data() + path.size() ||
        number >= settings_.collections)
        return std::nullopt;
    return first_collection + number;
}

}  // namespace holdfast::bench
