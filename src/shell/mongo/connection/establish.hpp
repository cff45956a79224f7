#pragma once
#include "runtime/world.hpp"
#include "shell/mongo/connection/connection.hpp"
#include "shell/mongo/connection/connection_config.hpp"

#include <functional>

namespace holdfast::shell::mongo {

/// How far establishing came, besides runtime's own phases; the context "phase" of its error.
inline constexpr const char* phase_hello = "hello";
inline constexpr const char* phase_authentication = "authentication";

/// A connection after its hello, and the reply to that.
struct established {
    connection_ptr connection;
    bson::document reply;
    duration took{};  // of the hello alone
};

/// Connects, with TLS if the config has it, and sends the hello. Does not authenticate.
runtime::awaitable<result<established>> handshake(runtime::world& in,
                                                  const connection_config& config, endpoint server,
                                                  time_point until);

/// Called with the reply to the hello before the login begins, which may take long.
using hello_handler = std::function<void(const connection& over, bson::view reply)>;

/// Connects, with TLS if the config has it, sends the hello and authenticates. `until` and the
/// connectTimeout hold for all of it together. An error names server, phase and cause.
runtime::awaitable<result<established>> establish(runtime::world& in,
                                                  const connection_config& config, endpoint server,
                                                  time_point until, hello_handler after_hello = {});

/// Whether a retry could not help: the name does not exist, or the certificate is rejected.
bool is_terminal(const error& why) noexcept;

/// Whether the server cannot have been too busy: it was not found, is another one, or has answered.
bool rules_out_overload(const error& why) noexcept;

}  // namespace holdfast::shell::mongo
