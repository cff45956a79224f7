#pragma once
#include "core/couchbase/operation/kv_order.hpp"
#include "core/couchbase/retry/classification.hpp"
#include "core/couchbase/retry/dispatch.hpp"
#include "core/couchbase/route/collection_ids.hpp"
#include "core/couchbase/route/route.hpp"
#include "runtime/short_mutex.hpp"
#include "shell/couchbase/config/bucket_configs.hpp"
#include "shell/couchbase/dispatch/kv_link.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::shell::couchbase {

class kv_cluster;

/// A node that was asked something and sends nothing for so long may be hanging, and be replaced by
/// another one soon: the library asks its own questions elsewhere, and for the configuration more
/// often.
inline constexpr duration silence = std::chrono::milliseconds{250};
/// The first node to be asked has so long to reply. The next one has twice as long, and so on, so
/// that a slow network is waited for, and a node that hangs is not.
inline constexpr duration first_reply = std::chrono::milliseconds{500};
inline constexpr duration last_reply = std::chrono::seconds{10};

/// A collection by its names. `path` is "scope.collection".
struct keyspace {
    std::string bucket = {};
    std::string scope = {};
    std::string collection = {};
    std::string path = {};
    std::optional<error> problem = {};  // with the names

    // For the bucket alone, under its mutex: the collection's id as it was found by its path, which
    // costs more than all else of a route, and how new that is.
    mutable std::uint64_t id_version = 0;
    mutable std::uint32_t id = 0;
};

/// Where a request goes, or why it cannot go anywhere now.
struct kv_route {
    enum class kind : std::uint8_t {
        ready,
        opening,  // no configuration yet, or the node's first connection is under way: wait
        look_up,  // this request has to ask `connection` for the id of its collection
        waits_for_look_up,
        obstructed,
        no_copy,  // of the document that may be read: see kv_order::preference
    };
    kind is = kind::opening;
    std::uint16_t vbucket = 0;
    std::uint32_t collection = 0;
    std::optional<core::couchbase::obstacle> obstacle = {};
    std::shared_ptr<kv_link> link = {};
    std::shared_ptr<kv_connection> connection = {};
    /// Of an attempt on a thread that waits itself: then `connection` is this one.
    std::optional<exclusive_pool::lease> own = {};
};

/// How a look-up of a collection's id ended. None of them: it could not be asked for.
struct look_up_end {
    bool is_settled = false;  // the id, or that there is none, is known now
    std::optional<core::couchbase::classification> refused = {};
    bool is_late = false;  // the node has not answered; another one may
};

/// The nodes of one bucket and the connections to them, by its configuration; or, without a name,
/// the connection by which the cluster's own configuration is followed.
class kv_bucket : public std::enable_shared_from_this<kv_bucket> {
public:
    kv_bucket(kv_cluster& in, std::string name);

    /// The addresses to begin with.
    void open(const std::vector<endpoint>& seeds);
    /// More of them, as long as there is no configuration.
    void suggest(const std::vector<endpoint>& nodes);
    /// Other ones, since no node of the configuration has been reached for a while. `has_moved`:
    /// they are not those from before, so that there may be another cluster behind them.
    void reseed(const std::vector<endpoint>& seeds, bool has_moved);
    void close();

    /// Where a document operation goes; false if something has to be waited for. An output
    /// parameter, since moving a route costs as much as finding it.
    bool find_now(const core::couchbase::kv_order& order, const keyspace& in, time_point now,
                  kv_route& into);
    /// The same for a request that waits. `id` identifies it while it waits for a look-up.
    kv_route find(const core::couchbase::kv_order& order, const keyspace& in,
                  core::couchbase::waiter_id id, time_point now);
    /// Asks a node for the id of a collection, after kind::look_up.
    runtime::awaitable<look_up_end> look_up(std::shared_ptr<kv_connection> by, const keyspace& in,
                                            time_point until);
    void forget_waiter(const keyspace& in, core::couchbase::waiter_id id);
    /// A node did not know the collection by its id. `body` is that of the reply.
    void collection_outdated(const keyspace& in, std::uint32_t used, std::string_view body);

    /// A configuration from wherever. True if it is in use now.
    bool offer(std::string_view text, const endpoint& from);
    /// A node has refused a vbucket: the reply's body may be a configuration, and else one is asked
    /// for.
    void vbucket_refused(std::string_view body, const endpoint& by);
    void want_config() { poll_wanted_.notify(); }

    const std::string& name() const noexcept { return name_; }
    core::couchbase::cluster_config_ptr config() const { return configs_.current(); }
    /// Happens with every change of configuration, connection or known fact.
    runtime::event& changed() noexcept { return changed_; }
    std::vector<std::shared_ptr<kv_link>> links() const;
    /// What operations wait for, node by node, for people.
    std::string waiting_for(time_point now, const std::string& what = "a connection") const;

private:
    struct node_links {
        std::vector<std::shared_ptr<kv_link>> lanes = {};  // as many as kv_connections
    };
    /// The configuration in use and the links of its nodes, by their index.
    struct route_table {
        core::couchbase::cluster_config_ptr config = {};
        std::vector<node_links> nodes = {};
    };

    void announce();  // changed()
    link_hooks hooks();
    node_links add_links(const endpoint& server);
    std::vector<std::shared_ptr<kv_link>> replace_links(std::map<endpoint, node_links> wanted);
    void look_elsewhere();
    void keep_only(const endpoint& server);
    void link_opened(const endpoint& server, established& made);
    void link_failed(const endpoint& server, const establish_failure& why);
    void notified(const endpoint& server, const core::couchbase::frame& what);
    void apply(const core::couchbase::cluster_config_ptr& config);
    std::map<endpoint, node_links> wanted_links(route_table& routes);
    std::vector<late_requests> left_behind(const route_table& next) const;
    void find_node(const core::couchbase::kv_order& order, time_point now, kv_route& into);
    bool may_read(const core::couchbase::kv_order& order, std::uint16_t vbucket) const;
    const std::shared_ptr<kv_link>& choose_lane(const node_links& of);
    look_up_end take_collection_id(const core::couchbase::frame& answer, const keyspace& in,
                                   const kv_connection& from);
    bool is_pushed() const;
    bool misses_a_node(time_point now) const;
    std::shared_ptr<kv_connection> connection_to_ask(time_point now);
    static runtime::awaitable<void> poll(std::shared_ptr<kv_bucket> self);
    runtime::awaitable<bool> poll_once(duration reply_within);

    kv_cluster& cluster_;
    const std::string name_;
    const core::couchbase::tracker_id first_tracker_;
    bucket_configs configs_;
    runtime::event changed_;
    runtime::event poll_wanted_;

    mutable runtime::short_mutex mutex_;
    std::vector<endpoint> seeds_;
    std::optional<std::string> network_;  // once there was a configuration
    std::map<endpoint, node_links> links_;
    std::map<endpoint, core::couchbase::tracker_id> trackers_;
    route_table routes_;
    core::couchbase::collection_ids ids_;
    duration look_up_within_ = first_reply;
    std::atomic<std::uint32_t> turn_{0};
    bool starts_over_ = false;  // see reseed()
    bool open_ = false;
    bool closed_ = false;
};

}  // namespace holdfast::shell::couchbase
