#pragma once
#include "holdfast/error.hpp"
#include "lab/couchbase/cluster/directory.hpp"
#include "lab/couchbase/http/http_faults.hpp"
#include "lab/couchbase/map/configuration.hpp"
#include "lab/couchbase/map/manifest.hpp"
#include "lab/couchbase/map/service_names.hpp"
#include "runtime/awaitable.hpp"

#include <chrono>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

struct cluster_state;
using bucket_settings = std::map<std::string, std::string, std::less<>>;

/// What a service keeps for the whole cluster, such as the definitions of indexes: it outlives the
/// nodes.
struct service_definitions {
    virtual ~service_definitions() = default;
};

/// What services see and change of a cluster, besides class cluster.
class administration {
public:
    explicit administration(cluster_state& of) noexcept : all_{of} {}
    administration(const administration&) = delete;
    administration& operator=(const administration&) = delete;

    const directory& people() const noexcept;
    /// A new or changed user. Without a password the old one is kept.
    result<void> put_user(std::string_view name, std::optional<std::string> password,
                          user_record record);
    void set_group(std::string_view name, std::optional<group_record> group);  // none: dropped

    /// What the administrator of a bucket has set, as it was set; null if there is no such bucket.
    bucket_settings* settings(std::string_view bucket);
    const manifest* collections(std::string_view bucket) const;
    /// Copies that are missing then come with the next rebalance.
    result<void> set_replicas(std::string_view bucket, std::size_t replicas);
    manifest_change create_collection(std::string_view bucket, std::string_view scope,
                                      std::string_view name, collection_limits limits);
    manifest_change change_collection(std::string_view bucket, std::string_view scope,
                                      std::string_view name, collection_limits limits);

    /// The node learns of scopes and collections so much later than the others.
    void set_manifest_lag(std::size_t number, std::chrono::milliseconds lag);

    // Services, by the names that configurations have for them.
    const service_set& services(std::size_t number) const;
    /// As configurations show them.
    const service_ports& ports(std::size_t number) const;
    /// A node that gets key-value has data after a rebalance.
    result<void> add_service(std::size_t number, std::string_view name);
    /// Its ports are closed. Key-value leaves with its node only.
    result<void> remove_service(std::size_t number, std::string_view name);
    /// What clients are shown from now on.
    void set_capabilities(const std::string& service, std::vector<std::string> names);
    http_fault_plan& http_faults(std::size_t number);
    /// Made when they are first asked for; always the same type for a name.
    template <std::derived_from<service_definitions> Definitions>
    Definitions& definitions(const std::string& service)
    {
        std::unique_ptr<service_definitions>& kept = definitions_[service];
        if (!kept)
            kept = std::make_unique<Definitions>();
        return static_cast<Definitions&>(*kept);
    }
    /// Whether such a movement of data can begin now. What begins may still be broken off.
    result<void> may_rebalance(const std::vector<std::size_t>& out) const;
    result<void> may_hand_over(std::size_t number) const;
    /// Goes on by itself, and ends with the cluster.
    void start_task(runtime::awaitable<void> what);

private:
    cluster_state& all_;
    std::map<std::string, std::unique_ptr<service_definitions>> definitions_;
};

}  // namespace holdfast::lab::couchbase
