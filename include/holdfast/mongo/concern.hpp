#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

/// How safe, how settled and how near: what clients, databases, collections and single operations
/// may say of their writes and reads. All are views: what they point to is copied by the call that
/// is given them.
namespace holdfast::mongo {

/// How many members must have a write before it is acknowledged.
struct write_concern {
    std::optional<std::int32_t> w = {};  // so many members; 0: no acknowledgement at all
    std::string_view tag = {};  // instead of a number: "majority", or a name of the set's own
    std::optional<bool> journal = {};
    std::optional<std::chrono::milliseconds> wtimeout = {};
};
static_assert(option_struct<write_concern>);

inline constexpr write_concern majority{.tag = "majority"};
inline constexpr write_concern unacknowledged{.w = 0};

/// How settled data must be to be read: "local", "majority", "linearizable", "snapshot"...; empty:
/// the server's default.
struct read_concern {
    std::string_view level = {};
};
static_assert(option_struct<read_concern>);

enum class read_mode : std::uint8_t {
    primary,
    primary_preferred,
    secondary,
    secondary_preferred,
    nearest,
};

/// Which members may answer a read.
struct read_preference {
    read_mode mode = read_mode::primary;
    /// Documents of tags, tried in order: `arr(doc("dc", "ny"), doc())`.
    std::optional<bson::array_view> tag_sets = {};
    std::optional<std::chrono::seconds> max_staleness = {};
};
static_assert(option_struct<read_preference>);

/// What a database or a collection does differently from what it came from.
struct defaults {
    std::optional<mongo::write_concern> write_concern = {};
    std::optional<mongo::read_concern> read_concern = {};
    std::optional<mongo::read_preference> read_preference = {};
    std::optional<std::chrono::milliseconds> timeout = {};
};
static_assert(option_struct<defaults>);

}  // namespace holdfast::mongo
