#pragma once
#include "core/couchbase/wire/frame.hpp"
#include "shell/couchbase/connection/kv_connection.hpp"
#include "shell/observe/observation.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::shell::couchbase {

/// "0x400"
std::string opaque_text(std::uint32_t opaque);

/// How long the server took for it, if it says so.
std::optional<std::chrono::microseconds> server_duration_of(const core::couchbase::frame& reply);

/// What reports the replies to requests that were given up. Empty if they are not wanted.
decltype(kv_connection_options::on_late_reply) late_reply_hook(
    std::shared_ptr<observation> to, std::shared_ptr<const observed::connection> over);

}  // namespace holdfast::shell::couchbase
