#pragma once
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/set/member_context.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::lab::mongo {

/// Commands of clients that a secondary forwards to the primary.
class command_forwarding {
public:
    explicit command_forwarding(member_context& in) noexcept : context_{in} {}
    command_forwarding(const command_forwarding&) = delete;
    command_forwarding& operator=(const command_forwarding&) = delete;
    ~command_forwarding() { stop(); }

    runtime::awaitable<result<bson::document>> forward(std::string primary_host,
                                                       const request& what);
    /// Cancels what is under way; nothing is forwarded from here on.
    void stop() noexcept;

private:
    /// A forwarding coroutine belongs to a connection of the port and may outlive this object, so
    /// that the list is shared.
    struct connections {
        std::vector<peer*> open = {};
        bool stopped = false;
    };

    member_context& context_;
    const std::shared_ptr<connections> connections_ = std::make_shared<connections>();
};

}  // namespace holdfast::lab::mongo
