#pragma once
#include "core/retry/circuit_breaker.hpp"
#include "runtime/short_mutex.hpp"
#include "runtime/wait.hpp"
#include "shell/couchbase/connection/establish.hpp"
#include "shell/couchbase/dispatch/drain.hpp"
#include "shell/couchbase/dispatch/exclusive_pool.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::shell::couchbase {

/// What the owner of a link hears of it, with no lock held.
struct link_hooks {
    std::function<void(const endpoint& server, established& made)> opened = {};
    std::function<void(const endpoint& server, const establish_failure& why)> failed = {};
    std::function<void(const endpoint& server, const error& why)> lost = {};
    std::function<void(const endpoint& server, const core::couchbase::frame& what)> notified = {};
    std::function<std::optional<core::couchbase::config_version>()> known_config = {};
};

/// One connection to one node for one bucket, opened again whenever it is lost.
class kv_link : public std::enable_shared_from_this<kv_link> {
public:
    enum class stage : std::uint8_t {
        connecting,    // for the first time
        connected,
        reconnecting,  // has failed before
        retired,
    };
    struct snapshot {
        endpoint server = {};
        stage is = stage::connecting;
        time_point since{};
        std::optional<error> last_failure = {};
        time_point failed_at{};
        std::shared_ptr<kv_connection> connection = {};
    };

    kv_link(runtime::world& in, std::shared_ptr<const connection_config> config,
            std::uint64_t number, endpoint server, std::string bucket,
            std::optional<core::circuit_breaker_settings> breaker, link_hooks hooks);

    /// Keeps the connection open until retire(). For the background tasks of the owner.
    static runtime::awaitable<void> run(std::shared_ptr<kv_link> self);

    /// Opens no further connection. The present one is closed once its requests have ended, or at
    /// once.
    void retire(bool at_once);
    /// Tries again now, if it waits to.
    void retry_now() { wake_.notify(); }

    const endpoint& server() const noexcept { return server_; }
    /// Of all links of the cluster; the same for all its connections.
    std::uint64_t number() const noexcept { return number_; }

    /// Null unless connected.
    std::shared_ptr<kv_connection> current() const
    {
        const std::scoped_lock lock{mutex_};
        return connection_;
    }
    /// Connections for threads that wait themselves; null unless the client is a blocking one.
    exclusive_pool* exclusive() const noexcept { return exclusive_.get(); }
    stage where() const
    {
        const std::scoped_lock lock{mutex_};
        return stage_;
    }
    snapshot look() const;
    /// The requests for these vbuckets that it has sent, and that have no reply yet.
    std::vector<late_requests> waiting_for(const std::vector<bool>& vbuckets) const;

    // The circuit breaker, if there is one.
    bool allows(time_point now) const;
    void sent(time_point now);
    /// The outcome of a request that was sent then.
    void succeeded(time_point now, time_point sent_at);
    void failed(time_point now, time_point sent_at);

private:
    void opened(established& made);
    void failed_to_open(const establish_failure& why);
    void lost(const error& why);
    connect_target target();
    runtime::awaitable<void> keep(established made);
    runtime::awaitable<void> drain(const kv_connection& connection);

    runtime::world& world_;
    const std::shared_ptr<const connection_config> config_;
    const std::uint64_t number_;
    const endpoint server_;
    const std::string bucket_;
    const link_hooks hooks_;
    const std::shared_ptr<exclusive_pool> exclusive_;
    runtime::event wake_;
    std::atomic<bool> retired_{false};
    std::atomic<bool> at_once_{false};

    mutable runtime::short_mutex mutex_;
    std::shared_ptr<kv_connection> connection_;
    stage stage_ = stage::connecting;
    time_point since_{};
    std::optional<error> last_failure_;
    time_point failed_at_{};
    std::optional<core::circuit_breaker> breaker_;
};

}  // namespace holdfast::shell::couchbase
