#pragma once
#include "core/mongo/handshake/connection_description.hpp"
#include "core/mongo/operation/bulk.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/bulk.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// The writes of a list as commands carry them.
namespace holdfast::core::mongo {

enum class statement_kind : std::uint8_t { insert, update, remove };

constexpr statement_kind statement_of(holdfast::mongo::details::write_kind kind) noexcept
{
    using enum holdfast::mongo::details::write_kind;
    if (kind == insert)
        return statement_kind::insert;
    return kind == delete_one || kind == delete_many ? statement_kind::remove
                                                     : statement_kind::update;
}
constexpr bool is_multi(holdfast::mongo::details::write_kind kind) noexcept
{
    using enum holdfast::mongo::details::write_kind;
    return kind == update_many || kind == delete_many;
}

/// The documents without an _id get one.
void give_ids(holdfast::mongo::details::write_list& list, id_source& ids);

/// Nothing may be sent if one of the writes makes no sense.
result<void> check_writes(const holdfast::mongo::details::write_list& list);

/// A statement of an update or delete command: {q: ..., u: ...}, {q: ..., limit: 1}.
void write_statement(bson::builder& out, const holdfast::mongo::details::write_list& list,
                     const holdfast::mongo::details::kept_write& write);

/// The same for the bulkWrite command, whose first field is the place of its namespace: 0 until
/// client_bulk_plan::place() fills it in, since each batch numbers its namespaces anew.
void write_operation(bson::builder& out, const holdfast::mongo::details::write_list& list,
                     const holdfast::mongo::details::kept_write& write);

/// Where that place lies in an operation: behind its length, the type and "insert", "update" or
/// "delete", which are of one length.
inline constexpr std::size_t place_in_operation = 4 + 1 + 7;

/// Servers take statements that are a little larger than the documents inside.
inline constexpr std::size_t statement_allowance = std::size_t{16} * 1024;

/// How much one command takes on a connection; what most servers say, before one is there.
struct batch_limits {
    explicit batch_limits(const connection_description& of = {}) noexcept
        : bytes{static_cast<std::size_t>(std::max(of.max_message_size, 0))},
          writes{static_cast<std::size_t>(std::max(of.max_write_batch_size, 1))}
    {
    }
    friend bool operator==(const batch_limits&, const batch_limits&) = default;

    std::size_t bytes;
    std::size_t writes;
};

}  // namespace holdfast::core::mongo
