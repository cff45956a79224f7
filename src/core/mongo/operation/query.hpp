#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/command_outcome.hpp"
#include "core/mongo/operation/space.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/mongo/crud_options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Reads that open a cursor, and the commands and replies of cursors.
namespace holdfast::core::mongo {

/// How the batches after the first of a cursor are asked for.
struct cursor_rules {
    std::int32_t batch_size = 0;  // 0: as the server likes
    std::int64_t limit = 0;  // of all documents; 0: none. getMore asks for no more than are left
    std::optional<std::chrono::milliseconds> max_time = {};  // sent with each getMore
    bson::document comment = {};  // {comment: value}, or empty; sent from wire version 9 on
    bool tailable = false;
    bool missing_is_empty = false;  // NamespaceNotFound (26) of the first command is no error
    std::optional<bool> raw_data = {};
};

struct query {
    command first;
    cursor_rules rules;
};
result<query> find(const operation_space& space, bson::view filter,
                   const holdfast::mongo::find_options& options);
/// A pipeline that ends in $out or $merge writes its outcome to a collection, and gives no
/// documents.
bool writes_output(bson::array_view pipeline);
/// The same for a whole command: an aggregate with such a pipeline.
bool is_writing_aggregate(bson::view command);
/// Of a collection, or of a database if `space` has no collection.
result<query> aggregate(const operation_space& space, bson::array_view pipeline,
                        const holdfast::mongo::aggregate_options& options);

/// One batch of a cursor, as it lies in a reply.
struct cursor_batch {
    std::int64_t id = 0;  // 0: the server has no more
    std::string_view space = {};  // "database.collection"
    bson::array_view documents = {};  // each element is known to be a document
    std::int64_t count = 0;  // of them
};
/// From the reply to any command that opens a cursor ("firstBatch") or to a getMore ("nextBatch").
result<cursor_batch> read_batch(bson::view reply);
/// The error of a reply that is no `wanted`: "the server's reply is no cursor: it has no id".
error not_a(std::string_view wanted, std::string_view because);

/// `received` documents have come so far; `wire_version` is that of the server that has the cursor.
command get_more(std::string_view space, std::int64_t id, const cursor_rules& rules,
                 std::int64_t received, std::int32_t wire_version);
command kill_cursor(std::string_view space, std::int64_t id);

}  // namespace holdfast::core::mongo
