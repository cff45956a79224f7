#pragma once
#include "core/sasl/crypto.hpp"
#include "lab/sasl/scram.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

struct stub_settings {
    std::string user = "Administrator";
    std::string password = "password";
    std::uint32_t collections = 1;  // c0, c1, ... of the default scope, besides the default one
    /// That it knows the password, too: a client must refuse a node that does not.
    bool proves = true;
    std::vector<std::uint16_t> ports = {};  // of all nodes
};

/// What all nodes and connections of the stub have in common: one bucket, "default", whose vbuckets
/// take turns among the nodes, and no replica. It keeps nothing.
class stub_cluster {
public:
    explicit stub_cluster(stub_settings from);

    const stub_settings& settings() const noexcept { return settings_; }
    /// 1024 vbuckets.
    const std::string& bucket_config() const noexcept { return bucket_config_; }
    const std::string& global_config() const noexcept { return global_config_; }
    const lab::scram_keys& keys(core::sasl::scram_hash which) const;
    /// By its path, "scope.collection"; nothing if it is unknown.
    std::optional<std::uint32_t> collection_id(std::string_view path) const;

private:
    stub_settings settings_;
    std::string bucket_config_;
    std::string global_config_;
    std::vector<lab::scram_keys> keys_;  // by scram_hash
};

}  // namespace holdfast::bench
