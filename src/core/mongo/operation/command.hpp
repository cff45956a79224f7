#pragma once
#include "core/mongo/operation/load.hpp"
#include "core/mongo/retry/decide.hpp"
#include "core/mongo/select/suitable.hpp"
#include "core/mongo/settings/concern.hpp"
#include "core/mongo/settings/read_preference.hpp"
#include "core/mongo/wire/command_message.hpp"
#include "holdfast/id.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::mongo {

/// The feature that the server must have, because an older one would ignore it silently.
struct server_need {
    std::int32_t wire_version = 0;  // 0: nothing special
    std::string_view what = {};     // "a hint in a delete"; a literal
};

/// A command as an operation has written it, with all that its execution depends on. Fields that
/// depend on the server, the session and the time (lsid, txnNumber, $clusterTime, readConcern,
/// $readPreference, $db, the versioned API) are added per attempt: command_encoder.
struct command {
    std::string database = {};
    command_message body = {};  // its first key is the command's name; has its writeConcern, if any
    retry_kind kind = retry_kind::generic;
    operation_kind selects = operation_kind::write;
    mongo::read_preference preference = {};  // of what selects a server as a read does
    /// A write of a kind that may carry a transaction number, or a read of the retryable kind.
    bool eligible = false;
    bool acknowledged = true;  // not w: 0
    /// A command that takes a readConcern: this one, and what a session adds to it.
    bool reads = false;
    mongo::read_concern read_concern = {};
    /// A pipeline that ends in $out or $merge: before 5.0 (wire version 13) only a primary takes
    /// it.
    bool writes_output = false;
    std::optional<bool> raw_data = {};  // sent to servers from wire version 27 (8.2) on
    server_need need = {};
    std::optional<endpoint> only_server = {};  // the one that has the cursor
    command_load* load = nullptr;  // outlives the command
    /// endSessions, which would leave a session of its own behind on the server.
    bool without_session = false;
    std::optional<std::chrono::milliseconds> timeout = {};
};

}  // namespace holdfast::core::mongo
