#include "lab/mongo/set/member_state.hpp"

namespace holdfast::lab::mongo {

std::string_view name_of(member_state state) noexcept
{
    switch (state) {
    case member_state::startup:
        return "STARTUP";
    case member_state::primary:
        return "PRIMARY";
    case member_state::secondary:
        return "SECONDARY";
    case member_state::recovering:
        return "RECOVERING";
    case member_state::startup2:
        return "STARTUP2";
    case member_state::unknown:
        return "UNKNOWN";
    case member_state::arbiter:
        return "ARBITER";
    case member_state::down:
        return "(not reachable/healthy)";
    case member_state::rollback:
        return "ROLLBACK";
    case member_state::removed:
        return "REMOVED";
    }
    return "UNKNOWN";
}

}  // namespace holdfast::lab::mongo
