#pragma once
#include "lab/mongo/data/disk.hpp"

#include <optional>
#include <string_view>

namespace holdfast::lab::mongo {

/// An entry of the oplog, taken apart. Views point into it.
struct oplog_entry {
    optime at = {};
    char op = 'n';
    std::string_view ns = {};
    bson::view o = {};
    bson::view o2 = {};
    std::optional<statement_id> by = {};
    executed_statement outcome = {};  // with `by`
};

/// Appends the entry of a change to `out`.
bson::view write_oplog_entry(bson::byte_buffer& out, const change& what, const optime& at,
                             bson::datetime wall, const bson::uuid* ui);
result<oplog_entry> read_oplog_entry(bson::view entry);

/// A collection's uuid that all members can work out by themselves, for a create that names none.
bson::uuid derived_uuid(bson::timestamp at, std::string_view ns) noexcept;
/// That of the collection which a command is about, or will make.
std::optional<bson::uuid> uuid_of_command(const change& what, bson::timestamp at,
                                          const catalog& data);

/// The spec in {createIndexes: name, ...spec}.
result<index_spec> read_command_index(bson::view command);

}  // namespace holdfast::lab::mongo
