#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/log.hpp"
#include "holdfast/mongo/events.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::shell::mongo {

namespace events = holdfast::mongo::events;

/// A heartbeat's end with what it needs to live until it is told.
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

/// Something that the application should know, and that is no event: for the log alone.
struct queued_warning {
    log_component from = log_component::topology;
    std::string text;
};

/// All that is told in order; command events are not, since they belong to their operations.
using queued_event = std::variant<
    events::pool_created, events::pool_ready, events::pool_cleared, events::pool_closed,
    events::connection_created, events::connection_ready, events::connection_closed,
    events::connection_check_out_started, events::connection_check_out_failed,
    events::connection_checked_out, events::connection_checked_in, events::topology_opening,
    events::topology_closed, events::topology_description_changed, events::server_opening,
    events::server_closed, events::server_description_changed, events::server_heartbeat_started,
    heartbeat_reply, heartbeat_failure, queued_warning>;

class log_messages;

/// Tells listeners and the log what happens in a client. Events are put in wherever they arise,
/// also under a lock, and told by deliver(), which is called where no lock is held: in the order in
/// which they were put in, one at a time, by whichever thread finds nobody else at it.
class event_hub {
public:
    /// `most` is how much of a document a log message shows.
    event_hub(std::vector<std::shared_ptr<holdfast::mongo::event_listener>> listeners,
              std::shared_ptr<log_sink> log, std::size_t most = 1000);
    ~event_hub();

    /// Nobody listens, and nothing is logged: then nothing need be queued.
    bool silent() const noexcept { return silent_; }

    void queue(queued_event what);
    void deliver();

    /// Whether command events are worth putting together.
    bool hears_commands() const noexcept { return hears_commands_; }
    void notify(const events::command_started& what) const noexcept;
    void notify(const events::command_succeeded& what) const noexcept;
    void notify(const events::command_failed& what) const noexcept;

    /// Null if the log wants to know nothing of how servers are selected.
    const log_messages* selection_log() const noexcept;

private:
    void notify(const queued_event& what) noexcept;

    std::vector<std::shared_ptr<holdfast::mongo::event_listener>> listeners_;
    std::shared_ptr<log_sink> log_;
    std::unique_ptr<log_messages> text_;  // null if nothing is logged
    bson::object_id topology_ = {};  // of the one that is told of; written by who delivers
    bool silent_;
    bool hears_commands_;
    std::mutex mutex_;
    std::vector<queued_event> queue_;
    std::atomic<bool> waiting_{false};  // whether the queue may hold something: no lock if not
    bool delivering_ = false;
};

}  // namespace holdfast::shell::mongo
