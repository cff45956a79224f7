#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/log.hpp"
#include "holdfast/mongo/events.hpp"
#include "holdfast/mongo/log.hpp"
#include "shell/events/event_queue.hpp"
#include "shell/mongo/events/commands_in_flight.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::shell::mongo {

namespace events = holdfast::mongo::events;

/// The end of a heartbeat; it owns its data until it is delivered.
struct heartbeat_reply {
    endpoint server;
    bool awaited = false;
    duration took{};
    bson::document reply;
    connection_id driver_connection = {};
    std::optional<std::int64_t> server_connection = {};
};
struct heartbeat_failure {
    endpoint server;
    bool awaited = false;
    duration took{};
    error failure;
    connection_id driver_connection = {};
    std::optional<std::int64_t> server_connection = {};
};

/// A warning to the application, for the log alone.
struct queued_warning {
    log_component from = holdfast::mongo::log_components::topology;
    std::string text;
};

/// The events that are delivered in order. Command events are not queued: they are delivered by
/// their operations.
using queued_event = std::variant<
    events::pool_created, events::pool_ready, events::pool_cleared, events::pool_closed,
    events::connection_created, events::connection_ready, events::connection_closed,
    events::connection_check_out_started, events::connection_check_out_failed,
    events::connection_checked_out, events::connection_checked_in, events::topology_opening,
    events::topology_closed, events::topology_description_changed, events::server_opening,
    events::server_closed, events::server_description_changed, events::server_heartbeat_started,
    events::command_overdue, heartbeat_reply, heartbeat_failure, queued_warning>;

class log_messages;

/// Delivers events to the listeners and the log. Events are queued wherever they arise, also under
/// a lock, and delivered by deliver(), which is called where no lock is held: see event_queue.
class event_hub {
public:
    /// `most` is the number of bytes of a document that a log message shows. Without a log,
    /// warn() goes to `fallback`, if there is one.
    event_hub(std::vector<std::shared_ptr<holdfast::mongo::event_listener>> listeners,
              std::shared_ptr<log_sink> log, std::size_t most = 1000,
              std::shared_ptr<log_sink> fallback = {});
    ~event_hub();

    /// There is neither a listener nor a log, so that nothing need be queued.
    bool silent() const noexcept { return silent_; }

    void queue(queued_event what);
    void deliver();
    /// The client is closed or gone: events that arise from now on are dropped.
    void close() { queue_.close(); }

    /// Whether command events are worth putting together.
    bool hears_commands() const noexcept { return hears_commands_; }
    void notify(const events::command_started& what) const noexcept;
    void notify(const events::command_succeeded& what) const noexcept;
    void notify(const events::command_failed& what) const noexcept;

    /// Commands that wait for replies; empty if silent().
    commands_in_flight& in_flight() noexcept { return in_flight_; }
    /// Reports those that are overdue. Must be called with no lock held.
    void report_overdue(time_point now);

    /// Null if the log does not want messages about server selection.
    const log_messages* selection_log() const noexcept;

    /// A warning that users without a log need as well; written at once.
    void warn(log_component from, std::string_view text) const noexcept;
    /// There is no log, and warn() has another place to write to.
    bool has_only_fallback() const noexcept { return !log_ && fallback_; }

private:
    void notify(const queued_event& what) noexcept;

    std::vector<std::shared_ptr<holdfast::mongo::event_listener>> listeners_;
    std::shared_ptr<log_sink> log_;
    std::shared_ptr<log_sink> fallback_;
    std::unique_ptr<log_messages> text_;  // null if nothing is logged
    bson::object_id topology_ = {};  // the topology's id for log messages; written while delivering
    bool silent_;
    bool hears_commands_;
    commands_in_flight in_flight_;
    event_queue<queued_event> queue_;
};

}  // namespace holdfast::shell::mongo
