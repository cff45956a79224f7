#pragma once
#include "core/mongo/sdam/application_error.hpp"
#include "core/pool/pool.hpp"
#include "runtime/background.hpp"
#include "runtime/world.hpp"
#include "shell/mongo/connection/connection.hpp"
#include "shell/mongo/connection/connection_config.hpp"
#include "shell/mongo/events/event_hub.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::shell::mongo {

class server_pool;

/// A connection in use. Goes back to its pool when this goes.
class lease {
public:
    lease(std::shared_ptr<server_pool> from, connection_ptr what) noexcept
        : pool_{std::move(from)}, connection_{std::move(what)}
    {
    }
    lease(lease&&) noexcept = default;
    lease& operator=(lease&& other) noexcept
    {
        give_back();
        pool_ = std::move(other.pool_);
        connection_ = std::move(other.connection_);
        return *this;
    }
    ~lease() { give_back(); }

    /// Earlier than by itself, and by a clock that somebody has just looked at.
    void give_back(time_point now) noexcept;

    connection& operator*() const noexcept { return *connection_; }
    connection* operator->() const noexcept { return connection_.get(); }

private:
    void give_back() noexcept;

    std::shared_ptr<server_pool> pool_;
    connection_ptr connection_;
};

struct pool_options {
    endpoint server;
    core::pool_settings limits = {};
    events::pool_limits reported = {};  // the same, for listeners
    std::shared_ptr<const connection_config> config;

    /// For blocking clients: what turns the stream of a new connection, opened in this pool's
    /// world, into one on which the thread of an operation can wait. Such a connection is never
    /// drained, since nobody has a thread for that: it is closed.
    std::function<runtime::stream_ptr(runtime::stream_ptr)> make_blocking = {};
};

/// What keeps a connection beyond one operation behind a load balancer.
enum class pinned_by : std::uint8_t { cursor, transaction };

/// For pool_settings::pin_reasons, in the order of pinned_by.
inline constexpr std::string_view pin_reasons[] = {"cursors", "transactions"};

struct pool_counts {
    std::size_t total = 0;
    std::size_t idle = 0;
    std::size_t opening = 0;
    std::size_t waiting = 0;
    std::uint32_t generation = 0;
};

/// Carries out what core::connection_pool says, for one server. Thread-safe; its mutex is held
/// briefly, never over a wait or a listener. Those who change its state on behalf of the topology
/// hold the topology's mutex, so these functions tell nobody: the topology does, afterwards.
class server_pool : public std::enable_shared_from_this<server_pool> {
public:
    /// Told of each connection that was opened, with what the server said to the hello, and of each
    /// that could not be; before whoever waited for it goes on, and with no lock held. Must not
    /// throw.
    struct opening_handlers {
        std::function<void(const endpoint&, bson::view hello)> handshake_done;
        std::function<void(core::mongo::application_error)> failed;
    };

    static std::shared_ptr<server_pool> make(runtime::world& in, pool_options options,
                                             std::shared_ptr<event_hub> events,
                                             opening_handlers heard);

    const endpoint& server() const noexcept { return options_.server; }

    /// The fast way, without a coroutine: an idle connection if there is one.
    std::optional<lease> try_check_out(time_point now);

    /// Waits in line for one. The error is the pool's own (core::pool_errc), or why a connection
    /// could not be opened, or runtime::errc::cancelled.
    runtime::awaitable<result<lease>> check_out(time_point until);

    /// A connection in use stays with a cursor or a transaction, or does so no longer.
    void pin(pinned_by what);
    void unpin(pinned_by what);

    /// Logs a connection in that is in use, because its login has expired.
    runtime::awaitable<result<void>> log_in_again(connection& which) const;

    // For the topology, under its mutex.
    void mark_ready();
    void clear(const error& why, std::optional<bson::object_id> service, bool interrupt_in_use);
    /// Connections in use are closed when they come back; `interrupt` ends what they are used for.
    void close(bool interrupt);

    std::uint32_t generation() const;
    std::uint32_t generation(const std::optional<bson::object_id>& service) const;
    pool_counts counts() const;

    /// After close(): waits until nothing of it runs any more.
    runtime::awaitable<void> ended();

private:
    friend class lease;
    struct waiter;
    struct entry;
    struct pending_work;
    friend struct pending_work;

    server_pool(runtime::world& in, pool_options options, std::shared_ptr<event_hub> events,
                opening_handlers heard);

    void give_back(connection_ptr what, time_point now) noexcept;
    bool would_keep(connection_id id) const;
    void check_in(connection_ptr what, bool broken, time_point now);
    pending_work settle();
    void queue_events();
    void queue_events(const std::vector<core::pool_event>& events);
    connection_ptr take(connection_id id);

    static runtime::awaitable<void> open(std::shared_ptr<server_pool> self, connection_id id,
                                         std::uint32_t generation);
    static runtime::awaitable<void> drain(lease over, request_id owed, time_point until);
    static runtime::awaitable<void> upkeep(std::weak_ptr<server_pool> pool, runtime::world& in);

    runtime::world& world_;
    const pool_options options_;
    const std::shared_ptr<event_hub> events_;
    const opening_handlers heard_;
    runtime::background tasks_;

    mutable std::mutex mutex_;
    core::connection_pool machine_;
    std::map<connection_id, entry> entries_;
    std::map<core::checkout_id, std::shared_ptr<waiter>> waiters_;
    std::uint64_t last_checkout_ = 0;
    bool upkeep_started_ = false;
    bool announced_ = false;  // what is never ready, as that of an arbiter, exists for nobody
};

inline void lease::give_back() noexcept
{
    if (connection_)
        pool_->give_back(std::move(connection_), pool_->world_.steady_now());
}

inline void lease::give_back(time_point now) noexcept
{
    pool_->give_back(std::move(connection_), now);
}

}  // namespace holdfast::shell::mongo
