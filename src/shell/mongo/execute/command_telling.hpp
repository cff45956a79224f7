#pragma once
#include "core/mongo/session/server_session.hpp"
#include "shell/mongo/connection/connection.hpp"
#include "shell/mongo/execute/client_state.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace holdfast::shell::mongo {

/// The events of one attempt: a start, and exactly one end. Costs a test if nobody listens.
class command_telling {
public:
    command_telling(client_state& client, operation_id operation, std::string_view command,
                    std::string_view database, request_id id, const connection& over,
                    const std::optional<core::mongo::transaction_id>& transaction)
        : client_{client},
          over_{over},
          heard_{client.tell->hears_commands()},
          facts_{.command_name = command,
                 .database_name = database,
                 .request = id,
                 .operation = operation,
                 .server = over.server()}
    {
        if (heard_) [[unlikely]]
            fill(transaction);
    }
    command_telling(command_telling&&) = default;
    command_telling& operator=(command_telling&&) = delete;

    void started(std::span<const std::uint8_t> request)
    {
        if (heard_) [[unlikely]]
            tell_started(request);
    }
    void failed(const error& why)
    {
        if (heard_) [[unlikely]]
            tell_failed(why);
    }
    /// `why` is null if the reply is a good one.
    void ended(bson::view reply, const error* why)
    {
        if (heard_) [[unlikely]]
            tell_ended(reply, why);
    }

private:
    void fill(const std::optional<core::mongo::transaction_id>& transaction);
    void tell_started(std::span<const std::uint8_t> request);
    void tell_failed(const error& why);
    void tell_ended(bson::view reply, const error* why);
    duration took() const { return client_.world.steady_now() - began_; }

    client_state& client_;
    const connection& over_;
    const bool heard_;
    bool secret_ = false;  // what was sent and received is not shown
    time_point began_{};
    told::command_facts facts_;
};

}  // namespace holdfast::shell::mongo
