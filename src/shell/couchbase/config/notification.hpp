#pragma once
#include "core/couchbase/config/revision.hpp"
#include "core/couchbase/wire/frame.hpp"

#include <optional>
#include <string_view>

namespace holdfast::shell::couchbase {

/// A server's announcement that there is a new configuration. Views go into the frame.
struct config_notification {
    core::couchbase::config_revision revision = {};
    std::string_view bucket = {};  // empty: the global configuration
    std::string_view text = {};    // empty: it has to be asked for
};

/// Nothing if the frame is something else, or not as any server sends it.
std::optional<config_notification> parse_notification(const core::couchbase::frame& from);

}  // namespace holdfast::shell::couchbase
