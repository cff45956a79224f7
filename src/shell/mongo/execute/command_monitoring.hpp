#pragma once
#include "core/mongo/session/server_session.hpp"
#include "shell/mongo/connection/connection.hpp"
#include "shell/mongo/execute/client_state.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace holdfast::shell::mongo {

/// The events of one attempt: a start, and exactly one end. Costs a test if there is no listener.
class command_monitoring {
public:
    command_monitoring(client_state& client, operation_id operation, std::string_view command,
                       std::string_view database, request_id id, const connection& over,
                       const std::optional<core::mongo::transaction_id>& transaction)
        : client_{client},
          over_{over},
          heard_{client.events->hears_commands()},
          facts_{.command_name = command,
                 .database_name = database,
                 .request = id,
                 .operation = operation,
                 .server = over.server()}
    {
        if (heard_) [[unlikely]]
            fill(transaction);
    }
    command_monitoring(command_monitoring&&) = default;
    command_monitoring& operator=(command_monitoring&&) = delete;

    void started(std::span<const std::uint8_t> request)
    {
        if (heard_) [[unlikely]]
            notify_started(request);
        if (!client_.events->silent()) [[unlikely]]
            client_.events->in_flight().add(in_flight_, facts_, over_.pool_id,
                                            client_.world.steady_now());
    }
    void failed(const error& why)
    {
        in_flight_.leave();
        if (heard_) [[unlikely]]
            notify_failed(why);
    }
    /// `why` is null if the command has succeeded.
    void ended(bson::view reply, const error* why)
    {
        in_flight_.leave();
        if (heard_) [[unlikely]]
            notify_ended(reply, why);
    }

private:
    void fill(const std::optional<core::mongo::transaction_id>& transaction);
    void notify_started(std::span<const std::uint8_t> request);
    void notify_failed(const error& why);
    void notify_ended(bson::view reply, const error* why);
    duration took() const { return client_.world.steady_now() - began_; }

    client_state& client_;
    const connection& over_;
    const bool heard_;
    bool secret_ = false;  // a sensitive command: events have empty documents
    time_point began_{};
    events::command_facts facts_;
    commands_in_flight::entry in_flight_;  // views the facts: goes first
};

}  // namespace holdfast::shell::mongo
