#pragma once
#include "core/mongo/uri/uri.hpp"
#include "runtime/world.hpp"
#include "shell/mongo/connection/connection.hpp"
#include "shell/mongo/connection/connection_config.hpp"

namespace holdfast::shell::mongo {

/// Looks up the seeds of a mongodb+srv string, and its TXT options; gives any other string back as
/// it is. Until then, or until serverSelectionTimeoutMS has passed.
runtime::awaitable<result<core::mongo::parsed_uri>> look_up_seeds(
    runtime::world& in, core::mongo::parsed_uri from, time_point until = runtime::never);

/// A connection to the first seed that answers. All are tried in turn, again and again, at most
/// once in minHeartbeatFrequencyMS each, until serverSelectionTimeoutMS has passed; but where every
/// seed fails for a reason that waiting will not mend, the wait ends at once (if
/// failFastOnTerminalErrors is on). A refused login, and a server whose wire versions we do not
/// speak, end it at once; a member of another set than replicaSet names is not used. The error
/// lists per server the last error, its phase and its age.
runtime::awaitable<result<connection_ptr>> perform_handshake(
    runtime::world& in, const connection_config& config,
    const core::mongo::client_settings& settings);

}  // namespace holdfast::shell::mongo
