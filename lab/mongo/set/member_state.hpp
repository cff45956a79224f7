#pragma once
#include <cstdint>
#include <string_view>

namespace holdfast::lab::mongo {

/// The state of a member, with the numbers that replSetGetStatus reports.
enum class member_state : std::int32_t {
    startup = 0,
    primary = 1,
    secondary = 2,
    recovering = 3,
    startup2 = 5,
    unknown = 6,
    arbiter = 7,
    down = 8,
    rollback = 9,
    removed = 10,
};

/// The `stateStr` of replSetGetStatus.
std::string_view name_of(member_state state) noexcept;

}  // namespace holdfast::lab::mongo
