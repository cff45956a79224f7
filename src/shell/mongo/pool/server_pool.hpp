#pragma once
#include "core/mongo/sdam/application_error.hpp"
#include "core/pool/pool.hpp"
#include "runtime/world.hpp"
#include "shell/mongo/connection/connection.hpp"
#include "shell/mongo/connection/connection_config.hpp"
#include "shell/mongo/events/event_hub.hpp"
#include "shell/pool/pool.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::shell::mongo {

using lease = shell::lease<connection>;

struct pool_options {
    endpoint server;
    core::pool_settings limits = {};
    events::pool_limits reported = {};  // the same, for listeners
    std::shared_ptr<const connection_config> config;

    /// For blocking clients: turns the stream of a new connection, opened in this pool's world,
    /// into one on which the thread of an operation can wait. Such a connection is never drained,
    /// since no thread is left to wait for its reply: it is closed.
    std::function<runtime::stream_ptr(runtime::stream_ptr)> make_blocking = {};
};

/// What keeps a connection beyond one operation behind a load balancer.
enum class pinned_by : std::uint8_t { cursor, transaction };

/// For pool_settings::pin_reasons, in the order of pinned_by.
inline constexpr std::string_view pin_reasons[] = {"cursors", "transactions"};

/// The connections to one MongoDB server: the hello on each, what their failures mean to the
/// topology, and the events of connection monitoring.
///
/// The topology calls mark_ready(), clear() and close() with its mutex held, so these report no
/// events: the topology delivers them afterwards.
class server_pool final : public shell::pool {
public:
    /// Called for each connection with the server's reply to the hello, before its login, and for
    /// each that could not be opened; before the waiting caller resumes, and with no lock held.
    /// Must not throw.
    struct opening_handlers {
        std::function<void(const endpoint&, bson::view hello)> handshake_done;
        std::function<void(core::mongo::application_error)> failed;
    };

    static std::shared_ptr<server_pool> make(runtime::world& in, pool_options options,
                                             std::shared_ptr<event_hub> events,
                                             opening_handlers handlers);

    const endpoint& server() const noexcept { return options_.server; }

    /// The fast path, without a coroutine: an idle connection if there is one.
    std::optional<lease> try_check_out(time_point now)
    {
        std::optional<lease> got;
        if (auto idle = take_idle(now))
            got.emplace(shared_from_this(), std::move(idle));
        return got;
    }

    /// Waits in the queue for one. The error is the pool's own (core::pool_errc), or why a
    /// connection could not be opened, or runtime::errc::cancelled. `may_go_elsewhere`: fails at
    /// once while a newer primary stands for this server.
    runtime::awaitable<result<lease>> check_out(time_point until, bool may_go_elsewhere = true);

    /// A connection in use stays with a cursor or a transaction, or does so no longer.
    void pin(pinned_by what);
    void unpin(pinned_by what);

    /// Authenticates a connection in use again, because its credentials have expired.
    runtime::awaitable<result<void>> log_in_again(connection& which) const;

    /// With a service, only its connections are concerned: see core::connection_pool::clear().
    void clear(const error& why, const std::optional<bson::object_id>& service,
               bool interrupt_in_use);

    using pool::generation;
    std::uint32_t generation(const std::optional<bson::object_id>& service) const;

private:
    server_pool(runtime::world& in, pool_options options, std::shared_ptr<event_hub> events,
                opening_handlers handlers);

    runtime::awaitable<result<opened_connection>> open(std::uint32_t generation) override;
    void open_failed(const error& why, std::uint32_t generation) override;
    void give_back(pooled_ptr what, time_point now) noexcept override;
    void queue(const std::vector<core::pool_event>& events) override;
    void deliver() override { events_->deliver(); }

    static runtime::awaitable<void> drain(lease over, request_id owed, time_point until);

    const pool_options options_;
    const std::shared_ptr<event_hub> events_;
    const opening_handlers handlers_;
    bool announced_ = false;  // a pool that is never ready, as an arbiter's, is not reported
};

}  // namespace holdfast::shell::mongo
