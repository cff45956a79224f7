#pragma once
#include "runtime/world.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::net {

/// The SRV records of a name server's message, or nothing if it is malformed or a target cannot be
/// a host. Not ares_parse_srv_reply(), which does not report the time to live.
std::optional<std::vector<runtime::srv_record>> read_srv(std::span<const std::uint8_t> message);

/// The texts of its TXT records, or nothing.
std::optional<std::vector<std::string>> read_txt(std::span<const std::uint8_t> message);

}  // namespace holdfast::net
