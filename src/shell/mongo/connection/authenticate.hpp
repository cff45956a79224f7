#pragma once
#include "core/mongo/handshake/login.hpp"
#include "runtime/world.hpp"
#include "shell/mongo/connection/connection.hpp"
#include "shell/mongo/connection/connection_config.hpp"

#include <optional>

namespace holdfast::shell::mongo {

/// The conversation whose first message may go along with the hello, if there is one.
result<std::optional<core::mongo::login_start>> begin_speculative_login(
    runtime::world& in, const connection_config& config);

/// Logs in after the hello: goes on with the speculative conversation if the server took it up,
/// else starts one. Nothing is said to a server that cannot know users (an arbiter).
runtime::awaitable<result<void>> authenticate(runtime::world& in, const connection_config& config,
                                              connection& on,
                                              std::optional<core::mongo::login_start> speculative);

}  // namespace holdfast::shell::mongo
