#pragma once
#include "core/mongo/handshake/connection_description.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/error.hpp"

namespace holdfast::core::mongo {

/// Documents that a command takes along outside its body, as many as the connection allows. The
/// first attempt decides how many; a retry sends the same again, whatever its connection allows.
class command_load {
public:
    command_load() = default;
    command_load(const command_load&) = delete;
    command_load& operator=(const command_load&) = delete;
    virtual ~command_load() = default;

    /// Whether all that it will write on such a connection may carry a transaction number; asked
    /// before every attempt.
    virtual bool is_eligible(const connection_description& limits) = 0;

    /// Adds its document sequences to a message whose body is complete. `limits` are those of the
    /// connection that it goes out on.
    virtual result<void> write(message_builder& to, const connection_description& limits) = 0;
};

}  // namespace holdfast::core::mongo
