#pragma once
#include "core/mongo/sdam/application_error.hpp"
#include "core/mongo/sdam/reply_pace.hpp"
#include "core/mongo/sdam/server_description.hpp"
#include "core/mongo/select/round_trip.hpp"
#include "core/mongo/settings/client_settings.hpp"
#include "runtime/background.hpp"
#include "runtime/wait.hpp"
#include "shell/mongo/connection/establish.hpp"
#include "shell/mongo/events/event_hub.hpp"

#include <memory>
#include <mutex>
#include <optional>

namespace holdfast::shell::mongo {

/// Receives what a monitor finds out. Called with no lock held, one call at a time per server.
class monitor_listener {
public:
    virtual void checked(core::mongo::server_description found) = 0;
    virtual void check_failed(const endpoint& server, const error& why,
                              core::mongo::failure_kind kind) = 0;
    /// The last known description of the server; null once it is no longer part of the topology.
    virtual core::mongo::server_ptr last_known(const endpoint& server) const = 0;

protected:
    ~monitor_listener() = default;
};

struct monitor_options {
    endpoint server;
    std::shared_ptr<const connection_config> config;  // without a user: monitors do not log in
    duration heartbeat_frequency = std::chrono::seconds{10};
    duration min_heartbeat_frequency = core::mongo::min_heartbeat_frequency;
    core::mongo::monitoring_mode mode = core::mongo::monitoring_mode::automatic;
    bool function_as_a_service = false;  // where `automatic` means polling
};

/// Watches one server: sends a hello at every heartbeat, or has the server reply when something has
/// changed (streaming), in which case a second connection measures the round trips. Of a server
/// that streams without end only the newest reply counts, some 20 times a second.
class server_monitor : public std::enable_shared_from_this<server_monitor> {
public:
    static std::shared_ptr<server_monitor> make(runtime::world& in, monitor_options options,
                                                std::shared_ptr<event_hub> events,
                                                std::weak_ptr<monitor_listener> to);

    void start();

    /// Soon, instead of at the next heartbeat; but not sooner than minHeartbeatFrequencyMS after
    /// the end of the last check. A server that streams is asked anew if it is last known as
    /// Unknown.
    void request_check(bool last_known_unknown = false);

    /// Ends the check that is under way: an operation has found the server dead already.
    void cancel_check();

    /// For good.
    void stop();
    runtime::awaitable<void> ended();

    /// Since when it waits for a connection that no server has answered yet.
    std::optional<time_point> connecting_since() const;

private:
    struct check_result;

    server_monitor(runtime::world& in, monitor_options options, std::shared_ptr<event_hub> events,
                   std::weak_ptr<monitor_listener> to);

    static runtime::awaitable<void> run(std::shared_ptr<server_monitor> self);
    static runtime::awaitable<void> measure(std::shared_ptr<server_monitor> self);

    runtime::awaitable<check_result> check();
    runtime::awaitable<check_result> first_check();
    runtime::awaitable<check_result> ask(bool awaited);
    runtime::awaitable<result<core::mongo::message>> say_hello(connection& to, bool awaited);
    runtime::awaitable<bool> keep_pace(time_point now);
    runtime::awaitable<bool> wait_for_next_check(std::uint64_t seen, time_point last_ended);

    void note_connecting(std::optional<time_point> since);
    bool may_stream() const;
    bool report(const check_result& found);
    void forget();
    void use(connection_ptr made);
    void drop_connection();
    void record(duration round_trip)
    {
        const std::scoped_lock lock{mutex_};
        round_trips_.record(round_trip);
    }
    core::mongo::round_trip_times round_trips() const;

    runtime::world& world_;  // owned by tasks_
    const monitor_options options_;
    const std::shared_ptr<event_hub> events_;
    const std::weak_ptr<monitor_listener> to_;
    runtime::background tasks_;
    runtime::event requested_;

    // Only the coroutine of run() uses these.
    bool more_to_come_ = false;
    bool measuring_ = false;
    core::mongo::reply_pace pace_ = {};
    bool skips_to_newest_ = false;  // replies come faster than they are read
    std::int64_t connections_made_ = 0;
    std::optional<bson::document> topology_version_ = {};
    core::mongo::server_ptr last_ = {};

    mutable std::mutex mutex_;
    connection_ptr connection_;  // changed by run() alone, under the mutex; cancelled by anybody
    bool cancelled_ = false;
    bool awaiting_ = false;  // a reply that the server delays until something changes
    bool stopped_ = false;
    core::mongo::round_trip_tracker round_trips_;
    std::optional<time_point> connecting_since_;
};

}  // namespace holdfast::shell::mongo
