#include "core/mongo/retry/eligibility.hpp"

#include <algorithm>
#include <array>

namespace holdfast::core::mongo {

bool supports_retryable_writes(server_type type, std::int32_t max_wire_version,
                               std::optional<std::int32_t> session_timeout_minutes) noexcept
{
    if (type == server_type::load_balancer)
        return true;  // always in front of servers that do
    return max_wire_version >= retryable_writes_since && session_timeout_minutes &&
           type != server_type::standalone;
}

bool takes_transaction_number(const write_command& command, std::int32_t max_wire_version) noexcept
{
    if (command.touches_many || !command.acknowledged)
        return false;
    constexpr std::array<std::string_view, 4> always{"insert", "update", "delete", "findAndModify"};
    if (command.name == "bulkWrite")
        return max_wire_version >= bulk_write_since;
    return std::ranges::find(always, command.name) != always.end();
}

bool is_retryable_read(std::string_view command) noexcept
{
    constexpr std::array<std::string_view, 7> reads{
        "find",          "aggregate",       "distinct",   "count",
        "listDatabases", "listCollections", "listIndexes"};
    return std::ranges::find(reads, command) != reads.end();
}

}  // namespace holdfast::core::mongo
