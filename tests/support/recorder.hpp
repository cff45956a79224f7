#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/mongo/events.hpp"
#include "sim/simulation.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::proof {

namespace events = mongo::events;

enum class heard : std::uint8_t {
    command_started,
    command_succeeded,
    command_failed,
    pool_created,
    pool_ready,
    pool_cleared,
    pool_closed,
    connection_created,
    connection_ready,
    connection_closed,
    check_out_started,
    check_out_failed,
    checked_out,
    checked_in,
    topology_opening,
    topology_closed,
    topology_changed,
    server_opening,
    server_closed,
    server_changed,
    heartbeat_started,
    heartbeat_succeeded,
    heartbeat_failed,
};

std::string_view name_of(heard what) noexcept;

/// One event, kept. What an event does not have is left empty.
struct record {
    heard what = heard::command_started;
    time_point when{};
    std::string server = {};
    std::int64_t connection = 0;
    std::int32_t request = 0;
    std::int64_t operation = 0;
    std::string name = {};  // of the command, or the reason
    bson::document body = {};  // command or reply
    std::optional<events::transaction_id> transaction = {};
    duration took{};
    bool awaited = false;
    bool interrupts = false;
    std::optional<error> failure = {};  // of a command or check; why a server is Unknown
    std::string before = {};  // types of a server or topology
    std::string after = {};
    std::vector<std::pair<std::string, std::string>> members_before = {};  // address and type
    std::vector<std::pair<std::string, std::string>> members = {};
    std::optional<duration> round_trip = {};
};

/// For people: one line.
std::string describe(const record& one, time_point since);

/// Keeps all events of one client, with the time at which they were delivered.
class recorder final : public mongo::event_listener {
public:
    explicit recorder(const sim::simulation& in) : in_{in} {}

    const std::vector<record>& all() const noexcept { return all_; }
    std::vector<record> of(heard what, std::string_view server = {}) const;
    std::size_t count(heard what, std::string_view server = {}) const;
    /// The last description of a server: "RSPrimary".
    std::string type_of(std::string_view server) const;
    std::string text(time_point since) const;

    void on(const events::command_started& e) noexcept override;
    void on(const events::command_succeeded& e) noexcept override;
    void on(const events::command_failed& e) noexcept override;
    void on(const events::pool_created& e) noexcept override;
    void on(const events::pool_ready& e) noexcept override;
    void on(const events::pool_cleared& e) noexcept override;
    void on(const events::pool_closed& e) noexcept override;
    void on(const events::connection_created& e) noexcept override;
    void on(const events::connection_ready& e) noexcept override;
    void on(const events::connection_closed& e) noexcept override;
    void on(const events::connection_check_out_started& e) noexcept override;
    void on(const events::connection_check_out_failed& e) noexcept override;
    void on(const events::connection_checked_out& e) noexcept override;
    void on(const events::connection_checked_in& e) noexcept override;
    void on(const events::topology_opening& e) noexcept override;
    void on(const events::topology_closed& e) noexcept override;
    void on(const events::topology_description_changed& e) noexcept override;
    void on(const events::server_opening& e) noexcept override;
    void on(const events::server_closed& e) noexcept override;
    void on(const events::server_description_changed& e) noexcept override;
    void on(const events::server_heartbeat_started& e) noexcept override;
    void on(const events::server_heartbeat_succeeded& e) noexcept override;
    void on(const events::server_heartbeat_failed& e) noexcept override;

private:
    record& add(heard what, const endpoint* server = nullptr, connection_id connection = {});
    record& add(heard what, const events::command_facts& of);

    const sim::simulation& in_;
    std::vector<record> all_;
};

}  // namespace holdfast::proof
