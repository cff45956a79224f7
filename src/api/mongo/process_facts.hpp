#pragma once
#include "core/mongo/handshake/client_metadata.hpp"

#include <optional>
#include <string>

namespace holdfast::api {

/// What the handshake says of this process and the machine it runs on.
core::mongo::client_metadata describe_process(const std::optional<std::string>& application);

}  // namespace holdfast::api
