#pragma once
#include "holdfast/mongo/events.hpp"
#include "matching.hpp"
#include "test_file.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::spec::unified {

enum class event_kind : std::uint8_t { command, cmap, sdam };

/// An event as the format writes it down: its name, and fields that can be compared.
struct recorded_event {
    event_kind kind = event_kind::command;
    std::string_view name;  // "commandStartedEvent"
    bson::document fields;  // {command: {...}, commandName: "find", hasServiceId: false, ...}
};

/// The events of one client entity. Thread-safe.
class client_events : public mongo::event_listener {
public:
    /// `client`: the fields of the client entity (observeEvents, ignoreCommandMonitoringEvents,
    /// observeSensitiveCommands, storeEventsAsEntities). Lists for the last are added to `named`.
    client_events(bson::view client, entities& named);

    /// Called after each event that was recorded, outside any lock, on the thread of the client.
    /// Set it before the client is made.
    std::function<void()> on_recorded;

    /// Nothing is recorded any more: the operations of the case have ended.
    void stop();

    std::vector<recorded_event> recorded(event_kind kind) const;

    /// How many recorded events match one of a file: {poolClearedEvent: {}}. For waitForEvent and
    /// assertEventCount.
    std::size_t count(bson::view expected, const matcher& rules) const;

    /// Forgets what has been recorded, not what is counted below: the case begins only now.
    void forget();

    /// Connections that are checked out now; counted whether or not they are observed.
    std::int64_t checked_out() const;

    /// Connections to this server that are ready to be used, or in use.
    std::size_t ready(const endpoint& server) const;

    /// The errors of failed commands and heartbeats, whether or not they are observed and what
    /// came after them; without those of sensitive commands, which are redacted.
    std::vector<std::string> open_failures() const;

    /// The "lsid" of the last two commands that were started, oldest first: for
    /// assertSameLsidOnLastTwoCommands. Throws case_failure if there were fewer, or one has none.
    std::pair<bson::document, bson::document> last_two_lsids() const;

    // clang-format off
    void on(const mongo::events::command_started&) noexcept override;
    void on(const mongo::events::command_succeeded&) noexcept override;
    void on(const mongo::events::command_failed&) noexcept override;
    void on(const mongo::events::pool_created&) noexcept override;
    void on(const mongo::events::pool_ready&) noexcept override;
    void on(const mongo::events::pool_cleared&) noexcept override;
    void on(const mongo::events::pool_closed&) noexcept override;
    void on(const mongo::events::connection_created&) noexcept override;
    void on(const mongo::events::connection_ready&) noexcept override;
    void on(const mongo::events::connection_closed&) noexcept override;
    void on(const mongo::events::connection_check_out_started&) noexcept override;
    void on(const mongo::events::connection_check_out_failed&) noexcept override;
    void on(const mongo::events::connection_checked_out&) noexcept override;
    void on(const mongo::events::connection_checked_in&) noexcept override;
    void on(const mongo::events::topology_opening&) noexcept override;
    void on(const mongo::events::topology_closed&) noexcept override;
    void on(const mongo::events::topology_description_changed&) noexcept override;
    void on(const mongo::events::server_description_changed&) noexcept override;
    void on(const mongo::events::server_heartbeat_started&) noexcept override;
    void on(const mongo::events::server_heartbeat_succeeded&) noexcept override;
    void on(const mongo::events::server_heartbeat_failed&) noexcept override;
    // clang-format on

    /// The newest description of the topology; for assertTopologyType, waitForPrimaryChange and
    /// recordTopologyDescription.
    mongo::topology_description topology() const;

private:
    struct stored_list {
        std::set<std::string, std::less<>> names;
        std::shared_ptr<document_list> list;
    };

    bool is_secret(const mongo::events::command_facts& of) const;
    bool ignores(const mongo::events::command_facts& of) const;
    void add_failure(const error& why);
    void record(event_kind kind, std::string_view name, bson::document fields = {}) noexcept;
    void keep(event_kind kind, std::string_view name, bson::document fields);

    std::set<std::string, std::less<>> observed_;
    std::set<std::string, std::less<>> ignored_commands_;
    bool sensitive_ = false;
    std::vector<stored_list> stored_;

    mutable std::mutex mutex_;
    bool stopped_ = false;
    std::int64_t checked_out_ = 0;
    std::map<endpoint, std::set<connection_id>> ready_;
    std::vector<std::string> open_failures_;
    std::vector<recorded_event> events_;
    std::set<std::int32_t> hellos_with_secrets_;  // by request: their replies are secret too
    mongo::topology_description topology_;
};

/// Throws case_failure with the number of the event and how it differs.
void check_events(const expected_events& expected, const client_events& received,
                  const matcher& rules);

}  // namespace holdfast::spec::unified
