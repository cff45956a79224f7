#pragma once
#include "lab/couchbase/kv/node.hpp"

#include <optional>
#include <string_view>

/// What faults and settings are called in commands.
namespace holdfast::lab::couchbase {

/// "get", or a number in hexadecimal: "0xbb".
std::optional<core::couchbase::kv_opcode> opcode_named(std::string_view name);
std::optional<frame_damage> frame_damage_named(std::string_view name);
std::optional<config_damage> config_damage_named(std::string_view name);
std::optional<refusal_body> refusal_body_named(std::string_view name);
/// "on", "off", "brief", "short", "twice", "older" and "then_older".
std::optional<push_policy> push_policy_named(std::string_view name);

}  // namespace holdfast::lab::couchbase
