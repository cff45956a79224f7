#pragma once
#include "core/mongo/sdam/application_error.hpp"
#include "core/mongo/sdam/srv_poll.hpp"
#include "core/mongo/sdam/transition.hpp"
#include "core/mongo/select/snapshot.hpp"
#include "core/mongo/settings/client_settings.hpp"
#include "holdfast/bson/object_id.hpp"
#include "runtime/background.hpp"
#include "runtime/wait.hpp"
#include "shell/mongo/events/event_hub.hpp"
#include "shell/mongo/monitor/server_monitor.hpp"
#include "shell/mongo/pool/server_pool.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::core::mongo {
class wait_notices;
}

namespace holdfast::shell::mongo {

/// One server as long as it is part of the topology.
struct server {
    endpoint address;
    std::shared_ptr<server_pool> pool;
    std::shared_ptr<server_monitor> monitor;  // null behind a load balancer
    std::atomic<std::uint32_t> operations{0};
};

/// What operations choose from: made once for each change, never changed, shared by all readers.
struct published_topology {
    core::mongo::selection_snapshot snapshot;
    std::vector<std::shared_ptr<server>> servers;  // as in snapshot.topology()->servers
};

/// A server that an operation has chosen; counted as busy with it as long as this lives.
class selected_server {
public:
    /// `at` is its place in what was published.
    selected_server(std::shared_ptr<const published_topology> in, std::size_t at) noexcept
        : in_{std::move(in)}, which_{in_->servers[at].get()}, at_{at}
    {
        which_->operations.fetch_add(1, std::memory_order_relaxed);
    }
    selected_server(selected_server&& other) noexcept
        : in_{std::move(other.in_)}, which_{std::exchange(other.which_, nullptr)}, at_{other.at_}
    {
    }
    selected_server& operator=(selected_server&&) = delete;
    ~selected_server()
    {
        if (which_)
            which_->operations.fetch_sub(1, std::memory_order_relaxed);
    }

    server_pool& pool() const noexcept { return *which_->pool; }
    const std::shared_ptr<server_pool>& shared_pool() const noexcept { return which_->pool; }
    const endpoint& address() const noexcept { return which_->address; }
    /// As both were when it was chosen.
    const core::mongo::server_description& description() const noexcept
    {
        return *topology().servers[at_];
    }
    const core::mongo::topology_description& topology() const noexcept
    {
        return *in_->snapshot.topology();
    }

private:
    std::shared_ptr<const published_topology> in_;
    server* which_;
    std::size_t at_;
};

/// How the names of a mongodb+srv string are looked up again.
struct srv_polling {
    core::mongo::srv_poll_settings rules = {};
    std::string query = {};  // the name that is asked for
    duration first_wait = core::mongo::min_srv_rescan_interval;
    duration timeout = std::chrono::seconds{30};  // with one look-up
};

/// The operation that a server is selected for; for the log.
struct selection_purpose {
    std::string_view operation = {};
    operation_id id = {};
    bool announced = false;  // that it has begun
};

struct topology_options {
    core::mongo::topology_settings start = {};
    core::mongo::selection_settings selection = {};
    core::pool_settings pool = {};
    events::pool_limits pool_events = {};
    std::shared_ptr<const connection_config> config;
    std::shared_ptr<const connection_config> monitor_config;
    core::mongo::resilience_profile profile = core::mongo::as_specified;
    core::mongo::monitoring_mode monitoring = core::mongo::monitoring_mode::automatic;
    bool function_as_a_service = false;
    bool fail_fast_on_terminal_errors = true;
    bool rescue_from_deposed_primary = true;
    std::function<runtime::stream_ptr(runtime::stream_ptr)> make_blocking = {};  // see pool_options
    std::optional<srv_polling> srv = {};
};

/// All servers of a deployment. One writer at a time; what a change brings with it for pools and
/// monitors is done in the same critical section in which the new topology is published, so that
/// no reader sees the one without the other. Lock order: this mutex, then a pool's.
class topology final : public monitor_listener, public std::enable_shared_from_this<topology> {
public:
    static std::shared_ptr<topology> make(runtime::world& in, topology_options options,
                                          std::shared_ptr<event_hub> events);

    ~topology();  // stops what close() has not

    /// The seeds are known, and monitors start.
    void open();

    std::shared_ptr<const published_topology> current() const;

    /// A server at once, without a coroutine, if one is suitable.
    result<std::optional<selected_server>> try_select(const core::mongo::selection_request& request,
                                                      const selection_purpose& why = {});

    /// Waits for one. The error explains, server by server, why there was none in time.
    runtime::awaitable<result<selected_server>> select(core::mongo::selection_request request,
                                                       time_point until, selection_purpose why);

    /// Something went wrong on a connection of an operation. When this returns, the next selection
    /// knows of it.
    void handle(const core::mongo::application_error& what);

    /// The hello reply on a new connection of an operation; it mostly changes nothing.
    void handshake_done(const endpoint& by, bson::view hello);

    /// Stops everything; nothing can be selected any more. Then ended() waits for the rest.
    void close();
    bool has_ended() const { return tasks_.running() == 0; }
    bool is_closed() const;
    runtime::awaitable<void> ended();

    /// For people: the topology, its servers, their pools, in a few lines.
    std::string dump() const;

    /// A monitor has looked at its server. It also looks whether commands are overdue.
    void checked(core::mongo::server_description found) override;
    void check_failed(const endpoint& server, const error& why,
                      core::mongo::failure_kind kind) override;
    core::mongo::server_ptr last_known(const endpoint& server) const override;

private:
    topology(runtime::world& in, topology_options options, std::shared_ptr<event_hub> events);

    template <class Decide>
    void change(const Decide& decide);
    void apply(const core::mongo::transition& next);  // for change(): the mutex is held
    void perform(const core::mongo::effect& what);
    void add_server(const endpoint& address);
    void remove_server(const endpoint& address);
    void publish(const core::mongo::topology_ptr& next);
    static runtime::awaitable<void> await_shutdown(std::shared_ptr<server> gone);
    static runtime::awaitable<void> watch_overdue(std::weak_ptr<topology> which,
                                                  runtime::world& in);
    static runtime::awaitable<void> poll_srv(std::weak_ptr<topology> which, runtime::world& in,
                                             srv_polling polling);
    bool wants_srv(const srv_polling& polling) const;
    std::optional<duration> resolved(const result<std::vector<runtime::srv_record>>& found,
                                     const srv_polling& polling);
    void request_all_checks();
    bool is_hopeless(const core::mongo::topology_description& t, time_point since) const;
    error not_selected(error because, const core::mongo::selection_request& request,
                       const selection_purpose& why) const;
    error no_match(const core::mongo::topology_description& t,
                   const core::mongo::selection_request& request, std::string_view why) const;
    void announce_wait(core::mongo::wait_notices& notices,
                       const core::mongo::selection_request& request, time_point until,
                       const selection_purpose& why);
    bool may_warn_of_wait(time_point now);
    std::string describe(const core::mongo::topology_description& t,
                         const core::mongo::selection_request& request) const;

    runtime::world& world_;  // owned by tasks_
    const topology_options options_;
    const std::shared_ptr<event_hub> events_;
    const bson::object_id id_;
    runtime::event changed_;
    runtime::background tasks_;

    mutable std::mutex mutex_;
    core::mongo::topology_ptr known_;
    std::map<endpoint, std::shared_ptr<server>> servers_;
    std::shared_ptr<const published_topology> published_;
    runtime::background::task srv_polling_;
    runtime::background::task overdue_watch_;  // behind a load balancer
    std::optional<time_point> last_wait_warning_;
    bool closed_ = false;
};

/// The only way to change the topology: `decide` runs with the mutex held, unless the topology is
/// closed, and gives the transition to make, if any. Then waiting selections are notified and
/// events delivered, with the mutex free.
template <class Decide>
void topology::change(const Decide& decide)
{
    {
        const std::scoped_lock lock{mutex_};
        if (closed_)
            return;
        const std::optional<core::mongo::transition> next = decide();
        if (!next)
            return;
        apply(*next);
    }
    changed_.notify();
    events_->deliver();
}

}  // namespace holdfast::shell::mongo
