#pragma once
#include "core/couchbase/config/cluster_config.hpp"
#include "core/uri/host.hpp"

#include <string>
#include <string_view>

namespace holdfast::proof {

/// What a server may do in one way or another when it writes a configuration.
struct config_layout {
    enum class place : std::uint8_t { front, middle, back };

    place revision = place::front;
    bool epoch_first = false;
    bool spaces = false;
    bool short_rows = false;  // without the -1 at the end of a row
    std::string_view host_placeholder = {};  // nodes of this host are written as $HOST, or without
};

/// Writes the configuration that is to be parsed to a given value.
class config_writer {
public:
    config_writer(const core::couchbase::cluster_config& config, const config_layout& layout)
        : config_{config}, layout_{layout}
    {
    }

    std::string text()
    {
        using place = config_layout::place;
        out_ = "{";
        if (layout_.revision == place::front)
            revision();
        if (config_.bucket)
            bucket_names();
        if (layout_.revision == place::middle)
            revision();
        nodes();
        nodes_ext();
        if (config_.bucket)
            map();
        cluster_capabilities();
        if (layout_.revision == place::back)
            revision();
        trim();
        return std::move(out_) + '}';
    }

private:
    using cluster_node = core::couchbase::cluster_node;
    using service_ports = core::couchbase::service_ports;

    void trim()
    {
        while (out_.find_last_of(", \n") == out_.size() - 1)
            out_.pop_back();
    }
    void comma() { out_ += layout_.spaces ? " ,\n  " : ","; }
    void close(char bracket)
    {
        trim();
        out_ += bracket;
    }
    void string(std::string_view text) { out_ += '"' + std::string{text} + '"'; }
    void key(std::string_view name)
    {
        string(name);
        out_ += layout_.spaces ? " : " : ":";
    }
    void member(std::string_view name, std::string_view text)
    {
        key(name);
        string(text);
        comma();
    }
    void member(std::string_view name, std::int64_t number)
    {
        key(name);
        out_ += std::to_string(number);
        comma();
    }

    void revision()
    {
        if (layout_.epoch_first && config_.revision.epoch)
            member("revEpoch", *config_.revision.epoch);
        member("rev", config_.revision.rev);
        if (!layout_.epoch_first && config_.revision.epoch)
            member("revEpoch", *config_.revision.epoch);
    }

    void names(std::span<const std::string> list, std::size_t prefix = 0)
    {
        out_ += '[';
        for (const std::string& name : list) {
            string(name.substr(prefix));
            comma();
        }
        close(']');
    }

    void bucket_names()
    {
        member("name", config_.bucket->name);
        member("uuid", config_.bucket->uuid);
        member("nodeLocator", "vbucket");
        key("bucketCapabilities");
        names(config_.bucket->capabilities);
        comma();
        if (config_.bucket->manifest_uid) {
            std::string hex;
            for (auto left = *config_.bucket->manifest_uid; left || hex.empty(); left /= 16)
                hex.insert(hex.begin(), "0123456789abcdef"[left % 16]);
            member("collectionsManifestUid", hex);
        }
    }

    std::string address(const std::string& host, std::uint16_t port) const
    {
        if (host == layout_.host_placeholder)
            return "$HOST:" + std::to_string(port);
        return core::uri::join_host(host, port);
    }

    /// The list for old clients: only nodes with the bucket.
    void nodes()
    {
        if (!config_.bucket)
            return;
        key("nodes");
        out_ += '[';
        for (const cluster_node& node : config_.nodes) {
            if (!node.has_bucket)
                continue;
            out_ += "{\"hostname\":";
            string(address(node.host, 8091));
            out_ += ",\"ports\":{\"direct\":11210}}";
            comma();
        }
        close(']');
        comma();
    }

    void ports(const service_ports& of)
    {
        constexpr std::string_view names[] = {"kv", "n1ql", "cbas", "fts", "capi", "mgmt"};
        out_ += '{';
        for (std::size_t i = 0; i < core::couchbase::service_count; ++i) {
            if (of.plain[i] != 0)
                member(names[i], of.plain[i]);
            if (of.tls[i] != 0)
                member(std::string{names[i]} + "SSL", of.tls[i]);
        }
        member("projector", 9999);
        close('}');
    }

    void node(const cluster_node& of)
    {
        out_ += '{';
        key("services");
        ports(of.ports);
        comma();
        if (of.is_this_node) {
            key("thisNode");
            out_ += "true";
            comma();
        }
        if (of.host != layout_.host_placeholder)
            member("hostname", of.host);
        if (!of.server_group.empty())
            member("serverGroup", of.server_group);
        if (!of.uuid.empty())
            member("nodeUUID", of.uuid);
        if (!of.alternates.empty()) {
            key("alternateAddresses");
            out_ += '{';
            for (const auto& other : of.alternates) {
                key(other.network);
                out_ += '{';
                member("hostname", other.host);
                if (other.ports) {
                    key("ports");
                    ports(*other.ports);
                }
                close('}');
                comma();
            }
            close('}');
        }
        close('}');
    }

    void nodes_ext()
    {
        key("nodesExt");
        out_ += '[';
        for (const cluster_node& one : config_.nodes) {
            node(one);
            comma();
        }
        close(']');
        comma();
    }

    void rows(const std::vector<std::int16_t>& flat)
    {
        const std::size_t copies = config_.bucket->map.copies();
        out_ += '[';
        for (std::size_t at = 0; at < flat.size(); at += copies) {
            std::size_t end = at + copies;
            while (layout_.short_rows && end > at && flat[end - 1] == core::couchbase::no_node)
                --end;
            out_ += '[';
            for (std::size_t i = at; i < end; ++i) {
                out_ += std::to_string(flat[i]);
                comma();
            }
            close(']');
            comma();
        }
        close(']');
        comma();
    }

    void map()
    {
        const core::couchbase::vbucket_map& of = config_.bucket->map;
        key("vBucketServerMap");
        out_ += '{';
        member("hashAlgorithm", "CRC");
        member("numReplicas", of.replicas);
        key("serverList");
        out_ += '[';
        for (const cluster_node& one : config_.nodes) {
            if (!one.has_bucket)
                continue;
            string(address(one.host, one.ports.plain[0]));
            comma();
        }
        close(']');
        comma();
        key("vBucketMap");
        rows(of.nodes);
        if (!of.forward.empty()) {
            key("vBucketMapForward");
            rows(of.forward);
        }
        close('}');
        comma();
    }

    void cluster_capabilities()
    {
        constexpr std::size_t prefix = std::string_view{"n1ql."}.size();
        key("clusterCapabilities");
        out_ += '{';
        key("n1ql");
        names(config_.capabilities, prefix);
        out_ += '}';
        comma();
    }

    const core::couchbase::cluster_config& config_;
    const config_layout& layout_;
    std::string out_;
};

inline std::string config_text(const core::couchbase::cluster_config& config,
                               const config_layout& layout = {})
{
    return config_writer{config, layout}.text();
}

/// A bucket of 64 vbuckets on some nodes named node-0.example and so on, each copy on the next one.
inline core::couchbase::cluster_config sample_config(std::size_t node_count = 3,
                                                     std::uint32_t replicas = 1,
                                                     std::uint32_t vbuckets = 64)
{
    core::couchbase::cluster_config made{.revision = {.epoch = 1, .rev = 10}};
    for (std::size_t i = 0; i < node_count; ++i) {
        core::couchbase::cluster_node node{.host = "node-" + std::to_string(i) + ".example"};
        node.ports.plain = {11210, 8093, 0, 0, 8092, 8091};
        node.ports.tls = {11207, 18093, 0, 0, 18092, 18091};
        node.server_group = i % 2 == 0 ? "east" : "west";
        node.uuid = "uuid-" + std::to_string(i);
        node.has_bucket = true;
        made.nodes.push_back(std::move(node));
    }
    made.nodes.front().is_this_node = true;
    made.capabilities = {"n1ql.enhancedPreparedStatements"};
    core::couchbase::bucket_config bucket{.name = "travel", .uuid = "b-1"};
    bucket.capabilities = {"collections", "durableWrite"};
    bucket.manifest_uid = 0x1f;
    bucket.map = {.size = vbuckets, .replicas = replicas};
    for (std::size_t vb = 0; vb < vbuckets; ++vb)
        for (std::size_t copy = 0; copy <= replicas; ++copy)
            bucket.map.nodes.push_back(copy < node_count
                                           ? static_cast<std::int16_t>((vb + copy) % node_count)
                                           : core::couchbase::no_node);
    made.bucket = std::move(bucket);
    return made;
}

}  // namespace holdfast::proof
