#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

/// The tags of a member of a replica set: {"dc": "ny", "rack": "2"}.
using tag_set = std::map<std::string, std::string, std::less<>>;

enum class read_mode : std::uint8_t {
    primary,
    primary_preferred,
    secondary,
    secondary_preferred,
    nearest,
};

/// The name in connection strings and commands: "secondaryPreferred".
std::string_view name_of(read_mode mode) noexcept;
std::optional<read_mode> parse_read_mode(std::string_view name) noexcept;  // any case

/// Which members may answer a read.
struct read_preference {
    read_mode mode = read_mode::primary;
    std::vector<tag_set> tag_sets = {};  // tried in order; an empty set matches every server
    std::optional<std::chrono::seconds> max_staleness = {};

    friend bool operator==(const read_preference&, const read_preference&) = default;
};

}  // namespace holdfast::core::mongo
