#include "core/mongo/retry/eligibility.hpp"

#include "core/mongo/sdam/reply.hpp"

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

bool touches_many(bson::view command) noexcept
{
    const std::string_view name = command.empty() ? "" : (*command.begin()).key();
    const std::string_view list = name == "update"      ? "updates"
                                  : name == "delete"    ? "deletes"
                                  : name == "bulkWrite" ? "ops"
                                                        : "";
    const bson::element statements = list.empty() ? bson::element{} : command.find(list);
    if (statements.type() != bson::type::array)
        return false;
    return std::ranges::any_of(statements.as_array(), [](const bson::element& one) {
        if (one.type() != bson::type::document)
            return false;
        const bson::element multi = one.as_document().find("multi");
        const bson::element limit = one.as_document().find("limit");
        return (multi && is_true(multi)) || (limit && !is_true(limit));
    });
}

bool is_retryable_read(std::string_view command) noexcept
{
    constexpr std::array<std::string_view, 7> reads{
        "find",          "aggregate",       "distinct",   "count",
        "listDatabases", "listCollections", "listIndexes"};
    return std::ranges::find(reads, command) != reads.end();
}

}  // namespace holdfast::core::mongo
